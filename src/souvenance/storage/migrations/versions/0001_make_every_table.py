"""Make every table.

This text never changes again: a later change of `storage/schema.py` is a revision of its own.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

WORD = sa.String(64, collation="C").with_variant(sa.String(64), "sqlite")


def upgrade() -> None:
    _make_owners_and_bots()
    _make_conversations()
    _make_turns_and_messages()
    _make_memories()
    _make_journal()
    _make_index()
    _make_epochs()
    _make_prompts()
    _make_due_work_and_notifications()
    _make_drafts()
    _make_erasures()


def _table(name: str, *columns: sa.Column[object], key: tuple[str, ...]) -> None:
    op.create_table(name, *columns, sa.PrimaryKeyConstraint(*key), sqlite_with_rowid=False)


def _make_owners_and_bots() -> None:
    _table(
        "owners",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("name", sa.LargeBinary(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        key=("owner_id",),
    )
    _table(
        "bots",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("bot_id", WORD, nullable=False),
        sa.Column("name", sa.LargeBinary(), nullable=False),
        sa.Column("name_hash", sa.LargeBinary(), nullable=False),
        sa.Column("preset", WORD, nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("system_prompt", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.String(256), nullable=True),
        sa.Column("enterprise", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        key=("owner_id", "bot_id"),
    )
    op.create_index("bots_by_name", "bots", ["owner_id", "name_hash"], unique=True)
    _table(
        "personas",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("persona_id", WORD, nullable=False),
        sa.Column("name", sa.LargeBinary(), nullable=False),
        sa.Column("description", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        key=("owner_id", "persona_id"),
    )
    _table(
        "levels",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("bot_id", WORD, nullable=False),
        sa.Column("level", WORD, nullable=False),
        key=("owner_id", "bot_id"),
    )


def _make_conversations() -> None:
    _table(
        "conversations",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("conversation_id", WORD, nullable=False),
        sa.Column("bot_id", WORD, nullable=True),
        sa.Column("bot_owner", WORD, nullable=True),
        sa.Column("members", sa.Text(), nullable=False),
        sa.Column("persona_id", WORD, nullable=True),
        sa.Column("model", sa.String(256), nullable=True),
        sa.Column("channel", WORD, nullable=False),
        sa.Column("challenge", sa.Boolean(), nullable=False),
        sa.Column("gateway", sa.Boolean(), nullable=False),
        sa.Column("anonymous", sa.Boolean(), nullable=False),
        sa.Column("temporary", sa.Boolean(), nullable=False),
        sa.Column("organisation_id", WORD, nullable=True),
        sa.Column("parent_id", WORD, nullable=True),
        sa.Column("fork_position", sa.Integer(), nullable=True),
        sa.Column("title", sa.LargeBinary(), nullable=False),
        sa.Column("time_zone", sa.String(64), nullable=False),
        sa.Column("window_start", sa.Integer(), nullable=False),
        sa.Column("last_position", sa.Integer(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("waiting", sa.Integer(), nullable=False),
        sa.Column("client", WORD, nullable=False),
        sa.Column("client_ref", sa.LargeBinary(), nullable=False),
        sa.Column("client_ref_hash", sa.LargeBinary(), nullable=True),
        sa.Column("history_hash", WORD, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        key=("owner_id", "conversation_id"),
    )
    op.create_index("conversations_by_bot", "conversations", ["owner_id", "bot_id", "conversation_id"])
    op.create_index(
        "conversations_by_client_ref", "conversations", ["owner_id", "client", "client_ref_hash"], unique=True
    )
    op.create_index(
        "conversations_by_history", "conversations", ["owner_id", "client", "history_hash", "conversation_id"]
    )


def _make_turns_and_messages() -> None:
    _table(
        "turns",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("turn_id", WORD, nullable=False),
        sa.Column("conversation_id", WORD, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("request_key", sa.LargeBinary(), nullable=False),
        sa.Column("request_key_hash", sa.LargeBinary(), nullable=True),
        sa.Column("request_hash", WORD, nullable=False),
        sa.Column("opened_hash", WORD, nullable=False),
        sa.Column("client", WORD, nullable=False),
        sa.Column("acknowledged", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        key=("owner_id", "turn_id"),
    )
    op.create_index("turns_by_opened_hash", "turns", ["owner_id", "client", "opened_hash"])
    op.create_index("turns_by_position", "turns", ["owner_id", "conversation_id", "position"], unique=True)
    op.create_index("turns_by_request_hash", "turns", ["owner_id", "client", "request_hash"])
    op.create_index("turns_by_request_key", "turns", ["owner_id", "conversation_id", "request_key_hash"], unique=True)
    _table(
        "messages",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("conversation_id", WORD, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("variant", sa.Integer(), nullable=False),
        sa.Column("message_id", WORD, nullable=False),
        sa.Column("turn_id", WORD, nullable=False),
        sa.Column("origin_id", WORD, nullable=False),
        sa.Column("chosen", sa.Boolean(), nullable=False),
        sa.Column("role", WORD, nullable=False),
        sa.Column("bot_id", WORD, nullable=True),
        sa.Column("state", WORD, nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("noted", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(256), nullable=False),
        sa.Column("time_zone", sa.String(64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        key=("owner_id", "conversation_id", "position", "part", "variant"),
    )
    op.create_index("messages_by_id", "messages", ["owner_id", "message_id"], unique=True)
    op.create_index("messages_by_origin", "messages", ["owner_id", "origin_id"])
    op.create_index("messages_by_turn", "messages", ["owner_id", "turn_id"])


def _make_memories() -> None:
    _table(
        "scopes",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("scope", WORD, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        key=("owner_id", "scope"),
    )
    _table(
        "memories",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("memory_id", WORD, nullable=False),
        sa.Column("scope", WORD, nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=True),
        sa.Column("subject", sa.LargeBinary(), nullable=False),
        sa.Column("identity_hash", sa.LargeBinary(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("standing", WORD, nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("origin", WORD, nullable=False),
        sa.Column("language", WORD, nullable=False),
        sa.Column("sensitive", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("updated_place", sa.BigInteger(), nullable=False),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        key=("owner_id", "memory_id"),
    )
    op.create_index("memories_by_change", "memories", ["owner_id", "scope", "changed"])
    op.create_index(
        "memories_by_creation", "memories", ["owner_id", "scope", "state", "standing", "created_at", "memory_id"]
    )
    op.create_index(
        "memories_equal",
        "memories",
        ["owner_id", "scope", "identity_hash"],
        sqlite_where=sa.text("state <> 'live'"),
        postgresql_where=sa.text("state <> 'live'"),
    )
    op.create_index(
        "memories_by_identity",
        "memories",
        ["owner_id", "scope", "identity_hash"],
        unique=True,
        sqlite_where=sa.text("state = 'live'"),
        postgresql_where=sa.text("state = 'live'"),
    )
    op.create_index("memories_by_place", "memories", ["owner_id", "scope", "state", "standing", "place"])
    op.create_index("memories_by_update", "memories", ["owner_id", "scope", "state", "standing", "updated_place"])


def _make_journal() -> None:
    _table(
        "operations",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("memory_id", WORD, nullable=False),
        sa.Column("scope", WORD, nullable=False),
        sa.Column("actor", WORD, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("revoked", sa.Boolean(), nullable=False),
        sa.Column("intent", WORD, nullable=False),
        sa.Column("moved_to", WORD, nullable=True),
        sa.Column("text", sa.LargeBinary(), nullable=True),
        sa.Column("key", sa.LargeBinary(), nullable=True),
        sa.Column("subject", sa.LargeBinary(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("origin", WORD, nullable=True),
        sa.Column("language", WORD, nullable=True),
        sa.Column("sensitive", sa.Boolean(), nullable=True),
        key=("owner_id", "place"),
    )
    op.create_index("operations_by_memory", "operations", ["owner_id", "memory_id", "place"])
    _table(
        "causes",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("message_origin", WORD, nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("said_origin", WORD, nullable=True),
        sa.Column("held_in", WORD, nullable=True),
        key=("owner_id", "message_origin", "place"),
    )
    op.create_index("causes_by_place", "causes", ["owner_id", "place"])
    op.create_index("causes_by_said", "causes", ["owner_id", "said_origin"])
    _table(
        "evidence",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("memory_id", WORD, nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("conversation_id", WORD, nullable=True),
        sa.Column("message_id", WORD, nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        key=("owner_id", "memory_id", "place", "number"),
    )
    op.create_index("evidence_by_message", "evidence", ["owner_id", "message_id"])
    op.create_index("evidence_by_conversation", "evidence", ["owner_id", "conversation_id", "memory_id"])


def _make_index() -> None:
    _table(
        "index_items",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("item", WORD, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("terms", sa.LargeBinary(), nullable=False),
        key=("owner_id", "kind", "item"),
    )
    op.create_index("index_items_by_number", "index_items", ["owner_id", "kind", "number"], unique=True)
    _table(
        "postings",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("term", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        key=("owner_id", "kind", "term", "number"),
    )
    _table(
        "index_totals",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("items", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        key=("owner_id", "kind"),
    )


def _make_epochs() -> None:
    _table(
        "epochs",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("conversation_id", WORD, nullable=False),
        sa.Column("speaker", WORD, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("places", sa.Text(), nullable=False),
        sa.Column("basis", sa.Text(), nullable=False),
        sa.Column("lines", sa.LargeBinary(), nullable=False),
        key=("owner_id", "conversation_id", "speaker"),
    )
    _table(
        "short_ids",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("conversation_id", WORD, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("memory_id", WORD, nullable=False),
        key=("owner_id", "conversation_id", "number"),
    )
    op.create_index("short_ids_by_memory", "short_ids", ["owner_id", "conversation_id", "memory_id"], unique=True)


def _make_prompts() -> None:
    _table(
        "prompt_parts",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("conversation_id", WORD, nullable=False),
        sa.Column("part_id", sa.LargeBinary(), nullable=False),
        sa.Column("memory_id", WORD, nullable=True),
        sa.Column("message_id", WORD, nullable=True),
        sa.Column("data", sa.LargeBinary(), nullable=True),
        key=("owner_id", "conversation_id", "part_id"),
    )
    op.create_index("prompt_parts_by_memory", "prompt_parts", ["owner_id", "memory_id"])
    op.create_index("prompt_parts_by_message", "prompt_parts", ["owner_id", "message_id"])
    _table(
        "prompts",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("prompt_id", WORD, nullable=False),
        sa.Column("conversation_id", WORD, nullable=False),
        sa.Column("turn_id", WORD, nullable=False),
        sa.Column("message_id", WORD, nullable=True),
        sa.Column("model", sa.String(256), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("parts", sa.LargeBinary(), nullable=False),
        sa.Column("layers", sa.Text(), nullable=False),
        sa.Column("left_out", sa.Text(), nullable=False),
        sa.Column("estimated_in", sa.Integer(), nullable=False),
        sa.Column("estimated_out", sa.Integer(), nullable=False),
        sa.Column("reported_in", sa.Integer(), nullable=True),
        sa.Column("reported_out", sa.Integer(), nullable=True),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        key=("owner_id", "prompt_id"),
    )
    op.create_index("prompts_by_conversation", "prompts", ["owner_id", "conversation_id", "prompt_id"])
    op.create_index("prompts_by_message", "prompts", ["owner_id", "message_id"])
    op.create_index("prompts_by_time", "prompts", ["owner_id", "at"])
    _table(
        "calibrations",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("model", sa.String(256), nullable=False),
        sa.Column("replies", sa.Integer(), nullable=False),
        sa.Column("estimated", sa.Float(), nullable=False),
        sa.Column("reported", sa.Float(), nullable=False),
        key=("owner_id", "model"),
    )


def _make_due_work_and_notifications() -> None:
    _table(
        "notifications",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("notification_id", WORD, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("read_at", sa.BigInteger(), nullable=True),
        key=("owner_id", "notification_id"),
    )
    _table(
        "due",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("subject", WORD, nullable=False),
        sa.Column("conversation_id", WORD, nullable=True),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("ready_at", sa.BigInteger(), nullable=True),
        sa.Column("worker", WORD, nullable=True),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("again", sa.Boolean(), nullable=False),
        key=("owner_id", "kind", "subject"),
    )
    op.create_index("due_in_order", "due", ["owner_id", "conversation_id", "state", "due_at"])
    op.create_index("due_next", "due", ["rank", "ready_at"])


def _make_drafts() -> None:
    _table(
        "drafts",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("draft_id", WORD, nullable=False),
        sa.Column("batch", WORD, nullable=False),
        sa.Column("scope", WORD, nullable=False),
        sa.Column("origin", WORD, nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=True),
        sa.Column("key", sa.LargeBinary(), nullable=True),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        key=("owner_id", "draft_id"),
    )
    op.create_index("drafts_by_batch", "drafts", ["owner_id", "batch", "draft_id"])
    op.create_index("drafts_by_end", "drafts", ["until"])


def _make_erasures() -> None:
    _table(
        "erasures",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("erasure_id", WORD, nullable=False),
        sa.Column("memory_ids", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        key=("owner_id", "erasure_id"),
    )
    op.create_index("erasures_by_end", "erasures", ["until"])
    _table(
        "tombstones",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("text_hash", sa.LargeBinary(), nullable=False),
        sa.Column("scope", WORD, nullable=False),
        sa.Column("subject_hash", sa.LargeBinary(), nullable=False),
        sa.Column("erasure_id", WORD, nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.Column("erased_at", sa.BigInteger(), nullable=False),
        key=("owner_id", "text_hash", "scope", "subject_hash", "erasure_id"),
    )
    op.create_index("tombstones_by_erasure", "tombstones", ["owner_id", "erasure_id"])

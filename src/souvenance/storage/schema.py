"""The schema. Every table's primary key starts with `owner_id`; there is no sequence, trigger or cross-owner key.

Migrations make it (`storage/migrations`); a test compares what they make with this.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, LargeBinary, SmallInteger, String, Text, text

from souvenance.storage.columns import Content, ContentBytes
from souvenance.storage.declare import WORD, flag, metadata, moment, number, owner, table, whole, word
from souvenance.storage.summary_schema import nodes, rebuilds, summary_rules
from souvenance.storage.work_schema import due, spending

__all__ = [
    "due",
    "metadata",
    "nodes",
    "rebuilds",
    "spending",
    "summary_rules",
]  # its own tables are imported by their names

owners = table(
    "owners",
    owner(),
    word("kind"),
    Column("name", Content, nullable=False),
    Column("secret", ContentBytes, nullable=False),
    whole("place", kind=BigInteger),
    moment("created_at"),
)

bots = table(
    "bots",
    owner(),
    word("bot_id", key=True),
    Column("name", Content, nullable=False),
    Column("name_hash", LargeBinary, nullable=False),
    word("preset"),
    Column("settings", Text, nullable=False),
    Column("system_prompt", Content, nullable=False),
    Column("model", String(256), nullable=True),
    flag("enterprise"),
    moment("created_at"),
    moment("updated_at"),
    whole("version", 1),
    Index("bots_by_name", "owner_id", "name_hash", unique=True),
)

personas = table(
    "personas",
    owner(),
    word("persona_id", key=True),
    Column("name", Content, nullable=False),
    Column("description", Content, nullable=False),
    moment("created_at"),
    moment("updated_at"),
    whole("version", 1),
)

levels = table("levels", owner(), word("bot_id", key=True), word("level"))

conversations = table(
    "conversations",
    owner(),
    word("conversation_id", key=True),
    word("bot_id", nullable=True),
    word("bot_owner", nullable=True),
    Column("members", Text, nullable=False, default="[]"),
    word("persona_id", nullable=True),
    Column("model", String(256), nullable=True),
    word("channel"),
    flag("challenge"),
    flag("gateway"),
    flag("anonymous"),
    flag("temporary"),
    word("organisation_id", nullable=True),
    word("parent_id", nullable=True),
    Column("fork_position", Integer, nullable=True),
    Column("title", Content, nullable=False),
    Column("time_zone", String(64), nullable=False, default="UTC"),
    whole("window_start"),
    whole("last_position", -1),
    whole("messages"),
    whole("waiting"),
    whole("summarised_to", -1),
    whole("deepened_to", -1),
    word("client"),
    Column("client_ref", Content, nullable=False),
    Column("client_ref_hash", LargeBinary, nullable=True),
    word("history_hash"),
    moment("created_at"),
    moment("updated_at"),
    whole("version", 1),
    Index("conversations_by_client_ref", "owner_id", "client", "client_ref_hash", unique=True),
    Index("conversations_by_history", "owner_id", "client", "history_hash", "conversation_id"),
    Index("conversations_by_bot", "owner_id", "bot_id", "conversation_id"),
)

turns = table(
    "turns",
    owner(),
    word("turn_id", key=True),
    word("conversation_id"),
    whole("position"),
    word("state"),
    whole("attempt", 1),
    Column("request_key", Content, nullable=False),
    Column("request_key_hash", LargeBinary, nullable=True),
    word("request_hash"),
    word("opened_hash"),
    word("client"),
    flag("acknowledged"),
    moment("created_at"),
    Index("turns_by_position", "owner_id", "conversation_id", "position", unique=True),
    Index("turns_by_request_key", "owner_id", "conversation_id", "request_key_hash", unique=True),
    Index("turns_by_request_hash", "owner_id", "client", "request_hash"),
    Index("turns_by_opened_hash", "owner_id", "client", "opened_hash"),
)

messages = table(
    "messages",
    owner(),
    word("conversation_id", key=True),
    Column("position", Integer, primary_key=True),
    Column("part", Integer, primary_key=True),
    Column("variant", Integer, primary_key=True),
    word("message_id"),
    word("turn_id"),
    word("origin_id"),
    flag("chosen"),
    word("role"),
    word("bot_id", nullable=True),
    word("state"),
    Column("text", Content, nullable=False),
    whole("tokens"),
    whole("noted"),
    Column("model", String(256), nullable=False, default=""),
    Column("time_zone", String(64), nullable=False, default="UTC"),
    moment("created_at"),
    Index("messages_by_id", "owner_id", "message_id", unique=True),
    Index("messages_by_origin", "owner_id", "origin_id"),
    Index("messages_by_turn", "owner_id", "turn_id"),
)

scopes = table(
    "scopes",
    owner(),
    Column("scope", WORD, primary_key=True),
    whole("version"),
    whole("epoch"),
)

memories = table(
    "memories",
    owner(),
    word("memory_id", key=True),
    word("scope"),
    word("state"),
    Column("text", Content, nullable=False),
    Column("key", Content, nullable=True),
    Column("subject", Content, nullable=False),
    Column("identity_hash", LargeBinary, nullable=False),
    flag("pinned"),
    flag("archived"),
    word("standing"),
    Column("confidence", Float, nullable=False),
    word("origin"),
    word("language"),
    flag("sensitive"),
    moment("created_at"),
    moment("updated_at"),
    whole("place", kind=BigInteger),
    whole("updated_place", kind=BigInteger),
    whole("changed", kind=BigInteger),
    whole("version", 1),
    Index(
        "memories_by_identity",
        "owner_id",
        "scope",
        "identity_hash",
        unique=True,
        sqlite_where=text("state = 'live'"),
        postgresql_where=text("state = 'live'"),
    ),
    Index(
        "memories_equal",
        "owner_id",
        "scope",
        "identity_hash",
        sqlite_where=text("state <> 'live'"),
        postgresql_where=text("state <> 'live'"),
    ),
    Index("memories_by_update", "owner_id", "scope", "state", "standing", "updated_place"),
    Index("memories_by_creation", "owner_id", "scope", "state", "standing", "created_at", "memory_id"),
    Index("memories_by_place", "owner_id", "scope", "state", "standing", "place"),
    Index("memories_by_change", "owner_id", "scope", "changed"),
)
"""`identity_hash`: keyed hash of `key` for a keyed one, of folded text and subject for the others; one live row
for each (M10).
`standing` says how one counts for room (M2): `pinned`, else `archived` by hand, else `free`."""

operations = table(
    "operations",
    owner(),
    Column("place", BigInteger, primary_key=True),
    word("memory_id"),
    word("scope"),
    word("actor"),
    moment("at"),
    flag("revoked"),
    word("intent"),
    word("moved_to", nullable=True),
    Column("text", Content, nullable=True),
    Column("key", Content, nullable=True),
    Column("subject", Content, nullable=True),
    Column("confidence", Float, nullable=True),
    word("origin", nullable=True),
    word("language", nullable=True),
    Column("sensitive", Boolean, nullable=True),
    Index("operations_by_memory", "owner_id", "memory_id", "place"),
)
"""From `text` on, what an intent that says something says, all or nothing; `moved_to` is a move's scope."""

evidence = table(
    "evidence",
    owner(),
    word("memory_id", key=True),
    Column("place", BigInteger, primary_key=True),
    Column("number", Integer, primary_key=True),
    word("conversation_id", nullable=True),
    word("message_id", nullable=True),
    moment("at"),
    Index("evidence_by_message", "owner_id", "message_id"),
    Index("evidence_by_conversation", "owner_id", "conversation_id", "memory_id"),
)
"""The sources that the operation at `place` brought; they are those of the memory while it stands."""

causes = table(
    "causes",
    owner(),
    word("message_origin", key=True),
    Column("place", BigInteger, primary_key=True),
    word("said_origin", nullable=True),
    word("held_in", nullable=True),
    Index("causes_by_place", "owner_id", "place"),
    Index("causes_by_said", "owner_id", "said_origin"),
)
"""`domain.journal.Anchor`: the message, the user message that it answered, the one conversation that counts."""

index_items = table(
    "index_items",
    owner(),
    number("kind", SmallInteger),
    word("item", key=True),
    whole("number"),
    Column("terms", LargeBinary, nullable=False),
    Index("index_items_by_number", "owner_id", "kind", "number", unique=True),
)
"""`terms`: the hashes of the item's terms, 8 bytes each, repeats too, in the order of the hashes."""

postings = table(
    "postings",
    owner(),
    number("kind", SmallInteger),
    number("term", BigInteger),
    number("number", Integer),
)
"""Which items each term stands in: by far the most rows of all, so nothing but the key."""

index_totals = table(
    "index_totals",
    owner(),
    number("kind", SmallInteger),
    whole("last"),
    whole("items", kind=BigInteger),
    whole("length", kind=BigInteger),
)
"""`last`: the number that an item was given last."""

epochs = table(
    "epochs",
    owner(),
    word("conversation_id", key=True),
    word("speaker", key=True),
    whole("number"),
    Column("places", Text, nullable=False),
    Column("basis", Text, nullable=False),
    Column("lines", Content, nullable=False),
)
"""`speaker` is the bot's id, `-` for a bare model. `places`: by owner, of its own memories and an organisation's."""

short_ids = table(
    "short_ids",
    owner(),
    word("conversation_id", key=True),
    Column("number", Integer, primary_key=True),
    word("memory_id"),
    Index("short_ids_by_memory", "owner_id", "conversation_id", "memory_id", unique=True),
)

prompt_parts = table(
    "prompt_parts",
    owner(),
    word("conversation_id", key=True),
    Column("part_id", LargeBinary, primary_key=True),
    word("memory_id", nullable=True),
    word("message_id", nullable=True),
    word("node_id", nullable=True),
    Column("data", ContentBytes, nullable=True),
    Index("prompt_parts_by_memory", "owner_id", "memory_id"),
    Index("prompt_parts_by_message", "owner_id", "message_id"),
    Index("prompt_parts_by_node", "owner_id", "node_id"),
)
"""Shared by the prompts of one conversation. `data` is NULL once it was erased."""

prompts = table(
    "prompts",
    owner(),
    word("prompt_id", key=True),
    word("conversation_id"),
    word("turn_id"),
    word("message_id", nullable=True),
    Column("model", String(256), nullable=False),
    moment("at"),
    Column("parts", LargeBinary, nullable=False),
    Column("layers", Text, nullable=False),
    Column("left_out", Text, nullable=False),
    whole("estimated_in"),
    whole("estimated_out"),
    Column("reported_in", Integer, nullable=True),
    Column("reported_out", Integer, nullable=True),
    whole("round"),
    whole("epoch"),
    Index("prompts_by_message", "owner_id", "message_id"),
    Index("prompts_by_conversation", "owner_id", "conversation_id", "prompt_id"),
    Index("prompts_by_time", "owner_id", "at"),
)
"""`parts` is the ids of its parts, 12 bytes each, one after another."""

calibrations = table(
    "calibrations",
    owner(),
    Column("model", String(256), primary_key=True),
    whole("replies"),
    Column("estimated", Float, nullable=False),
    Column("reported", Float, nullable=False),
)

notifications = table(
    "notifications",
    owner(),
    word("notification_id", key=True),
    word("kind"),
    Column("about", Text, nullable=False),
    moment("created_at"),
    moment("read_at", nullable=True),
)

drafts = table(
    "drafts",
    owner(),
    word("draft_id", key=True),
    word("batch"),
    word("scope"),
    word("origin"),
    Column("text", Content, nullable=True),
    Column("key", Content, nullable=True),
    flag("pinned"),
    Column("sources", Text, nullable=False, default="[]"),
    moment("created_at"),
    moment("until"),
    Index("drafts_by_batch", "owner_id", "batch", "draft_id"),
    Index("drafts_by_end", "until"),
)
"""Memories to be reviewed (V10): in no prompt, search or count. `batch` names those of one drafting, `sources` the ids
of the messages that they were drawn from; the text of an expired one is NULL once it is purged."""

erasures = table(
    "erasures",
    owner(),
    word("erasure_id", key=True),
    Column("memory_ids", Text, nullable=False),
    moment("at"),
    moment("until"),
    Index("erasures_by_end", "until"),
)

tombstones = table(
    "tombstones",
    owner(),
    Column("text_hash", LargeBinary, primary_key=True),
    word("scope", key=True),
    Column("subject_hash", LargeBinary, primary_key=True),
    word("erasure_id", key=True),
    Column("sources", Text, nullable=False),
    moment("erased_at"),
    Index("tombstones_by_erasure", "owner_id", "erasure_id"),
)

"""Add the conversation summary, its rebuilds, and what background work spends (S2–S7, C4)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

WORD = sa.String(64, collation="C").with_variant(sa.String(64), "sqlite")


def upgrade() -> None:
    _widen_conversations_and_prompts()
    _make_nodes()
    _make_rules()
    _make_rebuilds()
    _make_spending()


def _widen_conversations_and_prompts() -> None:
    """No turn is summarised yet, and none was read for deeper memory."""
    for name in ("summarised_to", "deepened_to"):
        op.add_column("conversations", sa.Column(name, sa.Integer(), nullable=False, server_default="-1"))
    op.add_column("prompt_parts", sa.Column("node_id", WORD, nullable=True))
    op.create_index("prompt_parts_by_node", "prompt_parts", ["owner_id", "node_id"])


def _table(name: str, *columns: sa.Column[object], key: tuple[str, ...]) -> None:
    op.create_table(name, *columns, sa.PrimaryKeyConstraint(*key), sqlite_with_rowid=False)


def _make_nodes() -> None:
    _table(
        "nodes",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("conversation_id", WORD, nullable=False),
        sa.Column("node_id", WORD, nullable=False),
        sa.Column("tier", WORD, nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("level", WORD, nullable=False),
        sa.Column("model", sa.String(256), nullable=False),
        sa.Column("prompt_version", WORD, nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("children", sa.Text(), nullable=False),
        sa.Column("items", sa.LargeBinary(), nullable=False),
        sa.Column("edited", sa.Boolean(), nullable=False),
        sa.Column("stale", sa.Text(), nullable=False),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.Column("rebuild_id", WORD, nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        key=("owner_id", "conversation_id", "node_id"),
    )
    op.create_index("nodes_by_id", "nodes", ["owner_id", "node_id"], unique=True)
    op.create_index("nodes_live", "nodes", ["owner_id", "conversation_id", "live"])
    op.create_index("nodes_by_turn", "nodes", ["owner_id", "conversation_id", "last", "first"])


def _make_rules() -> None:
    _table(
        "summary_rules",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("conversation_id", WORD, nullable=False),
        sa.Column("rule_id", WORD, nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.Column("text_hash", sa.LargeBinary(), nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.Column("found_by", WORD, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("closed_by", sa.Text(), nullable=False),
        sa.Column("retired", sa.Boolean(), nullable=False),
        key=("owner_id", "conversation_id", "rule_id"),
    )
    op.create_index("summary_rules_by_text", "summary_rules", ["owner_id", "conversation_id", "text_hash"], unique=True)


def _make_rebuilds() -> None:
    _table(
        "rebuilds",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("rebuild_id", WORD, nullable=False),
        sa.Column("conversation_id", WORD, nullable=False),
        sa.Column("level", WORD, nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("up_to", sa.Integer(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("steps_estimated", sa.Integer(), nullable=False),
        sa.Column("estimated_in", sa.BigInteger(), nullable=False),
        sa.Column("estimated_out", sa.BigInteger(), nullable=False),
        sa.Column("spent_in", sa.BigInteger(), nullable=False),
        sa.Column("spent_out", sa.BigInteger(), nullable=False),
        sa.Column("edited", sa.Integer(), nullable=False),
        sa.Column("reason", WORD, nullable=False),
        sa.Column("begun_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        key=("owner_id", "rebuild_id"),
    )
    op.create_index("rebuilds_by_conversation", "rebuilds", ["owner_id", "conversation_id", "rebuild_id"])


def _make_spending() -> None:
    _table(
        "spending",
        sa.Column("owner_id", WORD, nullable=False),
        sa.Column("hour", sa.BigInteger(), nullable=False),
        sa.Column("purpose", WORD, nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.BigInteger(), nullable=False),
        sa.Column("tokens_out", sa.BigInteger(), nullable=False),
        key=("owner_id", "hour", "purpose"),
    )

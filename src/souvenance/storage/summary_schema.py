"""The tables of the conversation summary; `schema.py` has them with the others."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, LargeBinary, String, Text

from souvenance.storage.columns import Content
from souvenance.storage.declare import flag, moment, owner, table, whole, word

nodes = table(
    "nodes",
    owner(),
    word("conversation_id", key=True),
    word("node_id", key=True),
    word("tier"),
    whole("first"),
    whole("last"),
    word("level"),
    Column("model", String(256), nullable=False),
    word("prompt_version"),
    moment("made_at"),
    whole("tokens"),
    Column("children", Text, nullable=False),
    Column("items", Content, nullable=False),
    flag("edited"),
    Column("stale", Text, nullable=False),
    flag("live"),
    word("rebuild_id", nullable=True),
    whole("version", 1),
    Index("nodes_by_id", "owner_id", "node_id", unique=True),
    Index("nodes_live", "owner_id", "conversation_id", "live"),
    Index("nodes_by_turn", "owner_id", "conversation_id", "last", "first"),
)
"""Summary nodes, `domain.summary.Node`. `items` and `stale` are JSON; those of a rebuild are live only once it is
swapped in.
"""

summary_rules = table(
    "summary_rules",
    owner(),
    word("conversation_id", key=True),
    word("rule_id", key=True),
    Column("text", Content, nullable=False),
    Column("text_hash", LargeBinary, nullable=False),
    Column("sources", Text, nullable=False),
    word("found_by"),
    whole("place"),
    Column("closed_by", Text, nullable=False, default=""),
    flag("retired"),
    Index("summary_rules_by_text", "owner_id", "conversation_id", "text_hash", unique=True),
)
"""`text_hash`: keyed hash of the text, white space folded: the same rule again adds a source (S4)."""

rebuilds = table(
    "rebuilds",
    owner(),
    word("rebuild_id", key=True),
    word("conversation_id"),
    word("level"),
    word("state"),
    whole("up_to"),
    whole("steps"),
    whole("steps_estimated"),
    whole("estimated_in", kind=BigInteger),
    whole("estimated_out", kind=BigInteger),
    whole("spent_in", kind=BigInteger),
    whole("spent_out", kind=BigInteger),
    whole("edited"),
    word("reason"),
    moment("begun_at"),
    moment("ended_at", nullable=True),
    Index("rebuilds_by_conversation", "owner_id", "conversation_id", "rebuild_id"),
)

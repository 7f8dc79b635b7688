"""The schema. Every table's primary key starts with `owner_id`; there is no sequence, trigger or cross-owner key.

Migrations make it (`storage/migrations`); a test compares what they make with this.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    text,
)
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from souvenance.storage.columns import Content, ContentBytes, Moment

metadata = MetaData()

WORD = String(64, collation="C").with_variant(String(64), "sqlite")
"""Ids and stable words: compared by their bytes on both databases."""


def _id(name: str, *, key: bool = False, nullable: bool = False) -> Column[str]:
    return Column(name, WORD, primary_key=key, nullable=nullable)


def _owner() -> Column[str]:
    return _id("owner_id", key=True)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False, default=False)


def _at(name: str, *, nullable: bool = False) -> Column[object]:
    return Column(name, Moment, nullable=nullable)


def _whole(name: str, default: int = 0, kind: type[TypeEngine[int]] = Integer) -> Column[int]:
    return Column(name, kind, nullable=False, default=default)


def _number(name: str, kind: type[TypeEngine[int]]) -> Column[int]:
    """A number that is part of the key, given by who writes the row."""
    return Column(name, kind, primary_key=True, autoincrement=False)


def _table(name: str, *parts: SchemaItem, rowid: bool = False) -> Table:
    return Table(name, metadata, *parts, sqlite_with_rowid=rowid)


owners = _table(
    "owners",
    _owner(),
    _id("kind"),
    Column("name", Content, nullable=False),
    Column("secret", ContentBytes, nullable=False),
    _whole("place", kind=BigInteger),
    _at("created_at"),
)

bots = _table(
    "bots",
    _owner(),
    _id("bot_id", key=True),
    Column("name", Content, nullable=False),
    Column("name_hash", LargeBinary, nullable=False),
    _id("preset"),
    Column("settings", Text, nullable=False),
    Column("system_prompt", Content, nullable=False),
    Column("model", String(256), nullable=True),
    _flag("enterprise"),
    _at("created_at"),
    _at("updated_at"),
    _whole("version", 1),
    Index("bots_by_name", "owner_id", "name_hash", unique=True),
)

personas = _table(
    "personas",
    _owner(),
    _id("persona_id", key=True),
    Column("name", Content, nullable=False),
    Column("description", Content, nullable=False),
    _at("created_at"),
    _at("updated_at"),
    _whole("version", 1),
)

levels = _table("levels", _owner(), _id("bot_id", key=True), _id("level"))

conversations = _table(
    "conversations",
    _owner(),
    _id("conversation_id", key=True),
    _id("bot_id", nullable=True),
    _id("bot_owner", nullable=True),
    Column("members", Text, nullable=False, default="[]"),
    _id("persona_id", nullable=True),
    Column("model", String(256), nullable=True),
    _id("channel"),
    _flag("challenge"),
    _flag("gateway"),
    _flag("anonymous"),
    _flag("temporary"),
    _id("organisation_id", nullable=True),
    _id("parent_id", nullable=True),
    Column("fork_position", Integer, nullable=True),
    Column("title", Content, nullable=False),
    Column("time_zone", String(64), nullable=False, default="UTC"),
    _whole("window_start"),
    _whole("last_position", -1),
    _whole("messages"),
    _whole("waiting"),
    _id("client"),
    Column("client_ref", Content, nullable=False),
    Column("client_ref_hash", LargeBinary, nullable=True),
    _id("history_hash"),
    _at("created_at"),
    _at("updated_at"),
    _whole("version", 1),
    Index("conversations_by_client_ref", "owner_id", "client", "client_ref_hash", unique=True),
    Index("conversations_by_history", "owner_id", "client", "history_hash", "conversation_id"),
    Index("conversations_by_bot", "owner_id", "bot_id", "conversation_id"),
)

turns = _table(
    "turns",
    _owner(),
    _id("turn_id", key=True),
    _id("conversation_id"),
    _whole("position"),
    _id("state"),
    _whole("attempt", 1),
    Column("request_key", Content, nullable=False),
    Column("request_key_hash", LargeBinary, nullable=True),
    _id("request_hash"),
    _id("opened_hash"),
    _id("client"),
    _flag("acknowledged"),
    _at("created_at"),
    Index("turns_by_position", "owner_id", "conversation_id", "position", unique=True),
    Index("turns_by_request_key", "owner_id", "conversation_id", "request_key_hash", unique=True),
    Index("turns_by_request_hash", "owner_id", "client", "request_hash"),
    Index("turns_by_opened_hash", "owner_id", "client", "opened_hash"),
)

messages = _table(
    "messages",
    _owner(),
    _id("conversation_id", key=True),
    Column("position", Integer, primary_key=True),
    Column("part", Integer, primary_key=True),
    Column("variant", Integer, primary_key=True),
    _id("message_id"),
    _id("turn_id"),
    _id("origin_id"),
    _flag("chosen"),
    _id("role"),
    _id("bot_id", nullable=True),
    _id("state"),
    Column("text", Content, nullable=False),
    _whole("tokens"),
    _whole("noted"),
    Column("model", String(256), nullable=False, default=""),
    Column("time_zone", String(64), nullable=False, default="UTC"),
    _at("created_at"),
    Index("messages_by_id", "owner_id", "message_id", unique=True),
    Index("messages_by_origin", "owner_id", "origin_id"),
    Index("messages_by_turn", "owner_id", "turn_id"),
)

scopes = _table(
    "scopes",
    _owner(),
    Column("scope", WORD, primary_key=True),
    _whole("version"),
    _whole("epoch"),
)

memories = _table(
    "memories",
    _owner(),
    _id("memory_id", key=True),
    _id("scope"),
    _id("state"),
    Column("text", Content, nullable=False),
    Column("key", Content, nullable=True),
    Column("subject", Content, nullable=False),
    Column("identity_hash", LargeBinary, nullable=False),
    _flag("pinned"),
    _flag("archived"),
    _id("standing"),
    Column("confidence", Float, nullable=False),
    _id("origin"),
    _id("language"),
    _flag("sensitive"),
    _at("created_at"),
    _at("updated_at"),
    _whole("place", kind=BigInteger),
    _whole("updated_place", kind=BigInteger),
    _whole("changed", kind=BigInteger),
    _whole("version", 1),
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
"""`identity_hash`: keyed hash of `key` for a keyed one, of the folded text for the others; one live row for each (M10).
`standing` says how one counts for room (M2): `pinned`, else `archived` by hand, else `free`."""

operations = _table(
    "operations",
    _owner(),
    Column("place", BigInteger, primary_key=True),
    _id("memory_id"),
    _id("scope"),
    _id("actor"),
    _id("intent"),
    Column("content", Content, nullable=True),
    _flag("revoked"),
    _at("at"),
    Index("operations_by_memory", "owner_id", "memory_id", "place"),
)

evidence = _table(
    "evidence",
    _owner(),
    _id("memory_id", key=True),
    Column("place", BigInteger, primary_key=True),
    Column("number", Integer, primary_key=True),
    _id("conversation_id", nullable=True),
    _id("message_id", nullable=True),
    _at("at"),
    Index("evidence_by_message", "owner_id", "message_id"),
    Index("evidence_by_conversation", "owner_id", "conversation_id", "memory_id"),
)
"""The sources that the operation at `place` brought; they are those of the memory while it stands."""

causes = _table(
    "causes",
    _owner(),
    _id("message_origin", key=True),
    Column("place", BigInteger, primary_key=True),
    Index("causes_by_place", "owner_id", "place"),
)

index_items = _table(
    "index_items",
    _owner(),
    _number("kind", SmallInteger),
    _id("item", key=True),
    _whole("number"),
    Column("terms", LargeBinary, nullable=False),
    Index("index_items_by_number", "owner_id", "kind", "number", unique=True),
)
"""`terms`: the hashes of the item's terms, 8 bytes each, repeats too, in the order of the hashes."""

postings = _table(
    "postings",
    _owner(),
    _number("kind", SmallInteger),
    _number("term", BigInteger),
    _number("number", Integer),
)
"""Which items each term stands in: by far the most rows of all, so nothing but the key."""

index_totals = _table(
    "index_totals",
    _owner(),
    _number("kind", SmallInteger),
    _whole("last"),
    _whole("items", kind=BigInteger),
    _whole("length", kind=BigInteger),
)
"""`last`: the number that an item was given last."""

epochs = _table(
    "epochs",
    _owner(),
    _id("conversation_id", key=True),
    _id("speaker", key=True),
    _whole("number"),
    Column("places", Text, nullable=False),
    Column("basis", Text, nullable=False),
    Column("lines", Content, nullable=False),
)
"""`speaker` is the bot's id, `-` for a bare model. `places`: by owner, of its own memories and an organisation's."""

short_ids = _table(
    "short_ids",
    _owner(),
    _id("conversation_id", key=True),
    Column("number", Integer, primary_key=True),
    _id("memory_id"),
    Index("short_ids_by_memory", "owner_id", "conversation_id", "memory_id", unique=True),
)

prompt_parts = _table(
    "prompt_parts",
    _owner(),
    _id("conversation_id", key=True),
    Column("part_id", LargeBinary, primary_key=True),
    _id("memory_id", nullable=True),
    _id("message_id", nullable=True),
    Column("data", ContentBytes, nullable=True),
    Index("prompt_parts_by_memory", "owner_id", "memory_id"),
    Index("prompt_parts_by_message", "owner_id", "message_id"),
)
"""Shared by the prompts of one conversation. `data` is NULL once it was erased."""

prompts = _table(
    "prompts",
    _owner(),
    _id("prompt_id", key=True),
    _id("conversation_id"),
    _id("turn_id"),
    _id("message_id", nullable=True),
    Column("model", String(256), nullable=False),
    _at("at"),
    Column("parts", LargeBinary, nullable=False),
    Column("layers", Text, nullable=False),
    Column("left_out", Text, nullable=False),
    _whole("estimated_in"),
    _whole("estimated_out"),
    Column("reported_in", Integer, nullable=True),
    Column("reported_out", Integer, nullable=True),
    _whole("round"),
    _whole("epoch"),
    Index("prompts_by_message", "owner_id", "message_id"),
    Index("prompts_by_conversation", "owner_id", "conversation_id", "prompt_id"),
    Index("prompts_by_time", "owner_id", "at"),
)
"""`parts` is the ids of its parts, 12 bytes each, one after another."""

calibrations = _table(
    "calibrations",
    _owner(),
    Column("model", String(256), primary_key=True),
    _whole("replies"),
    Column("estimated", Float, nullable=False),
    Column("reported", Float, nullable=False),
)

notifications = _table(
    "notifications",
    _owner(),
    _id("notification_id", key=True),
    _id("kind"),
    Column("about", Text, nullable=False),
    _at("created_at"),
    _at("read_at", nullable=True),
)

due = _table(
    "due",
    _owner(),
    _id("kind", key=True),
    Column("subject", WORD, primary_key=True),
    _id("conversation_id", nullable=True),
    _at("due_at"),
    _whole("rank"),
    _id("state"),
    _at("ready_at", nullable=True),
    _id("worker", nullable=True),
    _whole("fence", kind=BigInteger),
    _whole("attempts"),
    Column("reason", Text, nullable=False, default=""),
    _flag("again"),
    Index("due_next", "rank", "ready_at"),
    Index("due_in_order", "owner_id", "conversation_id", "state", "due_at"),
)
"""`ready_at`: when it may be claimed (its `due_at`; while leased, the end of the lease; NULL while parked). `due_next`
serves the claim, which alone looks across owners. `again`: became due anew while it was leased."""

erasures = _table(
    "erasures",
    _owner(),
    _id("erasure_id", key=True),
    Column("memory_ids", Text, nullable=False),
    _at("at"),
    _at("until"),
    Index("erasures_by_end", "until"),
)

tombstones = _table(
    "tombstones",
    _owner(),
    _id("scope", key=True),
    Column("text_hash", LargeBinary, primary_key=True),
    Column("subject_hash", LargeBinary, primary_key=True),
    Column("sources", Text, nullable=False),
    _at("erased_at"),
)

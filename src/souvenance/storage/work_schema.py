"""The tables of background work: what is due, and what was spent on it; `schema.py` has them with the others."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Text

from souvenance.storage.declare import WORD, flag, moment, number, owner, table, whole, word

due = table(
    "due",
    owner(),
    word("kind", key=True),
    Column("subject", WORD, primary_key=True),
    word("conversation_id", nullable=True),
    moment("due_at"),
    whole("rank"),
    word("state"),
    moment("ready_at", nullable=True),
    word("worker", nullable=True),
    whole("fence", kind=BigInteger),
    whole("attempts"),
    Column("reason", Text, nullable=False, default=""),
    flag("again"),
    Index("due_next", "rank", "ready_at"),
    Index("due_in_order", "owner_id", "conversation_id", "state", "due_at"),
)
"""`ready_at`: when it may be claimed (its `due_at`; while leased, the end of the lease; NULL while parked). `due_next`
serves the claim, which alone looks across owners. `again`: became due anew while it was leased."""

spending = table(
    "spending",
    owner(),
    number("hour", BigInteger),
    word("purpose", key=True),
    whole("calls"),
    whole("tokens_in", kind=BigInteger),
    whole("tokens_out", kind=BigInteger),
)
"""What background work spent, by whole hours since 1970 (C4)."""

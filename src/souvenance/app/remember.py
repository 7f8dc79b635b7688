"""A person adds memories (V4): typed, confidence 1, in the scope they choose, pinned if they say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from souvenance.app.change_memories import (
    Cause,
    Changed,
    Store,
    carry_out,
    has_room_cap,
    hold,
    locked,
    pin,
    said_by_person,
    source,
)
from souvenance.app.kit import Kit
from souvenance.domain.ids import BotId, ConversationId, MemoryId, OwnerId
from souvenance.domain.journal import Content
from souvenance.domain.limits import Limits
from souvenance.domain.memory import Memory, Origin, Scope, ScopeKind
from souvenance.domain.terms import terms
from souvenance.domain.text import clean, clean_key
from souvenance.errors import BadValue, KeyTaken
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """One fact as a person gives it. With a key, `text` is its value; `overwrite` lets a key that is there get it."""

    text: str
    scope: Scope
    key: str | None = None
    subject: str = ""
    pinned: bool = False
    overwrite: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """`created` is False when it was there already and gained a source (M10); `updated`: its key got another value."""

    memory: Memory
    created: bool
    updated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What a person wants kept, checked and indexed, before the store is held."""

    new: NewMemory
    wish: Store = field(repr=False)
    cause: Cause


async def remember(kit: Kit, owner_id: OwnerId, new: NewMemory) -> Remembered:
    """Store one memory; KeyTaken, PinRoomFull, NotFound for an unknown bot, InputError for an unusable text."""
    return (await remember_many(kit, owner_id, [new]))[0]


async def remember_many(kit: Kit, owner_id: OwnerId, new: Sequence[NewMemory]) -> tuple[Remembered, ...]:
    """Store several memories, all or none."""
    if not new:
        raise BadValue("memories", value=[], expected="at least one memory")
    cause = said_by_person(kit.clock.now())
    ready = [Ready(new=one, wish=_wish(kit, one, cause), cause=cause) for one in new]

    def work(unit: Unit) -> tuple[Remembered, ...]:
        return tuple(store_ready(unit, kit, one) for one in ready)

    return await kit.store.write(owner_id, work, label="memories.remembered")


def _wish(kit: Kit, new: NewMemory, cause: Cause) -> Store:
    key, text = checked(kit.limits, new.key, new.text)
    subject = clean("subject", new.subject, limit=kit.limits.subject_characters) if new.subject else ""
    return Store(
        memory_id=MemoryId(kit.ids.new("mem")),
        scope=new.scope,
        content=Content(text=text, key=key, subject=subject, origin=Origin.MANUAL, evidence=source(cause.at)),
        terms=tuple(terms(f"{key or subject} {text}")),
    )


def checked(limits: Limits, key: str | None, text: str) -> tuple[str | None, str]:
    """Key and text within M3's limits."""
    if key is None:
        return None, clean("text", text, limit=limits.memory_characters)
    return clean_key(key, limit=limits.key_characters), clean("value", text, limit=limits.value_characters)


def store_ready(unit: Unit, kit: Kit, ready: Ready) -> Remembered:
    """Store and pin it as a person wishes, in the present transaction; KeyTaken, PinRoomFull, NotFound, BadValue."""
    new, wish = ready.new, ready.wish
    # Held first: a bot that is being deleted is gone by then.
    hold(unit, new.scope)
    check_scope(unit, new.scope, keyed=wish.content.key is not None)
    _check_key(unit, new, wish)
    outcome = carry_out(unit, wish, ready.cause)
    assert isinstance(outcome, Changed), "a person's wish to store is never refused"
    memory = outcome.memory
    if new.pinned:
        held = locked(unit, memory.memory_id)
        assert held is not None, "it was just stored under the scope's lock"
        room = kit.limits.room_pinned if has_room_cap(unit, new.scope) else None
        memory = pin(unit, held, ready.cause, room=room, evidence=wish.content.evidence)
        unit.scopes.start_epoch(new.scope)
    return Remembered(memory=memory, created=outcome.kind == "remembered", updated=outcome.kind == "updated")


def _check_key(unit: Unit, new: NewMemory, wish: Store) -> None:
    key = wish.content.key
    if key is None or new.overwrite:
        return
    there = unit.memories.equal_to(new.scope, text=wish.content.text, key=key)
    if there is not None and there.text != wish.content.text:
        raise KeyTaken(key)


def check_scope(unit: Unit, scope: Scope, *, keyed: bool) -> None:
    """The scope must be the owner's: NotFound for a bot or conversation that is not. A notebook holds keys (K1)."""
    match scope.kind:
        case ScopeKind.BOT:
            if unit.bots.get(BotId(scope.ref)).is_notebook and not keyed:
                raise BadValue("key", value=None, expected="a key, since this bot keeps key-value memory")
        case ScopeKind.CONVERSATION:
            unit.conversations.get(ConversationId(scope.ref))
        case ScopeKind.ORGANISATION:
            raise BadValue("scope", value=scope.key, expected="account, bot:<id> or conversation:<id>")
        case ScopeKind.ACCOUNT:
            return

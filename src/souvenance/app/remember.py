"""A person adds memories (V4): typed, confidence 1, in the scope they choose, pinned if they say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from souvenance.app.change_memories import (
    Cause,
    Changed,
    Outcome,
    Store,
    has_room_cap,
    hold,
    pin,
    said_by_person,
    source,
    store_held,
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


async def remember(kit: Kit, owner_id: OwnerId, new: NewMemory) -> Remembered:
    """Store one memory; KeyTaken, PinRoomFull, NotFound for an unknown bot, InputError for an unusable text."""
    return (await remember_many(kit, owner_id, [new]))[0]


async def remember_many(
    kit: Kit, owner_id: OwnerId, new: Sequence[NewMemory], *, request_key: str = ""
) -> tuple[Remembered, ...]:
    """Store several memories, all or none. What a request with this idempotency key made already stays as it is."""
    if not new:
        raise BadValue("memories", value=[], expected="at least one memory")
    cause = said_by_person(kit.clock.now())
    ready = [Ready(new=one, wish=_wish(kit, one, cause)) for one in new]

    def work(unit: Unit) -> tuple[Remembered, ...]:
        return store_once(unit, kit, ready, cause, request_key) if request_key else store_ready(unit, kit, ready, cause)

    return await kit.store.write(owner_id, work, label="memories.remembered")


def store_once(unit: Unit, kit: Kit, ready: Sequence[Ready], cause: Cause, request_key: str) -> tuple[Remembered, ...]:
    """`store_ready` those that no request with this key made before: ids follow from the key and what they say."""
    # Held first: the same request may come twice at once.
    unit.owners.hold()
    named = [replace(one, wish=replace(one.wish, memory_id=_id_of(unit, request_key, one.wish))) for one in ready]
    there = {memory.memory_id: memory for memory in unit.memories.many([one.wish.memory_id for one in named])}
    left = [one for one in named if one.wish.memory_id not in there]
    stored = iter(store_ready(unit, kit, left, cause) if left else ())
    known = [there.get(one.wish.memory_id) for one in named]
    return tuple(next(stored) if memory is None else Remembered(memory=memory, created=True) for memory in known)


def _id_of(unit: Unit, request_key: str, wish: Store) -> MemoryId:
    said = f"remembered {request_key} {wish.scope.key} {wish.content.key} {wish.content.text}"
    return MemoryId(f"mem_{unit.keyed_hash(said).hex()[:32]}")


def _wish(kit: Kit, new: NewMemory, cause: Cause) -> Store:
    key, text = checked(kit.limits, new.key, new.text)
    subject = clean("subject", new.subject, limit=kit.limits.subject_characters) if new.subject else ""
    return Store(
        memory_id=MemoryId(kit.ids.new("mem")),
        scope=new.scope,
        content=Content(text=text, key=key, subject=subject, origin=Origin.MANUAL, evidence=source(cause.at)),
        terms=tuple(terms(f"{key or subject} {text}")),
        overwrite=new.overwrite,
    )


def checked(limits: Limits, key: str | None, text: str) -> tuple[str | None, str]:
    """Key and text within M3's limits."""
    if key is None:
        return None, clean("text", text, limit=limits.memory_characters)
    return clean_key(key, limit=limits.key_characters), clean("value", text, limit=limits.value_characters)


def store_ready(unit: Unit, kit: Kit, ready: Sequence[Ready], cause: Cause) -> tuple[Remembered, ...]:
    """Store and pin them as a person wishes, in the present transaction, all or none; KeyTaken, PinRoomFull, NotFound,
    BadValue.
    """
    # Held first: a bot that is being deleted is gone by then.
    for scope in sorted({one.new.scope for one in ready}, key=lambda scope: scope.key):
        hold(unit, scope)
    for scope, keyed in dict.fromkeys((one.new.scope, one.new.key is not None) for one in ready):
        check_scope(unit, scope, keyed=keyed)
    outcomes = store_held(unit, [one.wish for one in ready], cause)
    return tuple(_remembered(unit, kit, one, outcome, cause) for one, outcome in zip(ready, outcomes, strict=True))


def _remembered(unit: Unit, kit: Kit, ready: Ready, outcome: Outcome, cause: Cause) -> Remembered:
    key = ready.wish.content.key
    if not isinstance(outcome, Changed):
        assert key is not None, "of what a person wishes to store only a key's value is refused"
        raise KeyTaken(key)
    memory = outcome.memory
    if ready.new.pinned:
        room = kit.limits.room_pinned if has_room_cap(unit, memory.scope) else None
        stored = unit.memories.get(memory.memory_id)
        memory = pin(unit, stored, cause, room=room, evidence=ready.wish.content.evidence)
        unit.scopes.start_epoch(memory.scope)
    return Remembered(memory=memory, created=outcome.kind == "remembered", updated=outcome.kind == "updated")


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

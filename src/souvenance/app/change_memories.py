"""Write changes of memories: lock the scope, decide on what is there now, append the operation, fold, index.

Every way in ends here (M11). What a model wished in mid-reply is decided again, because the world may have moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never

from souvenance.app.rooms import uncapped
from souvenance.domain.equals import Identity, leaves, words_of
from souvenance.domain.erasure import stands_against
from souvenance.domain.ids import BotId, ConversationId, MemoryId
from souvenance.domain.journal import Actor, Add, Anchor, Content, Delete, Intent, Operation, Pin, Update, apply
from souvenance.domain.memory import Evidence, Memory, MemoryState, Scope, ScopeKind
from souvenance.domain.remember import AddNew, Confirm, HeldByPin, KnownAndPinned, decide
from souvenance.domain.terms import terms as index_terms
from souvenance.errors import NotFound, PinRoomFull
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Keep this in that scope, as `memory_id` if it is new. `terms` are the index terms of key and text; without
    `overwrite` a key that has another value keeps it.
    """

    memory_id: MemoryId
    scope: Scope
    content: Content
    terms: tuple[str, ...] = field(repr=False)
    overwrite: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """Let this memory say `content` instead. `terms` are the index terms of its text."""

    memory_id: MemoryId
    content: Content
    terms: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Take this memory out, so that undoing the turn brings it back (M14)."""

    memory_id: MemoryId


Wish = Store | Replace | Remove


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Who wishes it, when, and what its undoing hangs on (nothing for a person)."""

    actor: Actor
    at: datetime
    anchors: tuple[Anchor, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """`kind`: remembered, confirmed, updated or forgotten."""

    kind: str
    memory: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class NotChanged:
    """`reason`: known, pinned, taken (its key has another value), gone or erased (a person erased that, M14)."""

    reason: str
    memory: Memory | None = None


Outcome = Changed | NotChanged


def carry_out(unit: Unit, wish: Wish, cause: Cause) -> Outcome:
    """One wish, in the present transaction."""
    match wish:
        case Store():
            return _store(unit, wish, cause)
        case Replace():
            return _replace(unit, wish, cause)
        case Remove():
            return _remove(unit, wish, cause)
        case _:
            assert_never(wish)


def _store(unit: Unit, wish: Store, cause: Cause) -> Outcome:
    if _is_gone(unit, wish.scope):
        return NotChanged(reason="gone")
    hold(unit, wish.scope)
    return store_held(unit, [wish], cause)[0]


def store_held(unit: Unit, wishes: Sequence[Store], cause: Cause) -> list[Outcome]:
    """Several wishes whose scopes are held, each decided on what those before it left; they are written together."""
    live = unit.memories.live_equals({_identity(wish) for wish in wishes})
    places = _places(unit, len(wishes))
    steps: list[_Step] = []
    outcomes: list[Outcome] = []
    for wish in wishes:
        step = _step(unit, wish, cause, live.get(_identity(wish)), places)
        if isinstance(step, _Step):
            live[_identity(wish)] = step.changed.memory
            steps.append(step)
        outcomes.append(step.changed if isinstance(step, _Step) else step)
    _write(unit, steps)
    return outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """What a wish to store comes to; `terms` when the memory says something else than before, or is new."""

    operation: Operation
    changed: Changed
    terms: tuple[str, ...] | None


def _identity(wish: Store) -> Identity:
    content = wish.content
    return wish.scope, words_of(text=content.text, key=content.key, subject=content.subject)


def _places(unit: Unit, count: int) -> Iterator[int]:
    """The owner's next places, taken at once when the first is needed; those that are not used stay empty."""
    last = unit.owners.next_place(count)
    yield from range(last - count + 1, last + 1)


def _step(unit: Unit, wish: Store, cause: Cause, existing: Memory | None, places: Iterator[int]) -> _Step | NotChanged:
    content = wish.content
    if is_erased(unit, wish.scope, content, cause):
        return NotChanged(reason="erased")
    match decide(existing, text=content.text, actor=cause.actor):
        case AddNew():
            return _stored(wish, None, cause, next(places), kind="remembered")
        case Confirm(memory=memory):
            says_anew = memory.key is not None and memory.text != content.text
            if says_anew and not wish.overwrite:
                return NotChanged(reason="taken", memory=memory)
            return _stored(wish, memory, cause, next(places), kind="updated" if says_anew else "confirmed")
        case KnownAndPinned(memory=memory):
            return NotChanged(reason="known", memory=memory)
        case HeldByPin(memory=memory):
            return NotChanged(reason="pinned", memory=memory)
        case decision:
            assert_never(decision)


def _stored(wish: Store, before: Memory | None, cause: Cause, place: int, *, kind: str) -> _Step:
    memory_id = wish.memory_id if before is None else before.memory_id
    operation = _operation(place, memory_id, wish.scope, Add(content=wish.content), cause)
    memory = apply(before, operation)
    assert memory is not None, "it adds one, or is done to one that is there"
    version = 1 if before is None else before.version + 1
    changed = Changed(kind=kind, memory=replace(memory, version=version, changed=place))
    return _Step(operation=operation, changed=changed, terms=None if kind == "confirmed" else wish.terms)


def _write(unit: Unit, steps: Sequence[_Step]) -> None:
    unit.journal.append_all([step.operation for step in steps])
    unit.memories.save_all(list({step.changed.memory.memory_id: step.changed.memory for step in steps}.values()))
    new = {step.operation.memory_id for step in steps if step.changed.kind == "remembered"}
    terms = {step.operation.memory_id: step.terms for step in steps if step.terms is not None}
    unit.index.put_new(Kind.MEMORY, {item: words for item, words in terms.items() if item in new})
    for item in terms.keys() - new:
        unit.index.put(Kind.MEMORY, item, terms[item])


def _replace(unit: Unit, wish: Replace, cause: Cause) -> Outcome:
    memory = locked(unit, wish.memory_id)
    if memory is None:
        return NotChanged(reason="gone")
    if memory.pinned and cause.actor is not Actor.PERSON:
        return NotChanged(reason="pinned", memory=memory)
    content = replace(wish.content, key=memory.key, subject=wish.content.subject or memory.subject)
    if is_erased(unit, memory.scope, content, cause):
        return NotChanged(reason="erased", memory=memory)
    twin = unit.memories.equal_to(memory.scope, text=content.text, key=memory.key, subject=content.subject)
    if twin is not None and twin.memory_id != memory.memory_id:
        # It would say what another one says: that one gains the source, this one goes (M10).
        return _join(unit, memory, twin, content, cause)
    # Its key, or whom it is about, is known only now, and it is found by that too.
    words = (*index_terms(content.key or content.subject), *wish.terms)
    saved = write_operation(unit, memory, Update(content=content), cause, terms=words)
    return Changed(kind="updated", memory=saved)


def _join(unit: Unit, memory: Memory, twin: Memory, content: Content, cause: Cause) -> Outcome:
    if not twin.pinned or cause.actor is Actor.PERSON:
        twin = write_operation(unit, twin, Add(content=content), cause)
    write_operation(unit, memory, Delete(), cause)
    return Changed(kind="updated", memory=twin)


def _remove(unit: Unit, wish: Remove, cause: Cause) -> Outcome:
    memory = locked(unit, wish.memory_id)
    if memory is None:
        return NotChanged(reason="gone")
    if memory.pinned and cause.actor is not Actor.PERSON:
        return NotChanged(reason="pinned", memory=memory)
    return Changed(kind="forgotten", memory=write_operation(unit, memory, Delete(), cause))


def _is_gone(unit: Unit, scope: Scope) -> bool:
    """Whether this is a bot's scope and the bot was deleted, perhaps while it spoke (M8)."""
    return scope.kind is ScopeKind.BOT and not unit.bots.many([BotId(scope.ref)])


def is_erased(unit: Unit, scope: Scope, content: Content, cause: Cause) -> bool:
    """Whether this would bring back what a person erased since it was said (M14); a person may say it anew."""
    if cause.actor is Actor.PERSON:
        return False
    stones = unit.erasures.tombstones(text=content.text, key=content.key, subject=content.subject)
    return any(stands_against(stone, scope, content, cause.anchors) for stone in stones)


def hold(unit: Unit, scope: Scope) -> None:
    """Hold a scope against other writers until the commit, the owner before it: one order of locks for all."""
    unit.owners.hold()
    unit.scopes.lock(scope)


def locked(unit: Unit, memory_id: MemoryId) -> Memory | None:
    """The live memory with its scope held, None when it is live no more."""
    try:
        found = unit.memories.get(memory_id)
    except NotFound:
        return None
    hold(unit, found.scope)
    memory = unit.memories.get(memory_id)
    return memory if memory.state is MemoryState.LIVE else None


def write_operation(
    unit: Unit, memory: Memory, intent: Intent, cause: Cause, *, terms: Sequence[str] | None = None
) -> Memory:
    """Append one operation on a live memory whose scope is held, and write what it is now: one more step of the fold,
    however long its history (Z3). `terms` are given when its words change.
    """
    operation = _operation(unit.owners.next_place(), memory.memory_id, memory.scope, intent, cause)
    unit.journal.append(operation)
    became = apply(memory, operation)
    assert became is not None, "it is done to one that is there"
    saved = unit.memories.save(became)
    if saved.state is not MemoryState.LIVE:
        unit.index.remove(Kind.MEMORY, saved.memory_id)
    elif terms is not None:
        unit.index.put(Kind.MEMORY, saved.memory_id, terms)
    if leaves(memory, saved):
        unit.memories.settle_equals([memory, saved])
    return saved


def _operation(place: int, memory_id: MemoryId, scope: Scope, intent: Intent, cause: Cause) -> Operation:
    return Operation(
        place=place,
        memory_id=memory_id,
        scope=scope,
        actor=cause.actor,
        intent=intent,
        at=cause.at,
        causes=tuple(_held(anchor, scope) for anchor in cause.anchors),
    )


def _held(anchor: Anchor, scope: Scope) -> Anchor:
    """Session memory goes with its own conversation, whoever else holds the turn (M1)."""
    return replace(anchor, held_in=ConversationId(scope.ref)) if scope.kind is ScopeKind.CONVERSATION else anchor


def pin(unit: Unit, memory: Memory, cause: Cause, *, room: int | None, evidence: tuple[Evidence, ...] = ()) -> Memory:
    """Pin a live memory whose scope is held; PinRoomFull when `room` pinned ones are there. `evidence` is what it was
    stored from in the same breath, if it was.
    """
    if memory.pinned:
        return memory
    pinned = unit.memories.counts(memory.scope).pinned
    if room is not None and pinned >= room:
        raise PinRoomFull(memory.scope.key, pinned=pinned, limit=room)
    content = content_now(memory, cause.at)
    content = replace(content, evidence=evidence or content.evidence)
    return write_operation(unit, memory, Pin(content=content), cause)


def content_now(memory: Memory, at: datetime) -> Content:
    """What a memory says, as a person says it now: of the sources only this one, since those of turns can be undone."""
    return Content(
        text=memory.text,
        key=memory.key,
        subject=memory.subject,
        confidence=memory.confidence,
        origin=memory.origin,
        language=memory.language,
        sensitive=memory.sensitive,
        evidence=source(at),
    )


def has_room_cap(unit: Unit, scope: Scope) -> bool:
    """M2 caps account, companion and assistant scopes; a notebook has no cap (E1)."""
    return not uncapped(unit, [scope])


def said_by_person(at: datetime) -> Cause:
    return Cause(actor=Actor.PERSON, at=at)


def source(at: datetime) -> tuple[Evidence, ...]:
    """The source of what was typed outside any conversation."""
    return (Evidence(at=at),)

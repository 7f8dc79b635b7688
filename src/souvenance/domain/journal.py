"""The journal: operations in the owner's order, and the fold that makes a memory of them (M11).

A memory is the fold, in order, of its operations that are not revoked. Intents that set a text carry all of it, so that
each can stand alone: when what a later operation was built on is undone, the later one still says what it meant. What a
person does is never undone (T1), and a pin keeps what it protects (M5), for the same reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import zip_longest
from typing import TypedDict, assert_never

from souvenance.domain.ids import ConversationId, MemoryId, MessageId
from souvenance.domain.memory import Evidence, Memory, MemoryState, Origin, Scope


class Actor(StrEnum):
    """Who decided an operation."""

    PERSON = "person"
    MODEL = "model"
    TEXT_CALL = "text_call"
    EXTRACTION = "extraction"
    DEEPER = "deeper"
    IMPORT = "import"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a memory says, complete: every intent that sets a text carries this. `evidence` is what this one adds."""

    text: str
    key: str | None = None
    subject: str = ""
    confidence: float = 1.0
    origin: Origin = Origin.MANUAL
    language: str = ""
    sensitive: bool = False
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Store it; on a memory that is there: one more source, and for a key the new value."""

    content: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Say this instead."""

    content: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """Protect it as it was when it was pinned."""

    content: Content


@dataclass(frozen=True, slots=True)
class Unpin:
    pass


@dataclass(frozen=True, slots=True)
class Archive:
    pass


@dataclass(frozen=True, slots=True)
class Restore:
    pass


@dataclass(frozen=True, slots=True)
class Delete:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Into another scope of the same owner, where an entry of a key and a value is the free text `key: value` (M8)."""

    scope: Scope


Intent = Add | Update | Pin | Unpin | Archive | Restore | Delete | Move


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """What an operation hangs on (T4): a message by its origin, held and chosen in some conversation of the owner.

    Of what a reply wrote, `said` is the origin of the user message that it answered: editing either takes it back (T7).
    Of session memory (M1) only `held_in` counts as a holder.
    """

    message: MessageId
    said: MessageId | None = None
    held_in: ConversationId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One entry of the journal. It stands while any of its causes holds, or always when it has none. `revoked` is the
    answer to that, kept beside it.
    """

    place: int
    memory_id: MemoryId
    scope: Scope
    actor: Actor
    intent: Intent
    at: datetime
    causes: tuple[Anchor, ...] = ()
    revoked: bool = False


def fold(operations: Iterable[Operation]) -> Memory | None:
    """The memory that the standing operations of one memory make, in their order; None when nothing stands.

    A deleted one comes back with state DELETED, so that its history can be shown.
    """
    memory: Memory | None = None
    standing = [operation for operation in operations if not operation.revoked]
    for operation, next_one in zip_longest(standing, standing[1:]):
        if next_one is None or not (_live(memory) and leaves_nothing(operation, next_one)):
            memory = apply(memory, operation)
    return memory


def leaves_nothing(operation: Operation, next_one: Operation) -> bool:
    """Whether a live memory is the same without this operation, since the next that stands says something at once."""
    intent, then = operation.intent, next_one.intent
    if type(then) is Update:
        return type(intent) is Add or (type(intent) is Update and not intent.content.sensitive)
    if type(then) is Add and type(intent) is Add:
        said, again = intent.content, then.content
        return said.confidence <= again.confidence and said.origin is again.origin
    return False


def apply(memory: Memory | None, operation: Operation) -> Memory | None:
    """One step of the fold: what the operation makes of the memory that those before it made."""
    intent = operation.intent
    match intent:
        case Add(content=content):
            return _confirmed(memory, content, operation) if _live(memory) else _made(memory, content, operation)
        case Update(content=content):
            return _said_anew(memory, content, operation) if _live(memory) else _made(memory, content, operation)
        case Pin(content=content):
            return replace(_said_as_pinned(memory, content, operation), pinned=True)
    if memory is None:
        return None
    match intent:
        case Unpin():
            return replace(memory, pinned=False, archived=False, **_updated(operation))
        case Archive():
            return replace(memory, archived=True)
        case Restore():
            return replace(memory, archived=False, **_updated(operation))
        case Delete():
            return replace(memory, state=MemoryState.DELETED)
        case Move(scope=scope):
            return _moved(memory, scope)
        case _:
            assert_never(intent)


def standing_evidence(operations: Iterable[Operation]) -> tuple[Evidence, ...]:
    """Every source of what stands, each once, in the order in which they came."""
    said = (content for one in operations if not one.revoked and (content := content_of(one.intent)) is not None)
    return tuple(dict.fromkeys(source for content in said for source in content.evidence))


def content_of(intent: Intent) -> Content | None:
    """What an intent says, if it says anything."""
    match intent:
        case Add(content=content) | Update(content=content) | Pin(content=content):
            return content
        case Unpin() | Archive() | Restore() | Delete() | Move():
            return None
        case _:
            assert_never(intent)


def drawn_only_from(operations: Iterable[Operation], messages: Collection[MessageId]) -> bool:
    """Whether all that these operations of one memory say was caused by these messages; what fell for good says
    nothing (M14).
    """
    return all(
        _fell(one) or (one.causes and all(cause.message in messages for cause in one.causes))
        for one in operations
        if content_of(one.intent) is not None
    )


def says_nothing(operations: Iterable[Operation]) -> bool:
    """Whether these operations of one memory cannot make it say anything, whichever of them come to stand again."""
    return all(_fell(one) or content_of(one.intent) is None for one in operations)


def texts_of(operations: Iterable[Operation]) -> set[str]:
    """All that these operations let a memory say, moved or not."""
    contents = [content for one in operations if (content := content_of(one.intent)) is not None]
    return {said for one in contents for said in (one.text, text_when_moved(one.key, one.text))}


def copied_to(
    operation: Operation, memory_id: MemoryId, conversation_id: ConversationId, held: Mapping[MessageId, bool]
) -> Operation | None:
    """The operation as it is one of a copy of session memory in this conversation (M1); None when nothing that caused
    it is there, or when it fell for good. `held` says of each origin that the conversation holds whether it is chosen.

    It hangs on the same messages, but there only, so that undo in one branch never touches the other's.
    """
    causes = tuple(
        replace(cause, held_in=conversation_id)
        for cause in operation.causes
        if cause.message in held and (cause.said is None or cause.said in held)
    )
    if _fell(operation) or (operation.causes and not causes):
        return None
    stands = not causes or any(held[one.message] and (one.said is None or held[one.said]) for one in causes)
    return replace(
        operation,
        memory_id=memory_id,
        scope=Scope.of_conversation(conversation_id),
        causes=causes,
        revoked=not stands,
    )


def _fell(operation: Operation) -> bool:
    return operation.revoked and not operation.causes


class _Updated(TypedDict):
    updated_at: datetime
    updated_place: int


def _updated(operation: Operation) -> _Updated:
    return {"updated_at": operation.at, "updated_place": operation.place}


def _live(memory: Memory | None) -> bool:
    return memory is not None and memory.state is MemoryState.LIVE


def _moved(memory: Memory, scope: Scope) -> Memory:
    """There; a step of the fold like any other, so that a turn can be taken back after the move too (T2)."""
    return replace(memory, scope=scope, text=text_when_moved(memory.key, memory.text), key=None)


def text_when_moved(key: str | None, text: str) -> str:
    """What a memory says once it was moved (M8)."""
    return text if key is None else f"{key}: {text}"


def _made(before: Memory | None, content: Content, operation: Operation) -> Memory:
    """A memory from a content alone; one that was deleted keeps its first place."""
    return Memory(
        memory_id=operation.memory_id,
        scope=operation.scope,
        text=content.text,
        key=content.key,
        subject=content.subject,
        confidence=content.confidence,
        origin=content.origin,
        language=content.language,
        sensitive=content.sensitive,
        created_at=operation.at if before is None else before.created_at,
        **_updated(operation),
        place=operation.place if before is None else before.place,
    )


def _confirmed(memory: Memory | None, content: Content, operation: Operation) -> Memory:
    assert memory is not None
    keyed = memory.key is not None
    return replace(
        memory,
        text=content.text if keyed else memory.text,
        origin=content.origin if keyed or content.confidence > memory.confidence else memory.origin,
        confidence=max(memory.confidence, content.confidence),
        archived=False,
        **_updated(operation),
    )


def _said_anew(memory: Memory | None, content: Content, operation: Operation) -> Memory:
    assert memory is not None
    return replace(
        memory,
        text=content.text,
        key=content.key,
        subject=content.subject,
        confidence=content.confidence,
        origin=content.origin,
        language=content.language,
        sensitive=memory.sensitive or content.sensitive,
        archived=False,
        **_updated(operation),
    )


def _said_as_pinned(memory: Memory | None, content: Content, operation: Operation) -> Memory:
    """As pinned: its text is the one that stood when the person pinned it; pinning is no update."""
    if not _live(memory):
        return _made(memory, content, operation)
    assert memory is not None
    return replace(memory, text=content.text, key=content.key, subject=content.subject)

"""Read what is there, page by page: the person's view of memories, bots, conversations, prompts and notifications."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, TypeVar

from souvenance.app.begin_window import in_window, level_of
from souvenance.app.cursor import decode, encode, moment, number
from souvenance.app.kit import Kit
from souvenance.app.rooms import in_these, known_rooms, rooms_of
from souvenance.domain.bot import Bot, Persona
from souvenance.domain.conversation import Conversation, Message, Turn
from souvenance.domain.deal import is_recent
from souvenance.domain.ids import BotId, ConversationId, MemoryId, NotificationId, OwnerId, PersonaId, TurnId
from souvenance.domain.journal import Operation
from souvenance.domain.keep_memories import is_oversized
from souvenance.domain.limits import Level
from souvenance.domain.memory import Evidence, Memory, MemoryState, Scope, ScopeKind
from souvenance.domain.notification import Notification
from souvenance.errors import BadValue, NotFound
from souvenance.ports.memories import Mark, Order, Shelf, mark_of
from souvenance.ports.store import Unit

T = TypeVar("T")

_MOST_POSITIONS = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some items and where the next ones begin; `next` is None on the last page."""

    items: tuple[T, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView:
    """A memory with every source of it (M4) and what is derived: `archived` by hand or for room (M2), `recent` within 7
    days (M6), `oversized` when it is longer than M3 lets a text be (M8).
    """

    memory: Memory
    evidence: tuple[Evidence, ...]
    archived: bool
    recent: bool
    oversized: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How full a scope is (M2): `unpinned` are those in room, `archived` those by hand or for room. Limits are None
    where there is no cap; `tokens` is what its live ones take (K3).
    """

    scope: Scope
    pinned: int
    pinned_limit: int | None
    unpinned: int
    unpinned_limit: int | None
    archived: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationMemory:
    """Which layer holds a conversation's messages (S6): in the window, or waiting without a summary."""

    conversation: Conversation
    level: Level
    in_window: int
    waiting: int


async def list_memories(
    kit: Kit,
    owner_id: OwnerId,
    *,
    scope: Scope | None = None,
    shelf: Shelf = Shelf.ALL,
    order: Order = Order.UPDATED,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[MemoryView]:
    """Live memories of one scope, or of all the owner's own but those of single conversations."""
    most = page_size(kit, limit)
    after = None if cursor is None else _mark(order, decode(cursor, f"memories.{order}"))

    def work(unit: Unit) -> Page[MemoryView]:
        rooms = known_rooms(unit, kit) if scope is None else rooms_of(unit, kit, [scope])
        found = unit.memories.page(rooms=rooms, shelf=shelf, order=order, after=after, limit=most + 1)
        # Those updated last have room, as far as there is any: nobody need look where it ends.
        have_room = order is Order.UPDATED and after is None and most <= kit.limits.room_unpinned
        views = _views(
            unit, kit, found[:most], dict.fromkeys(rooms) if have_room and shelf is not Shelf.ARCHIVED else rooms
        )
        last = _word(order, found[most - 1]) if len(found) > most else None
        return Page(items=views, next=last)

    return await kit.store.read(owner_id, work, label="memories.listed")


async def read_memory(kit: Kit, owner_id: OwnerId, memory_id: MemoryId) -> MemoryView:
    """One live memory; NotFound for one that is gone, since what a person erased is shown nowhere (M14)."""

    def work(unit: Unit) -> MemoryView:
        memory = unit.memories.get(memory_id)
        if memory.state is not MemoryState.LIVE:
            raise NotFound("memory", memory_id)
        return views_of(unit, kit, [memory])[0]

    return await kit.store.read(owner_id, work, label="memory.read")


async def memory_history(kit: Kit, owner_id: OwnerId, memory_id: MemoryId) -> tuple[Operation, ...]:
    """Every operation of a memory in order, revoked ones too (M11); NotFound once a person erases it."""

    def work(unit: Unit) -> tuple[Operation, ...]:
        if unit.memories.get(memory_id).state is MemoryState.ERASING:
            raise NotFound("memory", memory_id)
        return tuple(unit.journal.of_memory(memory_id))

    return await kit.store.read(owner_id, work, label="memory.history")


async def room(kit: Kit, owner_id: OwnerId, scope: Scope) -> Room:
    """How full a scope is, and how many tokens its live memories take."""

    def work(unit: Unit) -> tuple[Room, list[Memory]]:
        capped = not (scope.kind is ScopeKind.BOT and unit.bots.get(BotId(scope.ref)).is_notebook)
        counts = unit.memories.counts(scope)
        full = Room(
            scope=scope,
            pinned=counts.pinned,
            pinned_limit=kit.limits.room_pinned if capped else None,
            unpinned=min(counts.unpinned, kit.limits.room_unpinned) if capped else counts.unpinned,
            unpinned_limit=kit.limits.room_unpinned if capped else None,
            archived=counts.archived + (max(0, counts.unpinned - kit.limits.room_unpinned) if capped else 0),
            tokens=0,
        )
        if not capped:
            return full, unit.memories.by_place(scope)
        sent = unit.memories.newest_unpinned(scope, limit=kit.limits.unpinned_in_prompt)
        return full, unit.memories.pinned(scope) + sent

    full, sent = await kit.store.read(owner_id, work, label="room.read")
    tokens = sum(kit.tokenizer.count(f"- {m.key or ''} {m.text}\n") for m in sent)
    return replace(full, tokens=tokens)


async def list_bots(kit: Kit, owner_id: OwnerId, *, cursor: str | None = None, limit: int | None = None) -> Page[Bot]:
    most = page_size(kit, limit)
    after = None if cursor is None else BotId(decode(cursor, "bots"))
    found = await kit.store.read(
        owner_id, lambda unit: unit.bots.page(after=after, limit=most + 1), label="bots.listed"
    )
    return _page("bots", found, most, lambda bot: bot.bot_id)


async def list_personas(
    kit: Kit, owner_id: OwnerId, *, cursor: str | None = None, limit: int | None = None
) -> Page[Persona]:
    most = page_size(kit, limit)
    after = None if cursor is None else PersonaId(decode(cursor, "personas"))
    found = await kit.store.read(
        owner_id, lambda unit: unit.personas.page(after=after, limit=most + 1), label="personas.listed"
    )
    return _page("personas", found, most, lambda persona: persona.persona_id)


async def list_conversations(
    kit: Kit, owner_id: OwnerId, *, bot_id: BotId | None = None, cursor: str | None = None, limit: int | None = None
) -> Page[Conversation]:
    """Newest first."""
    most = page_size(kit, limit)
    before = None if cursor is None else ConversationId(decode(cursor, "conversations"))
    found = await kit.store.read(
        owner_id,
        lambda unit: unit.conversations.page(bot_id=bot_id, before=before, limit=most + 1),
        label="conversations.listed",
    )
    return _page("conversations", found, most, lambda conversation: conversation.conversation_id)


async def list_messages(
    kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, *, cursor: str | None = None, limit: int | None = None
) -> Page[Message]:
    """The chosen messages, newest first."""
    most = page_size(kit, limit)
    before = None if cursor is None else _position(decode(cursor, "messages"))

    def work(unit: Unit) -> list[Message]:
        unit.conversations.get(conversation_id)
        return unit.messages.page(conversation_id, before=before, limit=most + 1)

    found = await kit.store.read(owner_id, work, label="messages.listed")
    return _page("messages", found, most, lambda message: f"{message.position}.{message.part}")


async def read_turn(kit: Kit, owner_id: OwnerId, turn_id: TurnId) -> tuple[Turn, tuple[Message, ...]]:
    def work(unit: Unit) -> tuple[Turn, tuple[Message, ...]]:
        return unit.turns.get(turn_id), tuple(unit.messages.of_turn(turn_id))

    return await kit.store.read(owner_id, work, label="turn.read")


async def conversation_memory(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId) -> ConversationMemory:
    """How much of a conversation is sent word for word, and how much waits (W4)."""

    def work(unit: Unit) -> ConversationMemory:
        conversation = unit.conversations.get(conversation_id)
        return ConversationMemory(
            conversation=conversation,
            level=level_of(unit, conversation),
            in_window=in_window(unit, conversation),
            waiting=conversation.waiting,
        )

    return await kit.store.read(owner_id, work, label="conversation_memory.read")


async def list_notifications(
    kit: Kit, owner_id: OwnerId, *, unread_only: bool = False, cursor: str | None = None, limit: int | None = None
) -> Page[Notification]:
    """Newest first."""
    most = page_size(kit, limit)
    before = None if cursor is None else NotificationId(decode(cursor, "notifications"))
    found = await kit.store.read(
        owner_id,
        lambda unit: unit.notifications.page(before=before, limit=most + 1, unread_only=unread_only),
        label="notifications.listed",
    )
    return _page("notifications", found, most, lambda notification: notification.notification_id)


async def mark_read(kit: Kit, owner_id: OwnerId, notification_id: NotificationId) -> None:
    now = kit.clock.now()
    await kit.store.write(
        owner_id, lambda unit: unit.notifications.mark_read(notification_id, now), label="notification.read"
    )


def page_size(kit: Kit, asked: int | None) -> int:
    """The size of a page; BadValue outside 1 … `page_most`."""
    size = kit.limits.page_items if asked is None else asked
    if not 1 <= size <= kit.limits.page_most:
        raise BadValue("limit", value=size, expected=f"a number from 1 to {kit.limits.page_most}")
    return size


def views_of(unit: Unit, kit: Kit, memories: Sequence[Memory]) -> tuple[MemoryView, ...]:
    """These memories with what belongs to each."""
    return _views(unit, kit, memories, rooms_of(unit, kit, {m.scope for m in memories}))


def _views(
    unit: Unit, kit: Kit, memories: Sequence[Memory], rooms: Mapping[Scope, int | None]
) -> tuple[MemoryView, ...]:
    now = kit.clock.now()
    test = in_these(unit, {scope: rooms[scope] for scope in {m.scope for m in memories}})
    evidence = unit.memories.evidence([m.memory_id for m in memories])
    return tuple(
        MemoryView(
            memory=m,
            evidence=evidence[m.memory_id],
            archived=not test(m),
            recent=is_recent(m, now, kit.limits),
            oversized=is_oversized(m, kit.limits),
        )
        for m in memories
    )


def _page(kind: str, found: Sequence[T], most: int, mark: Callable[[T], str]) -> Page[T]:
    """The first `most` of the `most` + 1 that were asked for, and a cursor if there are more."""
    more = len(found) > most
    return Page(items=tuple(found[:most]), next=encode(kind, mark(found[most - 1])) if more else None)


def _word(order: Order, memory: Memory) -> str:
    value, memory_id = mark_of(order, memory)
    return encode(f"memories.{order}", f"{value.isoformat() if isinstance(value, datetime) else value} {memory_id}")


def _mark(order: Order, word: str) -> Mark:
    value, _, memory_id = word.partition(" ")
    return moment(value) if order is Order.CREATED else number(value), MemoryId(memory_id)


def _position(word: str) -> tuple[int, int]:
    position, _, part = word.partition(".")
    return number(position, most=_MOST_POSITIONS), number(part, most=_MOST_POSITIONS)

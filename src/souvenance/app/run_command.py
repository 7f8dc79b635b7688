"""Commands that a person writes in place of a message (V3): answered at once, without a model, outside the chat."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import assert_never

from souvenance.app.browse import list_memories
from souvenance.app.conversations import NewConversation, make_conversation
from souvenance.app.erase import erase_memories
from souvenance.app.kit import Kit
from souvenance.app.members import members_of, speakers_of
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.remember import NewMemory, Remembered, remember_many
from souvenance.app.turn import Delta, Done, FromClient, InConversation, NewChat, Noted, TurnEvent, TurnRequest
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.commands import (
    Command,
    CommandProblem,
    ForgetCommand,
    MemoriesCommand,
    RememberCommand,
    RememberPairs,
    parse_command,
)
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import BotId, ConversationId, MemoryId, OwnerId
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, Scope
from souvenance.domain.memory_lines import told
from souvenance.domain.policy import Policy, circumstances, policy
from souvenance.domain.text import fold
from souvenance.errors import MemoryIsOff, SouvenanceError
from souvenance.ports.memories import Order, Shelf
from souvenance.ports.store import Unit

_MAY_BE = re.compile(r"\s*(?:[/／](?:remember|forget|memories)|(?:bcz_)?remember\s*\()", re.IGNORECASE)
_ID = re.compile(r"mem_[a-z0-9]{1,32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Commanded:
    """A command, and where it was given."""

    command: Command
    bot: Bot | None
    policy: Policy
    scope: Scope


async def command_of(kit: Kit, owner_id: OwnerId, request: TurnRequest) -> Commanded | None:
    """The command that the request's text is; None for an ordinary message, which costs nothing to tell."""
    if not _MAY_BE.match(request.text):
        return None

    def work(unit: Unit) -> tuple[Conversation, Bot | None]:
        conversation = _conversation(unit, kit, request)
        speakers = speakers_of(conversation, members_of(unit, conversation), request.speakers)
        return conversation, next(iter(speakers), None)

    conversation, bot = await kit.store.read(owner_id, work, label="command.read")
    command = parse_command(request.text, notebook=bot is not None and bot.is_notebook, limits=kit.limits)
    if command is None:
        return None
    chosen = policy(circumstances(conversation, bot, can_call_tools=False, plan_has_deeper=kit.deeper_memory))
    return Commanded(command=command, bot=bot, policy=chosen, scope=_scope(bot))


async def run_command(
    kit: Kit, owner_id: OwnerId, request: TurnRequest, given: Commanded
) -> AsyncGenerator[TurnEvent, None]:
    """One answer, shown like a reply but no part of the conversation. MemoryIsOff where section 6 refuses it."""
    if not given.policy.commands:
        raise MemoryIsOff("a memory command", given.policy.command_refusal)
    try:
        answer = await _answer(kit, owner_id, given, request.request_key)
    except SouvenanceError as e:
        answer = e.message
    if given.policy.command_note:
        answer += f"\n({given.policy.command_note})"
    yield Noted(kind="command", text=answer)
    yield Delta(text=answer)
    yield Done(turn=None, message=None, finish="command")


def _conversation(unit: Unit, kit: Kit, request: TurnRequest) -> Conversation:
    address = request.address
    match address:
        case InConversation(conversation_id=conversation_id):
            return unit.conversations.get(conversation_id)
        case FromClient(client=client, ref=ref, conversation=new):
            named = unit.conversations.by_client_ref(client, ref, new.bot_id) if ref else None
            return named or _unsaved(kit, new)
        case NewChat(conversation=new):
            return _unsaved(kit, new)
        case _:
            assert_never(address)


def _unsaved(kit: Kit, new: NewConversation) -> Conversation:
    return make_conversation(new, ConversationId("cnv_none"), kit.clock.now())


def _scope(bot: Bot | None) -> Scope:
    """Where a command writes: the bot's own scope, an assistant's the account (E1)."""
    return ACCOUNT_SCOPE if bot is None or bot.preset is Preset.ASSISTANT else Scope.of_bot(BotId(bot.bot_id))


async def _answer(kit: Kit, owner_id: OwnerId, given: Commanded, request_key: str) -> str:
    command = given.command
    match command:
        case RememberCommand(text=text):
            fact = [NewMemory(text=text, scope=given.scope)]
            return _stored(await remember_many(kit, owner_id, fact, request_key=request_key))
        case RememberPairs(pairs=pairs):
            new = [NewMemory(text=value, key=key, scope=given.scope, overwrite=True) for key, value in pairs]
            return _stored(await remember_many(kit, owner_id, new, request_key=request_key))
        case ForgetCommand(target=target):
            return await _forget(kit, owner_id, given, target)
        case MemoriesCommand():
            return await _list(kit, owner_id, _read_scopes(given))
        case CommandProblem(message=message):
            return message
        case _:
            assert_never(command)


def _stored(remembered: tuple[Remembered, ...]) -> str:
    return "\n".join(f"{_what_became(one)}: {told(one.memory)}" for one in remembered)


def _what_became(remembered: Remembered) -> str:
    if remembered.created:
        return "Remembered"
    return "Updated" if remembered.updated else "Already remembered, now confirmed"


async def _forget(kit: Kit, owner_id: OwnerId, given: Commanded, target: str) -> str:
    """By id, key or equal text what it names; by words only when exactly one memory fits (several: nothing goes). What
    was erased already leaves nothing to forget: a command sent again must not take the next best.
    """
    found = await _named(kit, owner_id, given, target)
    if not found:
        if await _was_erased(kit, owner_id, given, target):
            return f"{target!r} was forgotten already. Nothing else was removed."
        return f"Nothing that is remembered here fits {target!r}. Nothing was removed."
    if len(found) > 1:
        shown = found[: kit.limits.query_hits]
        listed = [f"- {memory.memory_id}: {told(memory)}" for memory in shown]
        more = [f"… and {len(found) - len(shown)} more"] if len(found) > len(shown) else []
        return "\n".join(["Several memories fit. Nothing was removed; say which, by its id:", *listed, *more])
    erasure = await erase_memories(kit, owner_id, [found[0].memory_id])
    return (
        f"Forgotten: {told(found[0])}\nThis is final in {kit.limits.undo_seconds} seconds; "
        f"until then erasure {erasure.erasure_id} can be undone."
    )


async def _named(kit: Kit, owner_id: OwnerId, given: Commanded, target: str) -> list[Memory]:
    scopes = _read_scopes(given)

    def work(unit: Unit) -> list[Memory]:
        by_id = unit.memories.many([MemoryId(target)]) if _ID.fullmatch(target) else []
        exact = [m for m in by_id if m.scope in scopes]
        for scope in scopes:
            exact += [m for m in (_equal(unit, scope, target, None), _equal(unit, scope, target, target)) if m]
        return exact

    exact = await kit.store.read(owner_id, work, label="command.named")
    # As many as can be had: one that fits and ranks low must not leave another to look like the only one.
    hits = await query_memories(kit, owner_id, Query(text=target, scopes=scopes, limit=kit.limits.query_most))
    # Whomever they are about: the command names nobody.
    exact += [hit.memory for hit in hits.memories if hit.memory.key is None and fold(hit.memory.text) == fold(target)]
    if exact:
        return list({m.memory_id: m for m in exact}.values())
    if await _was_erased(kit, owner_id, given, target):
        return []
    return [hit.memory for hit in hits.memories if _says_all(hit.memory, target)]


async def _was_erased(kit: Kit, owner_id: OwnerId, given: Commanded, target: str) -> bool:
    """Whether a person erased just this, here."""
    scopes = _read_scopes(given)
    return await kit.store.read(
        owner_id,
        lambda unit: any(stone.scope in scopes for stone in unit.erasures.tombstones(text=target, key=None)),
        label="command.buried",
    )


def _read_scopes(given: Commanded) -> tuple[Scope, ...]:
    """Where a command looks: where it writes, then the account, which every bot but a notebook reads too (E1)."""
    alone = given.bot is not None and given.bot.is_notebook
    return tuple(dict.fromkeys((given.scope, *(() if alone else (ACCOUNT_SCOPE,)))))


def _equal(unit: Unit, scope: Scope, text: str, key: str | None) -> Memory | None:
    return unit.memories.equal_to(scope, text=text, key=key)


def _says_all(memory: Memory, target: str) -> bool:
    """Whether every word that was given stands in the memory; a part of what was meant is no match."""
    said = fold(f"{memory.key or ''} {memory.subject} {memory.text}")
    return all(word in said for word in fold(target).split())


async def _list(kit: Kit, owner_id: OwnerId, scopes: Sequence[Scope]) -> str:
    """The newest of each scope, as the prompt shows them, and how many more there are, and where."""
    pages = [
        await list_memories(
            kit, owner_id, scope=scope, shelf=Shelf.ALL, order=Order.UPDATED, limit=kit.limits.page_items
        )
        for scope in scopes
    ]
    listed = [
        f"- {told(view.memory)}{' (pinned)' if view.memory.pinned else ''}{' (archived)' if view.archived else ''}"
        for page in pages
        for view in page.items
    ]
    if not listed:
        return "Nothing is remembered here yet."
    more = await kit.store.read(owner_id, lambda unit: _count(unit, scopes), label="command.counted") - len(listed)
    where = f"… and {more} more: `souvenance memories list` and GET /api/v1/memories have them all."
    return "\n".join([*listed, *([where] if more > 0 else [])])


def _count(unit: Unit, scopes: Sequence[Scope]) -> int:
    counts = [unit.memories.counts(scope) for scope in scopes]
    return sum(one.pinned + one.unpinned + one.archived for one in counts)

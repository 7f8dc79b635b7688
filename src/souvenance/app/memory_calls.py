"""Carry out what a model asks of its memory in mid-reply (V1): finding at once, changes as wishes for the end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from souvenance.app.change_memories import Remove, Replace, Store
from souvenance.app.gather_turn import is_notebook, scopes_read
from souvenance.app.kit import Kit
from souvenance.app.plan_turn import Plan
from souvenance.app.query_memories import Hits, Query, query_memories
from souvenance.app.reply import Call, Reply
from souvenance.app.turn import Noted
from souvenance.domain.conversation import Message
from souvenance.domain.ids import MemoryId, OwnerId
from souvenance.domain.journal import Actor, Content
from souvenance.domain.json_object import JsonObject
from souvenance.domain.memory import Evidence, Memory, Origin, Scope, ScopeKind
from souvenance.domain.prompt import Run
from souvenance.domain.terms import terms
from souvenance.domain.text import clean, clean_key
from souvenance.errors import InputError, StoreError
from souvenance.ports.memories import ChatsWith
from souvenance.prompts import memory_tools, notebook_tools
from souvenance.prompts.memory_tools import BadCall, ForgetCall, MemoryCall, QueryCall, RememberCall, UpdateCall
from souvenance.prompts.notebook_tools import DropCall, KeepCall, NotebookCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the model is told, and what the person is told beside the reply; `memory_id` is the memory that the call is
    about, so that its words in the call can be blanked with it (M14).
    """

    answer: tuple[Run, ...]
    note: Noted | None = None
    memory_id: MemoryId | None = None


async def run_call(kit: Kit, owner_id: OwnerId, plan: Plan, reply: Reply, call: Call) -> Result:
    """Answer one tool call; a bad one gets words to mend it by, and changes nothing."""
    try:
        if is_notebook(plan.opened):
            return _in_notebook(kit, plan, reply, notebook_tools.parse_call(call.name, call.arguments))
        return await _in_memories(kit, owner_id, plan, reply, memory_tools.parse_call(call.name, call.arguments))
    except InputError as e:
        return _refused(e.message)
    except StoreError:
        return _refused("Memory is unavailable right now. Answer without it.")


def store_pair(kit: Kit, plan: Plan, key: str, value: str) -> Store:
    """The wish of a text call (V2): the key gets this value, in the scope that the model writes to (E1)."""
    key = clean_key(key, limit=kit.limits.key_characters)
    value = clean("value", value, limit=kit.limits.value_characters)
    return Store(
        memory_id=MemoryId(kit.ids.new("mem")),
        scope=_scope(plan, plan.policy.write_scopes[0]),
        content=_content(kit, plan, value, key=key),
        terms=tuple(terms(f"{key} {value}")),
    )


def _content(kit: Kit, plan: Plan, text: str, *, key: str | None = None, subject: str = "") -> Content:
    said = plan.opened.message
    source = Evidence(at=said.created_at, conversation_id=said.conversation_id, message_id=said.message_id)
    return Content(
        text=text,
        key=key,
        subject=subject,
        confidence=kit.limits.confidence_model,
        origin=Origin.MODEL,
        evidence=(source,),
    )


def _scope(plan: Plan, kind: ScopeKind) -> Scope:
    return next(scope for scope in scopes_read(plan.policy, plan.opened) if scope.kind is kind)


def _in_notebook(kit: Kit, plan: Plan, reply: Reply, call: NotebookCall) -> Result:
    match call:
        case KeepCall(key=key, value=value):
            wish = store_pair(kit, plan, key, value)
            reply.wishes.append((wish, Actor.MODEL))
            return _accepted("Stored.", wish.memory_id)
        case DropCall(key=key):
            found = next((entry for entry in plan.shown.entries if entry.key == key), None)
            return _forget(reply, found, f"There is no key {key!r} in this memory.")
        case BadCall(reason=reason):
            return _refused(reason)
        case _:
            assert_never(call)


async def _in_memories(kit: Kit, owner_id: OwnerId, plan: Plan, reply: Reply, call: MemoryCall) -> Result:
    match call:
        case RememberCall():
            return _remember(kit, plan, reply, call)
        case UpdateCall(number=number, text=text):
            return _update(kit, plan, reply, number, text)
        case ForgetCall(number=number):
            memory_id = reply.by_number.get(number)
            if memory_id is None:
                return _unknown(number)
            reply.wishes.append((Remove(memory_id=memory_id), Actor.MODEL))
            return _accepted("Forgotten.", memory_id)
        case QueryCall(text=text):
            return await _query(kit, owner_id, plan, reply, text)
        case BadCall(reason=reason):
            return _refused(reason)
        case _:
            assert_never(call)


def _remember(kit: Kit, plan: Plan, reply: Reply, call: RememberCall) -> Result:
    text = clean("text", call.text, limit=kit.limits.memory_characters)
    subject = clean("subject", call.subject, limit=kit.limits.subject_characters) if call.subject else ""
    kinds = plan.policy.write_scopes
    scope = _scope(plan, ScopeKind.CONVERSATION if call.here_only and ScopeKind.CONVERSATION in kinds else kinds[0])
    wish = Store(
        memory_id=MemoryId(kit.ids.new("mem")),
        scope=scope,
        content=_content(kit, plan, text, subject=subject),
        terms=tuple(terms(f"{subject} {text}")),
    )
    reply.wishes.append((wish, Actor.MODEL))
    return _accepted("Stored.", wish.memory_id)


def _update(kit: Kit, plan: Plan, reply: Reply, number: int, text: str) -> Result:
    memory_id = reply.by_number.get(number)
    if memory_id is None:
        return _unknown(number)
    text = clean("text", text, limit=kit.limits.memory_characters)
    wish = Replace(memory_id=memory_id, content=_content(kit, plan, text), terms=tuple(terms(text)))
    reply.wishes.append((wish, Actor.MODEL))
    return _accepted("Updated.", memory_id)


def _forget(reply: Reply, memory: Memory | None, otherwise: str) -> Result:
    if memory is None:
        return _refused(otherwise)
    if memory.pinned:
        return _refused("That one is pinned: only the user can change it.")
    reply.wishes.append((Remove(memory_id=memory.memory_id), Actor.MODEL))
    return _accepted("Forgotten.", memory.memory_id)


async def _query(kit: Kit, owner_id: OwnerId, plan: Plan, reply: Reply, text: str) -> Result:
    query = Query(
        text=text,
        scopes=scopes_read(plan.policy, plan.opened),
        messages=plan.policy.finds_messages,
        chats=ChatsWith(bot_id=plan.opened.conversation.bot_id),
        leave_out=plan.opened.conversation.conversation_id,
        leave_out_from=plan.gathered.move.start,
    )
    hits = await query_memories(kit, owner_id, query)
    await _recall_numbers(kit, owner_id, plan, reply, [hit.memory.memory_id for hit in hits.memories])
    # A query's words are mostly those of what it finds first.
    first = hits.memories[0].memory.memory_id if hits.memories else None
    return Result(answer=_found(reply, hits), memory_id=first)


def _found(reply: Reply, hits: Hits) -> tuple[Run, ...]:
    """The hits as one JSON object, each in a run of its own."""
    memories = [
        Run(text=_json({"id": _number(reply, hit.memory), "text": _words(hit.memory)}), memory_id=hit.memory.memory_id)
        for hit in hits.memories
    ]
    messages = [Run(text=_json(_said(hit.message)), message_id=hit.message.message_id) for hit in hits.messages]
    return (
        Run(text='{"memories": ['),
        *_listed(memories),
        Run(text='], "messages": ['),
        *_listed(messages),
        Run(text="]}"),
    )


def _listed(runs: Sequence[Run]) -> list[Run]:
    return [one for number, run in enumerate(runs) for one in ((Run(text=", "), run) if number else (run,))]


def _said(message: Message) -> JsonObject:
    return {"role": message.role.value, "at": message.created_at.date().isoformat(), "text": message.text}


async def _recall_numbers(
    kit: Kit, owner_id: OwnerId, plan: Plan, reply: Reply, memory_ids: Sequence[MemoryId]
) -> None:
    """Let the hits that were numbered earlier in this conversation keep their numbers."""
    here = plan.opened.conversation.conversation_id
    given = await kit.store.read(owner_id, lambda unit: unit.short_ids.of(here, memory_ids), label="short_ids.read")
    reply.by_number |= {number: memory_id for memory_id, number in given.items()}


def _number(reply: Reply, memory: Memory) -> int | None:
    """The short id of a hit, given now if it has none; a pinned one cannot be changed and has none."""
    if memory.pinned:
        return None
    known = next((n for n, memory_id in reply.by_number.items() if memory_id == memory.memory_id), None)
    if known is None:
        reply.last_number += 1
        known = reply.given[memory.memory_id] = reply.last_number
        reply.by_number[known] = memory.memory_id
    return known


def _words(memory: Memory) -> str:
    about = f"about {memory.subject}: " if memory.subject else ""
    return about + (f"{memory.key}: {memory.text}" if memory.key is not None else memory.text)


def _accepted(words: str, memory_id: MemoryId) -> Result:
    return Result(answer=(Run(text=_json({"ok": True, "note": words})),), memory_id=memory_id)


def _refused(reason: str) -> Result:
    answer = Run(text=_json({"ok": False, "error": reason}))
    return Result(answer=(answer,), note=Noted(kind="refused", text=reason))


def _json(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unknown(number: int) -> Result:
    return _refused(f"No memory [{number}] was shown to you here. Use a number from the list, or memory_query first.")

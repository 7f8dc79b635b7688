"""Carry out what a model asks of its memory in mid-reply (V1): finding at once, changes as wishes for the end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import assert_never

from souvenance.app.change_memories import Remove, Replace, Store, Wish
from souvenance.app.gather_turn import is_notebook, scopes_read, scopes_to_change
from souvenance.app.kit import Kit
from souvenance.app.organisation_memory import find_in_organisation, joined
from souvenance.app.plan_turn import Plan
from souvenance.app.query_memories import Hits, Query, query_memories
from souvenance.app.reply import Call, Reply
from souvenance.app.stand_in import see
from souvenance.app.turn import Noted
from souvenance.domain.conversation import Message
from souvenance.domain.ids import MemoryId, OwnerId
from souvenance.domain.journal import Actor, Content
from souvenance.domain.json_object import JsonObject
from souvenance.domain.memory import Evidence, Memory, Origin, Scope, ScopeKind
from souvenance.domain.memory_lines import line
from souvenance.domain.prompt import Run
from souvenance.domain.terms import terms
from souvenance.domain.text import clean, clean_key
from souvenance.errors import InputError, StoreError
from souvenance.ports.memories import ChatsWith
from souvenance.prompts import memory_tools, notebook_tools
from souvenance.prompts.memory_tools import BadCall, ForgetCall, MemoryCall, QueryCall, RememberCall, UpdateCall
from souvenance.prompts.notebook_tools import DropCall, KeepCall, NotebookCall

WritingCall = RememberCall | UpdateCall | ForgetCall | KeepCall | DropCall | BadCall


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
    asked = _parsed(plan, call)
    try:
        if isinstance(asked, QueryCall):
            return await _query(kit, owner_id, plan, reply, asked.text)
        return _wished(kit, plan, reply, asked)
    except InputError as e:
        return _refused(e.message)
    except StoreError:
        return _refused("Memory is unavailable right now. Answer without it.")


def wish_of_call(kit: Kit, plan: Plan, reply: Reply, call: Call) -> None:
    """Take in a call of a reply that broke off, if it came whole (T6); nobody is left to be answered, so a bad one and
    a query do nothing.
    """
    asked = _parsed(plan, call)
    if memory_tools.is_complete(call.arguments) and not isinstance(asked, QueryCall):
        with suppress(InputError):
            _wished(kit, plan, reply, asked)


def _parsed(plan: Plan, call: Call) -> MemoryCall | NotebookCall:
    parse = notebook_tools.parse_call if is_notebook(plan.opened) else memory_tools.parse_call
    return parse(call.name, call.arguments)


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


def _wished(kit: Kit, plan: Plan, reply: Reply, call: WritingCall) -> Result:
    """What the model wants changed, as a wish of its reply."""
    match call:
        case KeepCall(key=key, value=value):
            return _accept(reply, store_pair(kit, plan, key, value), "Stored.")
        case DropCall(key=key):
            return _drop(plan, reply, key)
        case RememberCall():
            return _remember(kit, plan, reply, call)
        case UpdateCall(number=number, text=text):
            return _update(kit, plan, reply, number, text)
        case ForgetCall(number=number):
            memory_id = reply.by_number.pop(number, None)
            return _unknown(number) if memory_id is None else _accept(reply, Remove(memory_id=memory_id), "Forgotten.")
        case BadCall(reason=reason):
            return _refused(reason)
        case _:
            assert_never(call)


def _drop(plan: Plan, reply: Reply, key: str) -> Result:
    """Take a key out: the entry that is there, and what this reply itself wished to keep under it."""
    found = next((entry for entry in plan.shown.entries if entry.key == key), None)
    if found is not None and found.pinned:
        return _refused("That one is pinned: only the user can change it.")
    kept = [one for one in reply.wishes if not (isinstance(one[0], Store) and one[0].content.key == key)]
    wished_here = len(kept) < len(reply.wishes)
    reply.wishes[:] = kept
    if found is not None and found.memory_id not in reply.gone:
        return _accept(reply, Remove(memory_id=found.memory_id), "Forgotten.")
    return _accepted("Forgotten.") if wished_here else _refused(f"There is no key {key!r} in this memory.")


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
    return _accept(reply, wish, "Stored.")


def _update(kit: Kit, plan: Plan, reply: Reply, number: int, text: str) -> Result:
    memory_id = reply.by_number.get(number)
    if memory_id is None:
        return _unknown(number)
    text = clean("text", text, limit=kit.limits.memory_characters)
    wish = Replace(memory_id=memory_id, content=_content(kit, plan, text), terms=tuple(terms(text)))
    return _accept(reply, wish, "Updated.")


async def _query(kit: Kit, owner_id: OwnerId, plan: Plan, reply: Reply, text: str) -> Result:
    query = Query(
        text=text,
        scopes=scopes_read(plan.policy, plan.opened),
        messages=plan.policy.finds_messages,
        chats=ChatsWith(bot_id=None if plan.opened.bot is None else plan.opened.bot.bot_id),
        leave_out=plan.opened.conversation.conversation_id,
        leave_out_from=plan.gathered.window.move.start,
    )
    own = await _find_own(kit, owner_id, plan, query) if query.scopes else Hits(legs={"words": "ok"})
    of_others = await find_in_organisation(kit, plan.policy, plan.opened, text)
    reply.of_others.update(hit.memory.memory_id for hit in of_others.memories)
    found = joined([own, of_others], most=kit.limits.query_hits)
    hits = replace(found, memories=tuple(hit for hit in found.memories if hit.memory.memory_id not in reply.gone))
    changeable = [hit.memory.memory_id for hit in hits.memories if _may_change(plan, hit.memory)]
    await _recall_numbers(kit, owner_id, plan, reply, changeable)
    # A query's words are mostly those of what it finds first.
    first = hits.memories[0].memory.memory_id if hits.memories else None
    return Result(answer=_found(plan, reply, hits), memory_id=first)


async def _find_own(kit: Kit, owner_id: OwnerId, plan: Plan, query: Query) -> Hits:
    return await query_memories(
        kit, owner_id, query, read=lambda work: see(kit, owner_id, plan.opened, work, label="memories.queried")
    )


def _found(plan: Plan, reply: Reply, hits: Hits) -> tuple[Run, ...]:
    """The hits as one JSON object, each in a run of its own."""
    memories = [
        Run(
            text=_json({"id": _number(plan, reply, hit.memory), "text": _words(hit.memory)}),
            memory_id=hit.memory.memory_id,
        )
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


def _may_change(plan: Plan, memory: Memory) -> bool:
    """V1: what is not pinned, and no other member's."""
    return not memory.pinned and memory.scope in scopes_to_change(plan.policy, plan.opened)


def _number(plan: Plan, reply: Reply, memory: Memory) -> int | None:
    """The short id of a hit, given now if it has none; what cannot be changed has none."""
    if not _may_change(plan, memory):
        return None
    known = next((n for n, memory_id in reply.by_number.items() if memory_id == memory.memory_id), None)
    if known is None:
        reply.last_number += 1
        known = reply.given[memory.memory_id] = reply.last_number
        reply.by_number[known] = memory.memory_id
    return known


def _words(memory: Memory) -> str:
    """As in a block's line, so that what is found poses as nothing else either (M12)."""
    return line(memory).removeprefix("- ")


def _accept(reply: Reply, wish: Wish, words: str) -> Result:
    reply.wishes.append((wish, Actor.MODEL))
    return _accepted(words, wish.memory_id)


def _accepted(words: str, memory_id: MemoryId | None = None) -> Result:
    return Result(answer=(Run(text=_json({"ok": True, "note": words})),), memory_id=memory_id)


def _refused(reason: str) -> Result:
    answer = Run(text=_json({"ok": False, "error": reason}))
    return Result(answer=(answer,), note=Noted(kind="refused", text=reason))


def _json(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unknown(number: int) -> Result:
    return _refused(f"No memory [{number}] was shown to you here. Use a number from the list, or memory_query first.")

"""The messages of a request in their order: what changes seldom first, the newest user message last (C6)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from souvenance.app.gather_turn import is_notebook
from souvenance.app.kit import Kit
from souvenance.app.open_turn import OpenedTurn
from souvenance.app.show_memories import Shown
from souvenance.app.summary_block import Section, summary_runs
from souvenance.app.turn import TurnRequest
from souvenance.domain.block import CLOSING, OPENING, entry_line
from souvenance.domain.budget import MESSAGE_OVERHEAD
from souvenance.domain.conversation import Message, Role, WindowMessage
from souvenance.domain.group import USER, name_before, name_of
from souvenance.domain.json_object import JsonObject
from souvenance.domain.memory_lines import block_runs
from souvenance.domain.policy import Policy
from souvenance.domain.prompt import AsSent, Piece, Run, Said, wire_of
from souvenance.prompts import memory_notes, memory_tools, notebook_tools, summary_notes
from souvenance.prompts.go_on import GO_ON

_USER = Role.USER
_OF_USER: JsonObject = {"role": "user"}
_OF_ASSISTANT: JsonObject = {"role": "assistant"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What goes upstream: every field but the messages, and the messages. `layers` are estimated tokens by layer;
    `our_tools` and `their_tools` name what is offered, ours and the client's.
    """

    head: JsonObject
    pieces: tuple[Piece, ...]
    layers: Mapping[str, int]
    our_tools: frozenset[str] = field(default_factory=frozenset)
    their_tools: frozenset[str] = field(default_factory=frozenset)

    def is_ours(self, tool: str) -> bool:
        """Whether a call of this tool is ours to answer: a name that nobody offered is, where we offer any."""
        return bool(tool) and bool(self.our_tools) and tool not in self.their_tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What was decided for a request: who speaks, what may be done, what is shown, and what of it stays (`kept` names
    memories by id and turns by position, as `plan_turn` does).
    """

    opened: OpenedTurn
    policy: Policy
    messages: Sequence[WindowMessage]
    summary: Sequence[Section]
    shown: Shown
    kept: frozenset[str]


def lay_out(kit: Kit, request: TurnRequest, draft: Draft) -> Layout:
    """The request, without what gave way."""
    opened, kept = draft.opened, draft.kept
    ours = our_tools(kit, draft.policy, opened)
    window = [
        _said(opened, message)
        for message in draft.messages
        if message.position < opened.turn.position and str(message.position) in kept and message.text.strip()
    ]
    pieces = [
        *_system(request, opened, draft.policy, _remembered(draft)),
        *window,
        *_since(draft.shown, kept),
        *_end(request, opened),
    ]
    return Layout(
        head=_head(request, opened, ours),
        pieces=tuple(pieces),
        layers=_layers(kit, pieces, ours, request),
        our_tools=frozenset(str(tool["function"]["name"]) for tool in ours) - _names(request.tools),
        their_tools=_names(request.tools),
    )


def _remembered(draft: Draft) -> list[Run]:
    """What ends the system prompt, what changes seldom first: a compaction adds to the latest part of the summary,
    and usually adds lines to the end of the memory block (C6). A notebook's block is the end of all (K2).
    """
    summary = summary_runs(draft.summary, draft.kept)
    memory = memory_runs(draft.opened, draft.shown, draft.kept)
    runs: list[Run] = []
    ending = (summary.latest, memory) if is_notebook(draft.opened) else (memory, summary.latest)
    for block in (summary.settled, *ending):
        runs += [Run(text="\n\n"), *block] if runs and block else block
    return runs


def our_tools(kit: Kit, policy: Policy, opened: OpenedTurn) -> tuple[JsonObject, ...]:
    """The memory tools that this turn offers its model (V1)."""
    if is_notebook(opened):
        return notebook_tools.tools(kit.limits) if policy.model_tools else ()
    writing = memory_tools.writing(kit.limits, session_scope=len(policy.write_scopes) > 1)
    return (*(writing if policy.model_tools else ()), *(memory_tools.FINDING if policy.model_queries else ()))


def fixed_tokens(kit: Kit, request: TurnRequest, opened: OpenedTurn, policy: Policy) -> int:
    """Estimated tokens of what never gives way: system prompt, newest user message, tools, and the client's tail."""
    notes = memory_notes.ABOUT + memory_notes.CHANGES + summary_notes.RULES
    if opened.conversation.summarised_to >= 0:
        notes += summary_notes.ABOUT + summary_notes.LATEST
    pieces = [
        *_system(request, opened, policy, [Run(text=notes)]),
        *_end(request, opened),
    ]
    return sum(_layers(kit, pieces, our_tools(kit, policy, opened), request).values())


def _end(request: TurnRequest, opened: OpenedTurn) -> list[Piece]:
    """From the newest user message on: what was said since, the note to go on with it, the client's own tail."""
    note = Run(text=GO_ON)
    return [
        newest(request, opened),
        *(_said(opened, message) for message in opened.heard if message.text.strip()),
        *([Said(layer="newest", fields={"role": "user"}, runs=(note,))] if opened.continues is not None else []),
        *(AsSent(layer="tail", wire=wire) for wire in request.tail),
    ]


def newest(request: TurnRequest, opened: OpenedTurn) -> Piece:
    """The user message that is answered, as the client sent it where it did."""
    message = opened.message
    if request.user_message is not None:
        return AsSent(layer="newest", wire=request.user_message, message_id=message.message_id)
    return Said(layer="newest", fields={"role": "user"}, runs=_words(opened, message))


def memory_runs(opened: OpenedTurn, shown: Shown, kept: frozenset[str]) -> list[Run]:
    """The memory block with the sentence that stands before it; nothing when nothing is remembered."""
    if is_notebook(opened):
        block = _notebook_runs(shown, kept)
    else:
        block = block_runs([line for line in shown.lines if line.memory_id in kept])
    return [Run(text=memory_notes.ABOUT + "\n"), *block] if block else []


def _notebook_runs(shown: Shown, kept: frozenset[str]) -> list[Run]:
    """K2's block, each entry a run of its own."""
    entries = [entry for entry in shown.entries if entry.memory_id in kept]
    if not entries:
        return []
    runs = [Run(text=OPENING + "\n")]
    for entry in entries:
        runs.append(Run(text=entry_line(entry.key or "", entry.text), memory_id=entry.memory_id))
        runs.append(Run(text="\n"))
    return [*runs, Run(text=CLOSING)]


def _system(request: TurnRequest, opened: OpenedTurn, policy: Policy, memory: Sequence[Run]) -> list[Piece]:
    """The bot's words, the client's system messages whole, and at the very end what is remembered."""
    told = [] if opened.bot is None or not opened.bot.system_prompt else [opened.bot.system_prompt]
    if opened.persona is not None:
        told.append(memory_notes.PERSONA.format(name=opened.persona.name) + f" {opened.persona.description}".rstrip())
    if opened.conversation.is_group and opened.bot is not None:
        told.append(memory_notes.GROUP.format(name=opened.bot.name))
    if policy.text_calls:
        told.append(memory_notes.TEXT_CALLS)
    words = [Run(text="\n\n".join(told))] if told else []
    gap = [Run(text="\n\n")] if memory else []
    if not request.system:
        runs = [*words, *(gap if words else []), *memory]
        return [Said(layer="system", fields={"role": "system"}, runs=tuple(runs))] if runs else []
    *before, last = request.system
    pieces: list[Piece] = [AsSent(layer="system", wire=wire) for wire in before]
    if words:
        pieces.insert(0, Said(layer="system", fields={"role": "system"}, runs=tuple(words)))
    content = last.get("content")
    if not memory or not isinstance(content, (str, list)):
        return [*pieces, AsSent(layer="system", wire=last), *_apart(memory)]
    others = {name: value for name, value in last.items() if name != "content"}
    runs = [*(gap if isinstance(content, str) else []), *memory]
    return [*pieces, Said(layer="system", fields=others, before=content, runs=tuple(runs))]


def _apart(memory: Sequence[Run]) -> list[Piece]:
    return [Said(layer="system", fields={"role": "system"}, runs=tuple(memory))] if memory else []


def _said(opened: OpenedTurn, message: Message | WindowMessage) -> Piece:
    """A message as it stands before the newest; in a group only the speaker's own lines are the assistant's (M7)."""
    theirs = message.role is _USER or (opened.conversation.is_group and not _is_own(opened, message))
    return Said(layer="window", fields=_OF_USER if theirs else _OF_ASSISTANT, runs=_words(opened, message))


def _words(opened: OpenedTurn, message: Message | WindowMessage) -> tuple[Run, ...]:
    """A message's text; in a group the name of whoever said it stands before, but for the speaker's own."""
    run = message.run if isinstance(message, WindowMessage) else _run_of(message)
    if not opened.conversation.is_group or _is_own(opened, message):
        return (run,)
    names = {member.bot_id: member.name for member in opened.members}
    user = opened.persona.name if opened.persona is not None else USER
    return Run(text=name_before(name_of(message.role, message.bot_id, names, user=user))), run


def _run_of(message: Message) -> Run:
    return Run(text=message.text, message_id=message.message_id)


def _is_own(opened: OpenedTurn, message: Message | WindowMessage) -> bool:
    return message.role is Role.BOT and opened.bot is not None and message.bot_id == opened.bot.bot_id


def _since(shown: Shown, kept: frozenset[str]) -> list[Piece]:
    """The "since then" list, just before the newest user message."""
    listed = [(memory_id, text) for memory_id, text in shown.since if text and f"since {memory_id}" in kept]
    if not listed:
        return []
    runs = [Run(text=memory_notes.CHANGES + "\n<memory_changes>\n")]
    for memory_id, text in listed:
        runs += [Run(text=text, memory_id=memory_id), Run(text="\n")]
    runs.append(Run(text="</memory_changes>"))
    return [Said(layer="since", fields={"role": "system"}, runs=tuple(runs))]


def _head(request: TurnRequest, opened: OpenedTurn, ours: Sequence[JsonObject]) -> JsonObject:
    """Every field but the messages: the client's own, untouched, and ours; the reported usage is always asked for."""
    head: dict[str, Any] = {"model": "" if opened.model is None else opened.model.name, **request.fields}
    theirs = _names(request.tools)
    tools = [*request.tools, *(tool for tool in ours if tool["function"]["name"] not in theirs)]
    if tools:
        head["tools"] = tools
    head["stream"] = request.stream
    if request.stream:
        asked = request.fields.get("stream_options")
        head["stream_options"] = {**(asked if isinstance(asked, Mapping) else {}), "include_usage": True}
    return head


def tool_name(tool: JsonObject) -> str:
    """What a tool on the wire is called; "" for one that is no function, which goes on as the client sent it."""
    function = tool.get("function")
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else ""


def _names(tools: Sequence[JsonObject]) -> frozenset[str]:
    return frozenset(map(tool_name, tools)) - {""}


def _layers(kit: Kit, pieces: Sequence[Piece], ours: Sequence[JsonObject], request: TurnRequest) -> dict[str, int]:
    layers: defaultdict[str, int] = defaultdict(int)
    for piece in pieces:
        layers[piece.layer] += MESSAGE_OVERHEAD
        if not isinstance(piece, Said):
            layers[piece.layer] += _tokens_of_wire(kit, wire_of(piece))
            continue
        layers[piece.layer] += _tokens_of_content(kit, piece.before)
        # A memory's words in the system prompt are memory's.
        own = "memories" if piece.layer == "system" else piece.layer
        for run in piece.runs:
            layers[run.layer or (piece.layer if run.memory_id is None else own)] += kit.tokenizer.count(run.text)
    tools = [*request.tools, *ours]
    if tools:
        layers["tools"] = kit.tokenizer.count(json.dumps(tools, ensure_ascii=False))
    return layers


def _tokens_of_wire(kit: Kit, wire: JsonObject) -> int:
    """The tokens of a client's message: its content, and its tool calls and other fields as they are written."""
    others = {name: value for name, value in wire.items() if name not in {"role", "content"}}
    written = kit.tokenizer.count(json.dumps(others, ensure_ascii=False)) if others else 0
    return written + _tokens_of_content(kit, wire.get("content"))


def _tokens_of_content(kit: Kit, content: object) -> int:
    """Text counts as text; a part of any other kind, such as a picture, has one figure whatever its data (W7)."""
    if isinstance(content, str):
        return kit.tokenizer.count(content)
    if not isinstance(content, Sequence):
        return 0
    texts = [part.get("text") if isinstance(part, Mapping) else None for part in content]
    return sum(kit.tokenizer.count(text) if isinstance(text, str) else kit.limits.part_tokens for text in texts)

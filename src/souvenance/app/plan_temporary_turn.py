"""What a temporary chat sends to its model: the speaker's words and the window of what was said, no memory (O4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from souvenance.app.adopt_history import visible
from souvenance.app.choose_model import choose, models_at_hand
from souvenance.app.conversations import NewConversation, make_conversation
from souvenance.app.gather_turn import Sizes
from souvenance.app.kit import Kit
from souvenance.app.lay_out import Draft, Layout, lay_out
from souvenance.app.off_loop import off_loop
from souvenance.app.open_turn import OpenedTurn
from souvenance.app.plan_turn import policy_of, sizes_of
from souvenance.app.show_memories import Shown
from souvenance.app.turn import InConversation, TurnRequest
from souvenance.app.turn_sizes import turn_sizes
from souvenance.domain.bot import Bot, Persona
from souvenance.domain.budget import MESSAGE_OVERHEAD
from souvenance.domain.commands import parse_command
from souvenance.domain.conversation import Flags, Message, Role, Turn, TurnState, WindowMessage
from souvenance.domain.cost import Calibration
from souvenance.domain.fit import Item, Layer, fit
from souvenance.domain.ids import BotId, ConversationId, MessageId, OwnerId, PersonaId, TurnId
from souvenance.domain.json_object import JsonObject
from souvenance.domain.limits import Level
from souvenance.domain.text import clean
from souvenance.domain.window import TurnSize, bounds, drop
from souvenance.errors import MemoryIsOff, NoModel, StoreError
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.store import Unit

_NO_MEMORY = Shown(epoch=None, new_epoch=False, lines=(), entries=(), since=(), by_number={}, given={}, last_number=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporaryTurn:
    """A user message of a chat that is kept nowhere; `history` is what was said before it, oldest first.

    Without a bot a bare model answers. `system`, `user_message`, `tail`, `tools` and `fields` are the client's own wire
    objects and go on untouched.
    """

    text: str
    bot_id: BotId | None = None
    persona_id: PersonaId | None = None
    model: str | None = None
    history: tuple[tuple[Role, str], ...] = ()
    system: tuple[JsonObject, ...] = ()
    user_message: JsonObject | None = None
    tail: tuple[JsonObject, ...] = ()
    tools: tuple[JsonObject, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporaryPlan:
    """A temporary turn ready to be asked. `dropped` counts the messages that passed the window; `memory_unavailable`
    says that the store could not even tell who speaks.
    """

    model: ModelInfo
    layout: Layout
    calibration: Calibration
    dropped: int
    memory_unavailable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the store knows of a turn; all as it is by default where the store does not answer."""

    bot: Bot | None = None
    persona: Persona | None = None
    level: Level = Level.BALANCED
    calibration: Calibration = field(default_factory=Calibration)
    unavailable: bool = False


async def plan_temporary_turn(kit: Kit, owner_id: OwnerId, asked: TemporaryTurn) -> TemporaryPlan:
    """Read who speaks, and decide what is sent. Nothing is stored.

    Raises InputError, NotFound, MemoryIsOff for a command, UnknownModel, NoModel, and PromptTooLarge when not even the
    newest message fits (W5).
    """
    clean("text", asked.text, limit=kit.limits.message_characters)
    for place, (_, text) in enumerate(asked.history):
        if text.strip():  # However long: what is too long for the window is dropped.
            clean(f"history.{place}.text", text, limit=len(text))
    known = await _known(kit, owner_id, asked)
    _refuse_command(kit, asked, known)
    shelf = await models_at_hand(kit, asked=asked.model)
    model = choose(shelf, asked=asked.model, conversation=None, bot=known.bot)
    if model is None:
        raise NoModel
    known = await _with_calibration(kit, owner_id, known, model)
    size = len(asked.text) + sum(len(text) for _, text in asked.history)
    return await off_loop(size, lambda: _plan(kit, asked, known, model))


async def _known(kit: Kit, owner_id: OwnerId, asked: TemporaryTurn) -> _Known:
    def work(unit: Unit) -> _Known:
        bot = None if asked.bot_id is None else unit.bots.get(asked.bot_id)
        return _Known(
            bot=bot,
            persona=None if asked.persona_id is None else unit.personas.get(asked.persona_id),
            level=(None if bot is None else unit.levels.get(bot.bot_id)) or Level.BALANCED,
        )

    try:
        return await kit.store.read(owner_id, work, label="temporary.read")
    except StoreError:
        return _Known(unavailable=True)


async def _with_calibration(kit: Kit, owner_id: OwnerId, known: _Known, model: ModelInfo) -> _Known:
    try:
        learnt = await kit.store.read(
            owner_id, lambda unit: unit.calibrations.get(model.name), label="temporary.calibration_read"
        )
    except StoreError:
        return known
    return replace(known, calibration=learnt)


def _refuse_command(kit: Kit, asked: TemporaryTurn, known: _Known) -> None:
    notebook = known.bot is not None and known.bot.is_notebook
    if parse_command(asked.text, notebook=notebook, limits=kit.limits) is None:
        return
    chosen = policy_of(kit, _opened(kit, asked, known, None), offer_tools=True)
    if not chosen.commands:
        raise MemoryIsOff("a memory command", chosen.command_refusal)


def _plan(kit: Kit, asked: TemporaryTurn, known: _Known, model: ModelInfo) -> TemporaryPlan:
    messages = _in_turns(kit, visible(asked.history))
    opened = _opened(kit, asked, known, model, position=messages[-1].position + 1 if messages else 0)
    request = _request(asked, opened)
    chosen = policy_of(kit, opened, offer_tools=True)
    kept = _kept(kit, known, opened, messages, sizes_of(kit, request, opened, chosen))
    draft = Draft(opened=opened, policy=chosen, messages=messages, summary=(), shown=_NO_MEMORY, kept=kept)
    return TemporaryPlan(
        model=model,
        layout=lay_out(kit, request, draft),
        calibration=known.calibration,
        dropped=sum(str(message.position) not in kept for message in messages),
        memory_unavailable=known.unavailable,
    )


def _kept(
    kit: Kit, known: _Known, opened: OpenedTurn, messages: Sequence[WindowMessage], sizes: Sizes
) -> frozenset[str]:
    """The positions of the turns that are sent before the newest message (W1, W5, W7); PromptTooLarge."""
    corrected = known.calibration.corrector()
    fixed, newest = corrected(sizes.fixed), corrected(opened.message.tokens)
    turns = turn_sizes(messages, known.calibration)
    window = [*turns, TurnSize(position=opened.turn.position, messages=1, tokens=newest)]
    # The newest message is both of the window and fixed, and counts once.
    most = max(0, sizes.room - fixed + newest)
    start = drop(window, bounds(known.level, kit.limits, sizes.context), kit.limits, most_tokens=most)
    items = [
        Item(
            layer=Layer.WINDOW,
            item=str(turn.position),
            tokens=turn.tokens + corrected(turn.messages * MESSAGE_OVERHEAD),
            age=-turn.position,
        )
        for turn in turns
        if turn.position >= start
    ]
    before = [item.item for item in items[-1:]]
    fitted = fit(items, fixed=fixed, room=sizes.room, context=sizes.context, keep=before)
    return frozenset(item.item for item in fitted.kept)


def _in_turns(kit: Kit, said: Sequence[tuple[Role, str]]) -> list[WindowMessage]:
    """The history as a window has it: a user message opens a turn, what follows until the next answers it."""
    messages: list[WindowMessage] = []
    position = -1
    for role, text in said:
        position += role is Role.USER or position < 0
        tokens = kit.tokenizer.count(text)
        messages.append(
            WindowMessage(message_id=MessageId(""), position=position, role=role, bot_id=None, text=text, tokens=tokens)
        )
    return messages


def _opened(kit: Kit, asked: TemporaryTurn, known: _Known, model: ModelInfo | None, *, position: int = 0) -> OpenedTurn:
    """The turn as every other one is opened, in a conversation that is only made up and has no id."""
    now, nobody = kit.clock.now(), ConversationId("")
    made = make_conversation(NewConversation(bot_id=asked.bot_id), nobody, now)
    turn = Turn(turn_id=TurnId(""), conversation_id=nobody, position=position, state=TurnState.OPEN, created_at=now)
    message = Message(
        message_id=MessageId(""),
        conversation_id=nobody,
        turn_id=turn.turn_id,
        position=position,
        part=0,
        role=Role.USER,
        origin_id=MessageId(""),
        text=asked.text,
        tokens=kit.tokenizer.count(asked.text),
        created_at=now,
    )
    return OpenedTurn(
        conversation=replace(made, flags=Flags(temporary=True)),
        bot=known.bot,
        persona=known.persona,
        model=model,
        turn=turn,
        message=message,
    )


def _request(asked: TemporaryTurn, opened: OpenedTurn) -> TurnRequest:
    return TurnRequest(
        address=InConversation(conversation_id=opened.conversation.conversation_id),
        text=asked.text,
        model=asked.model,
        system=asked.system,
        user_message=asked.user_message,
        tail=asked.tail,
        tools=asked.tools,
        fields=asked.fields,
        stream=asked.stream,
    )

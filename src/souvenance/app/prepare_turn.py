"""A turn for those who call the model themselves (I1): `prepare` gives the messages, `record` takes the reply."""

from __future__ import annotations

from dataclasses import dataclass, field

from souvenance.app.check_size import check_size
from souvenance.app.choose_model import model_asked, models_at_hand
from souvenance.app.kit import Kit
from souvenance.app.memory_calls import store_pair
from souvenance.app.open_turn import open_turn
from souvenance.app.plan_turn import Plan, plan_turn
from souvenance.app.reply import Reply, Round
from souvenance.app.settle_turn import Settled, settle_turn
from souvenance.app.speak_and_settle import note_of
from souvenance.app.turn import Done, Noted, TurnRequest
from souvenance.domain.conversation import Conversation, Message, Turn
from souvenance.domain.ids import OwnerId
from souvenance.domain.journal import Actor
from souvenance.domain.json_object import JsonObject
from souvenance.domain.prompt import Assembled, assemble
from souvenance.domain.split_pairs import whole
from souvenance.domain.text_calls import split_calls
from souvenance.ports.chat_model import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What to send to the model, and the open turn to record its reply in. `text_calls` of a reply are carried out by
    `record`; the memory tools are not offered here.
    """

    conversation: Conversation
    turn: Turn
    message: Message
    messages: tuple[JsonObject, ...]
    model: str
    tokens: int
    plan: Plan = field(repr=False)
    asked: Assembled = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The stored reply as the person should see it: `text` is without text calls."""

    done: Done
    text: str
    notes: tuple[Noted, ...]


async def prepare(kit: Kit, owner_id: OwnerId, request: TurnRequest) -> Prepared:
    """Store the user's message and build the prompt. Raises what `open_turn` and `plan_turn` raise."""
    shelf = await models_at_hand(kit, asked=model_asked(request))
    opened = await open_turn(
        kit, owner_id, request, shelf, lambda unit, opened: check_size(unit, kit, request, opened, offer_tools=False)
    )
    plan = await plan_turn(kit, owner_id, request, opened, offer_tools=False)
    asked = assemble(plan.layout.head, plan.layout.pieces)
    return Prepared(
        conversation=opened.conversation,
        turn=opened.turn,
        message=opened.message,
        messages=asked.messages,
        model=str(plan.layout.head["model"]),
        tokens=plan.fitted.tokens,
        plan=plan,
        asked=asked,
    )


async def record(
    kit: Kit,
    owner_id: OwnerId,
    prepared: Prepared,
    reply: str,
    *,
    tokens_in: int | None = None,
    tokens_out: int | None = None,
    cut_off: bool = False,
) -> Recorded:
    """Store the reply with what its text calls say; TurnSuperseded when the turn was answered meanwhile.

    Tokens are the model's own counts, if it reported them.
    """
    plan, reply = prepared.plan, whole(reply)
    text, calls = split_calls(reply, kit.limits) if plan.policy.text_calls else (reply, ())
    wishes = [(store_pair(kit, plan, call.key, call.value), Actor.TEXT_CALL) for call in calls]
    usage = None if tokens_in is None else Usage(tokens_in=tokens_in, tokens_out=tokens_out or 0)
    told = Round(asked=prepared.asked, estimated_in=sum(plan.layout.layers.values()), text=[reply], usage=usage)
    spoken = Reply(shown=[text], wishes=[*wishes], rounds=[told], given=dict(plan.shown.given), finish="stop")
    settled = await settle_turn(kit, owner_id, plan, spoken, cut_off=cut_off)
    done = Done(
        turn=settled.turn,
        message=settled.message,
        finish="cut_off" if cut_off else "stop",
        model=prepared.model,
        tokens_in=tokens_in or prepared.tokens,
        tokens_out=_tokens_out(plan, settled) if tokens_out is None else tokens_out,
        estimated=tokens_in is None,
        saved=settled.saved,
    )
    notes = tuple(note for outcome in settled.outcomes if (note := note_of(outcome)) is not None)
    return Recorded(done=done, text=text if settled.message is None else settled.message.text, notes=notes)


def _tokens_out(plan: Plan, settled: Settled) -> int:
    """The estimate for a reply whose model reported nothing (C5)."""
    return 0 if settled.message is None else plan.gathered.window.calibration.corrected(settled.message.tokens)

"""What writing a summary anew would cost, before anything is sent (S7, C4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from souvenance.app.begin_window import level_of
from souvenance.app.choose_model import context_of
from souvenance.app.choose_summariser import choose_summariser
from souvenance.app.expect_nodes import expected_nodes, question_sizes
from souvenance.app.kit import Kit
from souvenance.app.look_at_rebuild import Talk, end_of, talk_of
from souvenance.app.off_loop import off_loop
from souvenance.app.turn_sizes import turn_sizes
from souvenance.domain.conversation import MessageSize
from souvenance.domain.cost import Calibration
from souvenance.domain.ids import ConversationId, OwnerId
from souvenance.domain.limits import Level
from souvenance.domain.rebuild_plan import Cost, Planned, cost_of_rebuild
from souvenance.domain.summary import Node, Rule
from souvenance.domain.window import bounds
from souvenance.errors import NotFound, NothingToRebuild
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.store import Unit

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The cost of a rebuild at `level` of the turns up to position `up_to`: `messages` in `steps` of which each asks
    `model` once; "" for none: then it costs nothing. Out are the most tokens that come back, `price` of all at most,
    None where the model's is not known. `edited` nodes will be discarded.
    """

    level: Level
    up_to: int
    messages: int
    steps: int
    tokens_in: int
    tokens_out: int
    model: str
    price: float | None
    edited: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    level: Level
    up_to: int
    sizes: Sequence[MessageSize]
    nodes: Sequence[Node]
    rules: Sequence[Rule]
    speaking: Calibration
    writing: Calibration


async def estimate_rebuild(
    kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, *, level: Level | None = None
) -> Estimate:
    """The cost at `level`, at the conversation's own when it is None.

    Raises NothingToRebuild, UnknownModel, NotFound.
    """
    talk = await talk_of(kit, owner_id, conversation_id)
    if talk is None:
        raise NotFound("conversation", conversation_id)
    writer = await choose_summariser(kit, conversation=talk.conversation, bot=talk.speaker)
    read = await kit.store.read(owner_id, lambda unit: _read(unit, talk, writer, level), label="rebuild.estimate_read")
    cost = await off_loop(len(read.sizes) * 100, lambda: _cost(kit, talk, writer, read))
    tokens_in = 0 if writer is None else read.writing.corrected(ceil(cost.tokens_in))
    tokens_out = 0 if writer is None else cost.tokens_out
    return Estimate(
        level=read.level,
        up_to=read.up_to,
        messages=len(read.sizes),
        steps=cost.steps,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        model="" if writer is None else writer.name,
        price=_price(writer, tokens_in, tokens_out),
        edited=sum(node.edited for node in read.nodes),
    )


def _read(unit: Unit, talk: Talk, writer: ModelInfo | None, level: Level | None) -> _Read:
    here = talk.conversation.conversation_id
    conversation = unit.conversations.get(here)
    up_to = end_of(unit, conversation, max(conversation.summarised_to, conversation.window_start - 1))
    sizes = unit.messages.sizes(here, up_to) if up_to >= 0 else []
    if not sizes:
        raise NothingToRebuild(here)
    speaking, writing = talk.model, writer
    return _Read(
        level=level or level_of(unit, conversation),
        up_to=up_to,
        sizes=sizes,
        nodes=[node for node in unit.summaries.all(here) if node.first <= up_to],
        rules=unit.summaries.rules(here),
        speaking=unit.calibrations.get("" if speaking is None else speaking.name),
        writing=unit.calibrations.get("" if writing is None else writing.name),
    )


def _cost(kit: Kit, talk: Talk, writer: ModelInfo | None, read: _Read) -> Cost:
    limits, count = kit.limits, kit.tokenizer.count
    name = talk.speaker.name if talk.speaker is not None else "bot"
    context = context_of(writer, limits)
    planned = Planned(
        turns=turn_sizes(read.sizes, read.speaking),
        raw=1 / read.speaking.factor,
        rules=[
            (min(source.spot.position for source in rule.sources), count(rule.text))
            for rule in read.rules
            if rule.in_force
        ],
        level=read.level,
        window=bounds(read.level, limits, context_of(talk.model, limits)),
        questions=question_sizes(kit, read.level, name, context=context, factor=read.writing.factor),
        expected=expected_nodes(read.nodes, read.level, limits, count),
    )
    return cost_of_rebuild(planned, limits)


def _price(writer: ModelInfo | None, tokens_in: int, tokens_out: int) -> float | None:
    if writer is None or not (writer.price_in or writer.price_out):
        return None
    return (tokens_in * writer.price_in + tokens_out * writer.price_out) / MILLION

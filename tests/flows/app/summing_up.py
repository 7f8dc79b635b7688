"""Conversations and summaries planted as background work would leave them, without a model: an item for each message,
four nodes of a tier rolled up into one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from souvenance.app.cut_summary import may_be_summed_up
from souvenance.app.kit import Kit
from souvenance.domain.conversation import Conversation, Message, Role, Turn, TurnState
from souvenance.domain.ids import BotId, ConversationId, MessageId, NodeId, RuleId, TurnId
from souvenance.domain.limits import Level
from souvenance.domain.standing import standing, summarised_to
from souvenance.domain.summary import FoundBy, Item, Node, Part, Rule, Source, Spot, Tier
from souvenance.ports.store import Unit
from tests.flows.app.house import House

ROLLED_UP = {Tier.RECENT: Tier.MERGED, Tier.MERGED: Tier.LONG_TERM}


def talk(unit: Unit, kit: Kit, conversation_id: ConversationId, turns: int) -> None:
    """So many turns more, each reply with a second variant."""
    chat = unit.conversations.lock(conversation_id)
    for position in range(chat.last_position + 1, chat.last_position + 1 + turns):
        turn_id = TurnId(kit.ids.new("trn"))
        unit.turns.put(
            Turn(
                turn_id=turn_id,
                conversation_id=conversation_id,
                position=position,
                state=TurnState.WHOLE,
                created_at=kit.clock.now(),
            )
        )
        unit.messages.put_all([_said(kit, chat, turn_id, (position, *place)) for place in _PLACES])
    grown = replace(chat, last_position=chat.last_position + turns, messages=chat.messages + 2 * turns)
    unit.conversations.save(grown)


_PLACES = ((0, 0), (1, 0), (1, 1))


def _said(kit: Kit, chat: Conversation, turn_id: TurnId, place: tuple[int, int, int]) -> Message:
    position, part, variant = place
    message_id = MessageId(kit.ids.new("msg"))
    return Message(
        message_id=message_id,
        conversation_id=chat.conversation_id,
        turn_id=turn_id,
        position=position,
        part=part,
        variant=variant,
        chosen=not variant,
        role=Role.BOT if part else Role.USER,
        bot_id=BotId(chat.bot_id) if part and chat.bot_id else None,
        origin_id=message_id,
        text=f"Said as {message_id}.",
        tokens=8,
        created_at=kit.clock.now(),
    )


def sum_up(unit: Unit, kit: Kit, conversation_id: ConversationId, turns: int) -> bool:
    """A recent node for the next turns, as many as this or fewer, and what it makes full rolled up; False when there is
    none to sum up.
    """
    chat = unit.conversations.lock(conversation_id)
    up_to = may_be_summed_up(unit, conversation_id)
    ahead = [one.position for one in unit.turns.after(conversation_id, chat.summarised_to) if one.position <= up_to]
    if not ahead:
        return False
    first, last = ahead[0], ahead[:turns][-1]
    node = _node(kit, conversation_id, Tier.RECENT, first, last)
    unit.summaries.put(replace(node, items=_items(unit, node)))
    unit.conversations.save(
        replace(chat, summarised_to=last, waiting=unit.branches.said_between(conversation_id, last, chat.window_start))
    )
    for tier, above in ROLLED_UP.items():
        _roll_up(unit, kit, conversation_id, tier, above)
    return True


def mend(unit: Unit, conversation_id: ConversationId) -> None:
    """Tell every stale node anew from its messages."""
    for node in unit.summaries.all(conversation_id):
        if node.stale:
            fresh = replace(node, items=_items(unit, node), stale=frozenset(), version=node.version + 1)
            unit.summaries.save(fresh)


def _roll_up(unit: Unit, kit: Kit, conversation_id: ConversationId, tier: Tier, above: Tier) -> None:
    live = unit.summaries.live(conversation_id)
    full = [node for node in live if node.tier is tier][:4]
    below = [*(node for node in live if node.tier is Tier.LONG_TERM and above is Tier.LONG_TERM), *full]
    if len(full) < 4 or any(node.stale for node in below):
        return
    node = _node(kit, conversation_id, above, below[0].first, below[-1].last)
    items = tuple(item for child in below for item in child.items)
    unit.summaries.put(replace(node, items=items, children=tuple(child.node_id for child in below)))
    gone = {child.node_id for child in below}
    unit.summaries.set_live(conversation_id, [one.node_id for one in (*live, node) if one.node_id not in gone])


def _node(kit: Kit, conversation_id: ConversationId, tier: Tier, first: int, last: int) -> Node:
    return Node(
        node_id=NodeId(kit.ids.new("nod")),
        conversation_id=conversation_id,
        tier=tier,
        first=first,
        last=last,
        level=Level.BALANCED,
        model="tiny",
        prompt_version="test-1",
        made_at=kit.clock.now(),
        tokens=10,
    )


def _items(unit: Unit, node: Node) -> tuple[Item, ...]:
    said = unit.messages.from_position(node.conversation_id, node.first)
    return tuple(
        Item(part=Part.TIMELINE, text=message.text, first=spot, last=spot)
        for message in said
        if message.position <= node.last
        for spot in [Spot(message.position, message.part)]
    )


def rule(kit: Kit, chat: Conversation, text: str, *said: Message | Spot, closed_by: Message | None = None) -> Rule:
    """Given by these messages, or by a person at a spot."""
    sources = tuple(Source(None, one) if isinstance(one, Spot) else source(one) for one in said)
    return Rule(
        rule_id=RuleId(kit.ids.new("rul")),
        conversation_id=chat.conversation_id,
        text=text,
        sources=sources,
        found_by=FoundBy.PERSON if any(isinstance(one, Spot) for one in said) else FoundBy.CODE,
        place=1,
        closed_by=None if closed_by is None else source(closed_by),
    )


def source(message: Message) -> Source:
    return Source(message.message_id, Spot(message.position, message.part))


async def long_chat(house: House, turns: int, *, summed_up: int) -> Conversation:
    """A conversation of so many turns, those before `summed_up` summed up two by two, its window behind them."""
    chat = await house.chat(await house.bot())

    def work(unit: Unit) -> None:
        talk(unit, house.kit, chat.conversation_id, turns)
        for _ in range(summed_up // 2):
            assert sum_up(unit, house.kit, chat.conversation_id, 2)
        now = unit.conversations.lock(chat.conversation_id)
        unit.conversations.save(replace(now, window_start=summed_up, deepened_to=turns - 1))

    await house.kit.store.write(house.owner, work, label="test.planted")
    return await house.read(lambda unit: unit.conversations.get(chat.conversation_id))


def ranges(nodes: Sequence[Node]) -> list[tuple[str, int, int]]:
    return [(node.tier.value, node.first, node.last) for node in nodes]


def check(unit: Unit, conversation_id: ConversationId) -> None:
    """What holds of every summary, whatever was done (S3, S9, S10, W4)."""
    chat, live = unit.conversations.get(conversation_id), unit.summaries.live(conversation_id)
    nodes = unit.summaries.all(conversation_id)
    up_to = may_be_summed_up(unit, conversation_id)
    assert tuple(live) == standing(nodes, up_to=up_to)
    assert chat.summarised_to == summarised_to(live)
    assert all(node.last <= up_to for node in nodes), "no node is over what is sent word for word, or was cut"
    turns = {turn.position for turn in unit.turns.after(conversation_id, -1)}
    for position in turns:
        over = sum(node.first <= position <= node.last for node in live)
        assert over == (position <= chat.summarised_to), "each summed-up turn stands in one live node, no other in any"
    said = {Spot(m.position, m.part): m for m in unit.messages.from_position(conversation_id, 0)}
    assert chat.messages == len(said)
    waits = [spot for spot in said if chat.summarised_to < spot.position < chat.window_start]
    assert chat.waiting == len(waits)
    assert not said or any(spot.position >= max(chat.window_start, chat.summarised_to + 1) for spot in said)
    for node in nodes:
        assert set(node.children) <= {one.node_id for one in nodes}
        told = [item for item in node.items if not any(item.first <= spot <= item.last for spot in node.stale)]
        assert [item.text for item in told] == [said[item.first].text for item in told], "what is not stale is so"
    _check_rules(unit.summaries.rules(conversation_id), {m.message_id: spot for spot, m in said.items()}, chat)


def _check_rules(rules: Sequence[Rule], spots: dict[MessageId, Spot], chat: Conversation) -> None:
    for one in rules:
        assert one.sources
        for named in (*one.sources, *([one.closed_by] if one.closed_by else [])):
            assert named.spot.position <= chat.last_position or one.found_by is FoundBy.PERSON
            assert named.message_id is None or spots[named.message_id] == named.spot

"""W4, S2, S3, S9, S10: whatever happens to a conversation, every turn stands somewhere, once."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.app.bots import set_level
from souvenance.app.delete_message import delete_message
from souvenance.app.edit_message import edit_message
from souvenance.app.fork import fork
from souvenance.app.regenerate import regenerate
from souvenance.app.reopen_turn import AskedAgain
from souvenance.app.rewind import rewind
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.limits import Level
from souvenance.domain.standing import standing
from souvenance.domain.summary import Node, Tier
from souvenance.errors import Conflict
from souvenance.storage.sqlite import SqliteStore
from tests.counts import times
from tests.flows.app.house import House, house_on
from tests.flows.app.summarising import summarising, work
from tests.sqlite_file import migrated_folder

ONE_DATABASE = True

sizes = st.sampled_from((1, 3, 30, 400))
picks = st.integers(min_value=0, max_value=1_000)
steps = st.one_of(
    st.tuples(st.just("say"), st.lists(sizes, min_size=1, max_size=6)),
    st.tuples(st.just("work"), st.just(0)),
    st.tuples(st.just("work"), st.just(0)),
    st.tuples(st.just("edit"), picks),
    st.tuples(st.just("delete"), picks),
    st.tuples(st.just("regenerate"), picks),
    st.tuples(st.just("level"), st.sampled_from(Level)),
    st.tuples(st.just("rewind"), picks),
    st.tuples(st.just("fork"), picks),
)


@settings(max_examples=times(25, full=2_000))
@given(story=st.lists(steps, min_size=6, max_size=30))
def test_w4_no_message_is_in_neither_layer_but_those_that_wait(story: list[tuple[str, object]]) -> None:
    asyncio.run(_told(story))


async def _told(story: Sequence[tuple[str, object]]) -> None:
    with tempfile.TemporaryDirectory(prefix="souvenance-story-") as folder:
        store = await SqliteStore.open(migrated_folder(Path(folder) / "data"))
        try:
            await _lived(summarising(await house_on(store)), story)
        finally:
            await store.close()


async def _lived(house: House, story: Sequence[tuple[str, object]]) -> None:
    house = house.with_limits(
        key_events_messages=6, balanced_messages=10, detailed_messages=16, balanced_tokens=600, batch_messages=4
    )
    bot = await house.bot()
    chat = await house.chat(bot)
    for what, how in story:
        match what, how:
            case "say", list(lengths):
                for length in lengths:
                    await house.say(chat, " ".join(["word"] * length))
            case "level", Level() as level:
                await set_level(house.kit, house.owner, bot.bot_id, level)
            case "work", _:
                await work(house)
            case "fork", int(pick):
                chat = await _forked(house, chat, pick)
            case _, int(pick):
                with suppress(Conflict):
                    await _changed(house, chat, what, pick)
        await every_turn_stands_once(house, chat)
    await work(house)
    await every_turn_stands_once(house, chat)
    assert not any(node.stale for node in await house.read(lambda unit: unit.summaries.live(chat.conversation_id)))


async def _said(house: House, chat: Conversation) -> list[Message]:
    return await house.read(lambda unit: unit.messages.from_position(chat.conversation_id, 0))


async def _forked(house: House, chat: Conversation, pick: int) -> Conversation:
    said = await _said(house, chat)
    return await fork(house.kit, house.owner, said[pick % len(said)].message_id) if said else chat


async def _changed(house: House, chat: Conversation, what: str, pick: int) -> None:
    said = await _said(house, chat)
    if not said:
        return
    one = said[pick % len(said)]
    match what:
        case "edit":
            await edit_message(house.kit, house.owner, one.message_id, f"Edited {pick}.")
        case "delete":
            await delete_message(house.kit, house.owner, one.message_id)
        case "rewind":
            await rewind(house.kit, house.owner, chat.conversation_id, after=one.turn_id)
        case "regenerate":
            async for _ in regenerate(house.kit, house.owner, AskedAgain(turn_id=said[-1].turn_id)):
                continue


async def every_turn_stands_once(house: House, chat: Conversation) -> None:
    """The check over the database: live nodes, waiting ones and window are one line without gap or overlap."""
    here = chat.conversation_id
    conversation = await house.read(lambda unit: unit.conversations.get(here))
    nodes = await house.read(lambda unit: unit.summaries.all(here))
    said = await _said(house, chat)
    live = [node for node in nodes if node.live]
    assert {node.node_id for node in live} == {
        node.node_id for node in standing(nodes, up_to=conversation.last_position)
    }
    for tier in Tier:
        _do_not_overlap([node for node in live if node.tier is tier])
    _do_not_overlap(live)
    covered = max((node.last for node in live), default=-1)
    assert conversation.summarised_to == covered
    for message in said:
        in_node = any(node.first <= message.position <= node.last for node in live)
        assert in_node == (message.position <= covered)
    waiting = sum(covered < message.position < conversation.window_start for message in said)
    assert conversation.waiting == waiting
    assert conversation.messages == len(said)
    by_id = {node.node_id for node in nodes}
    assert all(child in by_id for node in live for child in node.children)


def _do_not_overlap(nodes: Sequence[Node]) -> None:
    ordered = sorted(nodes, key=lambda node: node.first)
    assert all(one.last < other.first for one, other in pairwise(ordered))

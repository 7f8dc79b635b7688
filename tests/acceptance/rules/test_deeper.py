"""V8 and O6 through public doors: what is summarised is read once more for lasting details, and where it is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from souvenance.app.conversations import NewConversation, open_conversation
from souvenance.domain.conversation import Channel
from souvenance.domain.ids import BotId
from souvenance.testing import Reply, say
from tests.acceptance.rules.summing import SMALL, Shown, Summed, answering
from tests.acceptance.rules.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOTHING: Shown = {"add": [], "update": [], "forget": []}


@pytest.fixture(scope="module")
def limits() -> Mapping[str, float]:
    return {**SMALL, "balanced_messages": 20, "batch_messages": 4}


def _finds(found: Callable[[Shown], Shown]) -> Callable[[Shown], Reply]:
    return lambda shown: say(json.dumps(NOTHING | found(shown)))


def _adds(text: str, *lines: int) -> Shown:
    return {"add": [{"text": text, "subject": "", "lines": list(lines)}]}


async def _reads(one: Summed, since: int) -> list[Shown]:
    await one.settled()
    return one.questions("memories")[since:]


async def test_v8_each_batch_is_read_once_and_a_small_one_joins_the_next(world: World) -> None:
    one = await Summed.begun(world)
    since = len(one.questions("memories"))
    world.upstream.respond_with(answering("memories", _finds(lambda shown: _adds("Plays the oboe.", 1))))
    await one.talk(9)
    assert (len(await one.nodes()) > 0, await _reads(one, since)) == (True, []), "four messages are too few"
    await one.talk(12, first=9)
    reads = await _reads(one, since)
    texts = [each["text"] for shown in reads for each in shown["messages"]]
    assert texts == [each["text"] for each in await world.messages(one.chat)][: len(texts)], "none twice, none left out"
    assert min(len(shown["messages"]) for shown in reads) >= 6
    (memory,) = await world.memories(f"bot:{one.bot}")
    assert (memory["text"], memory["origin"], memory["confidence"]) == ("Plays the oboe.", "deeper", 0.9)
    assert (await one.ask("GET"))["deeper"] == {"active": True, "reasons": []}


async def test_v8_at_most_three_changes_a_reading_and_never_of_what_is_pinned(world: World) -> None:
    one = await Summed.begun(world)
    scope = f"bot:{one.bot}"
    await world.add("Is called Ada.", scope, pinned=True)
    await world.add("Lives in Bruges.", scope)
    since = len(one.questions("memories"))

    def found(shown: Shown) -> Shown:
        if len(one.questions("memories")) - since == 1:
            return {"add": [{"text": f"Fact {number}.", "subject": "", "lines": [1]} for number in range(4)]}
        return {"update": [{"number": 1, "text": "Lives in Ghent.", "lines": [1]}]}

    world.upstream.respond_with(answering("memories", _finds(found)))
    await one.talk(11)
    first = (await _reads(one, since))[0]
    numbered = {each["text"]: each.get("number") for each in first["memories"]}
    assert numbered == {"Is called Ada.": None, "Lives in Bruges.": 1}
    assert await world.texts(scope) == ["Is called Ada.", "Lives in Ghent."], (
        "four at once are none: it was asked again"
    )


async def test_v8_t2_what_it_drew_goes_with_the_last_message_that_it_was_drawn_from(world: World) -> None:
    one = await Summed.begun(world)
    scope = f"bot:{one.bot}"
    once = iter([_adds("Plays the oboe.", 1, 5)])
    world.upstream.respond_with(answering("memories", _finds(lambda shown: next(once, NOTHING))))
    await one.talk(11)
    said = await world.messages(one.chat)
    assert await world.texts(scope) == ["Plays the oboe."]
    await world.ok("POST", f"/conversations/{one.chat}/rewind", {"after_turn": said[2]["turn_id"]})
    assert await world.texts(scope) == ["Plays the oboe."], "the first message still holds it"
    await world.ok("POST", f"/conversations/{one.chat}/rewind", {"after_turn": None})
    assert await world.texts(scope) == []


async def test_v8_a_fork_is_not_read_again_and_a_challenge_or_a_bot_that_does_not_want_it_never(world: World) -> None:
    one = await Summed.begun(world)
    await one.talk(11)
    since = len(one.questions("memories"))
    last = (await world.messages(one.chat))[-1]
    made = await world.ok("POST", f"/conversations/{one.chat}/fork", {"message_id": last["id"]})
    assert await _reads(Summed(world=world, chat=made["id"], bot=one.bot), since) == []
    quiet = await Summed.begun(world, settings={"deeper": False})
    challenge = Summed(world=world, chat=await world.chat(one.bot, flags={"challenge": True}), bot=one.bot)
    for chat, rule in ((quiet, "E1"), (challenge, "O3")):
        await chat.talk(11)
        assert await _reads(chat, since) == []
        assert await chat.nodes() != []
        deeper = (await chat.ask("GET"))["deeper"]
        assert (deeper["active"], [reason["rule"] for reason in deeper["reasons"]]) == (False, [rule])


@pytest.mark.parametrize("channel", [Channel.TELEGRAM, Channel.DISCORD])
async def test_o6_a_telegram_or_discord_chat_is_balanced_and_summarised_and_remembers_but_is_not_read_deeper(
    world: World, channel: Channel
) -> None:
    """No public door opens one before the channels do; it is opened as they will."""
    apart = await Summed.begun(world)
    await world.ok("PUT", f"/bots/{apart.bot}/level", {"level": "key_events"})
    new = NewConversation(bot_id=BotId(apart.bot), channel=channel)
    kit = apart.the_house.kit
    chat = await open_conversation(kit, apart.the_house.owner_id, new)
    one = Summed(world=world, chat=chat.conversation_id, bot=apart.bot)
    since = len(one.questions("memories"))
    await world.add("Lives in Bruges.", f"bot:{one.bot}")
    await one.talk(11)
    summary = await one.ask("GET")
    assert (summary["level"], {node["level"] for node in summary["nodes"]}) == ("balanced", {"balanced"})
    assert [reason["rule"] for reason in summary["deeper"]["reasons"]] == ["O6"]
    assert await _reads(one, since) == []
    prompt = await one.prompt()
    assert "Lives in Bruges." in prompt.text
    assert "remember" in prompt.tools
    assert len(prompt.window) > 6, "the bot's own level does not hold here (W2)"
    assert (await one.refused("PUT", "/level", {"level": "detailed"}))["code"] == "level_fixed"

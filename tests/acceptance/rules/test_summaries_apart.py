"""W1, S11 and O7 on servers of their own settings: other models, other plans, none at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from souvenance.models.tokens import O200k
from souvenance.settings import Settings
from souvenance.testing import ScriptedUpstream
from tests.acceptance.rules.summing import SMALL, Summed
from tests.acceptance.rules.world import world_of
from tests.flows.app.house import Prompt
from tests.flows.serving import served

pytestmark = pytest.mark.asyncio(loop_scope="module")

RULE = "From now on, always answer in one sentence."


@pytest.fixture(scope="module")
def limits() -> Mapping[str, float]:
    return SMALL


def _held(prompt: Prompt) -> int:
    """Messages word for word, the newest one with them, which W1 counts too."""
    return len(prompt.window) + 1


def _tokens(prompt: Prompt) -> int:
    return sum(O200k().count(text) for _, text in [*prompt.window, ("user", prompt.newest)])


async def test_w1_each_level_has_its_figures_which_a_bigger_model_never_widens(
    settings: Settings, upstream: ScriptedUpstream
) -> None:
    async with served(replace(settings, limits={"unknown_context": 1_000_000})) as server, server.house.at_work():
        world = world_of(server, upstream)
        for level, turns, words, counted, most in (
            ("key_events", 20, "Message {number}.", _held, 30),
            ("balanced", 16, "{number} " + "word " * 400, _tokens, 10_000),
            ("detailed", 20, "{number} " + "word " * 500, _tokens, 16_000),
        ):
            chat = await Summed.brought(world, turns=turns, words=words, level=level)
            assert most * 0.45 <= counted(await chat.prompt()) <= most * 0.75 + 10, (
                "at rest it holds three quarters (W6)"
            )


async def test_w1_a_window_takes_no_more_than_a_quarter_of_the_context_and_the_summary_counts_for_nothing(
    settings: Settings, upstream: ScriptedUpstream
) -> None:
    async with served(replace(settings, limits={"unknown_context": 8_192})) as server, server.house.at_work():
        chat = await Summed.brought(world_of(server, upstream), turns=12, words="word " * 150)
        assert 8_192 / 4 * 0.55 <= _tokens(await chat.prompt()) <= 8_192 / 4
        assert sum((await chat.ask("GET"))["tokens"].values()) > 100


async def test_s11_without_a_model_the_summary_is_extracted_and_labelled_and_a_rebuild_with_one_replaces_it(
    settings: Settings, upstream: ScriptedUpstream
) -> None:
    said = ("My sister Anna lives in Lyon.", "I promise to call her on 3 March 2027.", RULE)
    async with served(replace(settings, upstreams={})) as server, server.house.at_work():
        one = await Summed.begun(world_of(server, upstream))
        for text in (*said, "Hm.", "So.", "Ah.", "Oh.", "Eh."):
            await one.talk(1, text)
        nodes = await one.nodes()
        assert {node["model"] for node in nodes} == {"extracted"}
        text = "\n".join(node["text"] for node in nodes)
        assert said[0] in text
        assert f"## Promises\n- user: {said[1]}" in text
        assert await one.rules() == [RULE]
    async with served(settings) as server, server.house.at_work():
        one = replace(one, world=world_of(server, upstream))
        await one.rebuilt()
        assert {node["model"] for node in await one.nodes()} == {"scripted"}
        assert await one.rules() == [RULE]


async def test_o7_a_plan_without_deeper_memory_has_all_the_rest(settings: Settings, upstream: ScriptedUpstream) -> None:
    async with served(replace(settings, deeper_memory=False)) as server, server.house.at_work():
        one = await Summed.begun(world_of(server, upstream))
        since = len(one.questions("memories"))
        await one.world.add("Lives in Bruges.", f"bot:{one.bot}")
        await one.talk(11)
        summary, prompt = await one.ask("GET"), await one.prompt()
        assert one.questions("memories")[since:] == []
    assert summary["nodes"] != []
    assert summary["deeper"]["active"] is False
    assert [reason["rule"] for reason in summary["deeper"]["reasons"]] == ["O7"]
    assert "Lives in Bruges." in prompt.text
    assert "remember" in prompt.tools

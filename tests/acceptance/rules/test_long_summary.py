"""S4 and S5 over a long life: every rule byte for byte after fifty roll-ups and two condensations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from souvenance.domain.ids import ConversationId
from souvenance.domain.summary import Node, Tier
from souvenance.testing import FrozenClock, ScriptedModel
from tests.acceptance.rules.summing import SMALL, Summed
from tests.acceptance.rules.world import World
from tests.counts import times
from tests.flows.app.house import House
from tests.flows.app.test_summary_story import every_turn_stands_once

ONE_DATABASE = True

pytestmark = pytest.mark.asyncio(loop_scope="module")

MESSAGES = times(144, full=2_000)
ROLL_UPS, CONDENSATIONS = 50, 2
RULES = (
    "From now on, always answer in one sentence.",
    "Never mention the sea again, whatever I say!",
    "Please always call me “Captain Ada”.",
    "À partir de maintenant, réponds toujours en français.",
    "Von jetzt an antworte immer ganz kurz.",
    "A partir de ahora, responde siempre en español.",
    "Don't ever use emojis: not even 🙂.",
)


@pytest.fixture(scope="module")
def limits() -> Mapping[str, float]:
    return {**SMALL, "nodes_merged": 2, "long_term_tokens_balanced": 40}


@pytest.mark.timeout(times(600, full=7_200))
async def test_s4_s5_all_rules_are_byte_for_byte_the_same_after_fifty_roll_ups_and_two_condensations(
    world: World, record_property: Callable[[str, object], None]
) -> None:
    said = [f"Message {number}: the ship sails on by the stars." for number in range(MESSAGES // 2)]
    for number, rule in enumerate(RULES):
        said[number * (len(said) // len(RULES) - 1)] = rule
    one = await Summed.brought(world, *said, turns=len(said))
    nodes = await _all(one)
    above = [node for node in nodes if node.tier is not Tier.RECENT]
    condensed = [node for node in above if node.tier is Tier.LONG_TERM and len(node.children) == 1]
    assert len(above) - len(condensed) >= ROLL_UPS
    assert len(condensed) >= CONDENSATIONS
    assert await one.rules() == list(RULES)
    system = (await one.prompt()).system
    assert "<rules>\n" + "\n".join(f"- {rule}" for rule in RULES) + "\n</rules>" in system
    record_property(
        "proof",
        f"{len(RULES)} rules of {MESSAGES} messages word for word after {len(above) - len(condensed)} roll-ups and "
        f"{len(condensed)} condensations",
    )


async def _all(one: Summed) -> list[Node]:
    """Every node, each checked to stand in its place (W4)."""
    here, kit = ConversationId(one.chat), one.the_house.kit
    owner = one.the_house.owner_id
    house = House(kit=kit, model=ScriptedModel(), clock=FrozenClock(), owner=owner)
    await every_turn_stands_once(house, await house.read(lambda unit: unit.conversations.get(here)))
    return await house.read(lambda unit: unit.summaries.all(here))

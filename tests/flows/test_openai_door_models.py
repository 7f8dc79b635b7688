from __future__ import annotations

import openai
import pytest

from souvenance.testing import ScriptedUpstream
from tests.flows.serving import Served


async def ask(server: Served, model: str, text: str = "Hello") -> str:
    answer = await server.openai().chat.completions.create(model=model, messages=[{"role": "user", "content": text}])
    return answer.choices[0].message.content or ""


async def bots(server: Served) -> list[dict[str, object]]:
    found: list[dict[str, object]] = (await server.rest.get("/bots")).json()["items"]
    return found


async def test_an_unknown_bot_behind_a_known_model_is_made_a_companion_with_text_calls(both: Served) -> None:
    assert await ask(both, "scripted@Mira") == "You said: Hello"
    made = await bots(both)
    assert [(bot["name"], bot["preset"]) for bot in made] == [("Mira", "companion")]
    settings = made[0]["settings"]
    assert isinstance(settings, dict)
    assert settings["text_calls"] is True
    await ask(both, "scripted@Mira", "Again")
    assert len(await bots(both)) == 1


async def test_no_bot_is_made_for_a_message_that_is_refused(server: Served) -> None:
    with pytest.raises(openai.BadRequestError):
        await ask(server, "scripted@Mira", "  ")
    assert await bots(server) == []


async def test_a_bare_upstream_model_is_an_assistant_and_makes_no_bot(server: Served) -> None:
    assert await ask(server, "scripted") == "You said: Hello"
    assert await bots(server) == []
    listed = (await server.rest.get("/conversations")).json()["items"]
    assert [(each["bot_id"], each["model"]) for each in listed] == [(None, "scripted")]


async def test_a_bots_name_wins_over_an_upstreams(server: Served, upstream: ScriptedUpstream) -> None:
    bot_id = await server.bot("scripted")
    await ask(server, "scripted")
    listed = (await server.rest.get("/conversations")).json()["items"]
    assert [each["bot_id"] for each in listed] == [bot_id]
    names = [model.id async for model in server.openai().models.list()]
    assert names == ["scripted"]


@pytest.mark.parametrize("model", ["gpt-9", "gpt-9@Mira", "@Mira", "scripted@", "scripted@ ", "*", "../../x", "Mira@x"])
async def test_any_other_name_is_an_unknown_model_and_makes_nothing(server: Served, model: str) -> None:
    with pytest.raises(openai.NotFoundError) as refused:
        await ask(server, model)
    assert refused.value.code == "model_not_found"
    assert refused.value.param == "model"
    assert await bots(server) == []
    assert (await server.rest.get("/conversations")).json()["items"] == []


async def test_bots_are_listed_before_upstream_models(server: Served) -> None:
    await server.bot("Mira")
    models = [model async for model in server.openai().models.list()]
    assert [(model.id, model.owned_by) for model in models] == [("Mira", "souvenance"), ("scripted", "scripted")]

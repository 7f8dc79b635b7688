"""K4: a bot as a document or a link, which never hold memory, and a bot made from either."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest

from souvenance.app.share_bot import export_bot, import_bot, share_link
from souvenance.domain.bot import Preset
from souvenance.domain.memory import Scope
from souvenance.errors import BadValue, InputError, NotFound, TextTooLong
from tests.flows.app.house import House

ONE_DATABASE = True

_PROMPT = "You are Mira.\nÉté, 夏, ☀️."


def _link(data: bytes) -> str:
    return "souvenance://bot#" + base64.urlsafe_b64encode(data).rstrip(b"=").decode()


async def test_k4_a_document_and_a_link_hold_the_whole_bot_and_never_memory(house: House) -> None:
    bot = await house.bot("Mira", preset=Preset.NOTEBOOK, system_prompt=_PROMPT, settings={"text_calls": False})
    await house.remember("walnut", Scope.of_bot(bot.bot_id), key="secret")
    document = await export_bot(house.kit, house.owner, bot.bot_id)
    link = await share_link(house.kit, house.owner, bot.bot_id)
    assert document == {
        "souvenance_bot": 1,
        "name": "Mira",
        "preset": "notebook",
        "settings": {
            "text_calls": False,
            "extraction": "off",
            "deeper": False,
            "learn": True,
            "tools": True,
            "browser_only": False,
        },
        "system_prompt": _PROMPT,
        "model": None,
    }
    packed = link.rpartition("#")[2]
    assert json.loads(zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))) == document


async def test_k4_a_bot_comes_in_from_either_with_an_id_of_its_own_and_a_name_that_is_free(house: House) -> None:
    bot = await house.bot("Mira", preset=Preset.ASSISTANT, system_prompt=_PROMPT, model="m", settings={"learn": False})
    document = json.loads(json.dumps(await export_bot(house.kit, house.owner, bot.bot_id)))
    second = await import_bot(house.kit, house.owner, document)
    third = await import_bot(house.kit, house.owner, await share_link(house.kit, house.owner, bot.bot_id))
    assert [one.name for one in (second, third)] == ["Mira 2", "Mira 3"]
    for one in (second, third):
        assert one.bot_id != bot.bot_id
        assert (one.preset, one.settings, one.system_prompt, one.model) == (
            bot.preset,
            bot.settings,
            bot.system_prompt,
            bot.model,
        )
    assert await house.texts(Scope.of_bot(second.bot_id)) == []


async def test_k4_a_name_at_its_limit_makes_room_for_its_number(house: House) -> None:
    bot = await house.bot("x" * 128)
    again = await import_bot(house.kit, house.owner, await export_bot(house.kit, house.owner, bot.bot_id))
    assert again.name == "x" * 126 + " 2"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"souvenance_bot": 2}, "souvenance_bot"),
        ({"name": 5}, "name"),
        ({"name": " "}, "name"),
        ({"name": "x" * 129}, "name"),
        ({"preset": "pirate"}, "preset"),
        ({"settings": ["learn"]}, "settings"),
        ({"settings": {"learn": "yes"}}, "settings.learn"),
        ({"settings": {"lern": True}}, "settings.lern"),
        ({"system_prompt": "x" * 100_001}, "system_prompt"),
        ({"system_prompt": None}, "system_prompt"),
        ({"model": ["m"]}, "model"),
        ({"memories": ["walnut"]}, "memories"),
        ({"api_key": "k"}, "api_key"),
    ],
)
async def test_k4_a_document_that_cannot_be_taken_names_its_field_and_makes_no_bot(
    house: House, change: dict[str, Any], field: str
) -> None:
    document = {"souvenance_bot": 1, "name": "Mira", "preset": "companion", **change}
    with pytest.raises(InputError) as caught:
        await import_bot(house.kit, house.owner, document)
    assert caught.value.details["field"] == field
    assert await house.read(lambda unit: unit.bots.page(after=None, limit=5)) == []


@pytest.mark.parametrize(
    "link",
    [
        "",
        "#",
        "https://example.org/",
        _link(b"not packed"),
        _link(zlib.compress(b"not json")),
        _link(zlib.compress(b"[" * 100_000)),
        _link(zlib.compress(b'{"souvenance_bot":1}')[:-6]),
        "souvenance://bot#été",
    ],
)
async def test_k4_a_link_that_holds_no_bot_is_refused(house: House, link: str) -> None:
    with pytest.raises(BadValue):
        await import_bot(house.kit, house.owner, link)


async def test_k4_a_link_too_long_is_refused_and_a_bomb_does_not_grow(house: House) -> None:
    small = house.with_limits(link_characters=300, document_bytes=10_000)
    with pytest.raises(TextTooLong, match="link has 301 characters; the limit is 300"):
        await import_bot(small.kit, small.owner, "x" * 301)
    with pytest.raises(TextTooLong, match="link has 10001 bytes; the limit is 10000"):
        await import_bot(small.kit, small.owner, _link(zlib.compress(b" " * 100_000)))
    bot = await small.bot("Mira", system_prompt=base64.b85encode(bytes(range(256)) * 4).decode())
    with pytest.raises(TextTooLong, match="the limit is 300"):
        await share_link(small.kit, small.owner, bot.bot_id)
    with pytest.raises(NotFound):
        await share_link(small.kit, small.owner, type(bot.bot_id)("bot_nobody"))

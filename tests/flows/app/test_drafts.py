"""V5, V6, V10: what is drafted is reviewed, then saved whole or not at all; until then it is nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from souvenance.app.browse import list_messages
from souvenance.app.delete_message import delete_message
from souvenance.app.draft_memories import Description, draft_memories
from souvenance.app.drafts import Drafted, discard_draft, edit_draft, list_drafts
from souvenance.app.edit_message import edit_message
from souvenance.app.erase import erase_memories
from souvenance.app.purge_ended import purge_ended
from souvenance.app.query_memories import Query, query_memories
from souvenance.app.remember import Remembered
from souvenance.app.save_drafts import save_drafts
from souvenance.app.save_from_conversation import How, Selection, draft_from_messages
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.conversation import Conversation, Flags, Message
from souvenance.domain.draft import Draft
from souvenance.domain.ids import BotId, DraftId, MessageId
from souvenance.domain.memory import ACCOUNT_SCOPE, Origin, Scope
from souvenance.errors import (
    BadValue,
    DraftExpired,
    KeyTaken,
    MemoryIsOff,
    NoModel,
    NotFound,
    PinRoomFull,
    PromptTooLarge,
    SouvenanceError,
    TextTooLong,
    TooMany,
    UnusableDrafts,
)
from souvenance.ports.chat_model import Usage
from souvenance.ports.store import Unit
from souvenance.testing import Hang, ScriptedModel, say
from souvenance.testing.script import Text
from tests.flows.app.house import CHALLENGE, House

ONE_DATABASE = True

WEEK = 7 * 24 * 3600


def written(*texts: str) -> Text:
    return say(json.dumps({"memories": [{"text": text} for text in texts]}))


async def draft(
    house: House, *script: Any, target: BotId | Scope = ACCOUNT_SCOPE, text: str = "what I like"
) -> Drafted:
    house.model.script(*script)
    return await draft_memories(house.kit, house.owner, Description(text=text, target=target))


async def select(house: House, messages: Sequence[Message], how: How = How.EACH, **more: Any) -> Drafted:
    ids = tuple(message.message_id for message in messages)
    return await draft_from_messages(house.kit, house.owner, Selection(message_ids=ids, how=how, **more))


async def save(house: House, *drafts: Draft, overwrite: bool = False) -> tuple[Remembered, ...]:
    ids = [one.draft_id for one in drafts]
    return await save_drafts(house.kit, house.owner, ids, overwrite=overwrite)


async def waiting(house: House) -> tuple[Draft, ...]:
    return (await list_drafts(house.kit, house.owner)).items


async def talk(house: House, bot: Bot | None, *said: str, **more: Any) -> tuple[Conversation, list[Message]]:
    """A chat in which the user said this, and all its messages in order."""
    chat = await house.chat(bot, **({"model": "scripted"} if bot is None else {}), **more)
    for text in said:
        await house.say(chat, text, say(f"So: {text}"))
    page = await list_messages(house.kit, house.owner, chat.conversation_id, limit=200)
    return chat, list(reversed(page.items))


async def test_v5_drafts_come_of_the_description_alone_and_are_saved_unpinned(house: House) -> None:
    bot = await house.bot(system_prompt="A lighthouse keeper.")
    await talk(house, bot, "I adore marmalade")
    drafted = await draft(house, written("likes tea", "has a cat"), target=bot.bot_id, text="tea, and a cat")
    asked = house.prompt.text
    assert "tea, and a cat" in asked
    assert "A lighthouse keeper." in asked
    assert "marmalade" not in asked
    assert "no conversation was read" in drafted.note
    saved = await save(house, *drafted.drafts)
    assert [one.created for one in saved] == [True, True]
    found = await house.memories()
    assert [(m.text, m.scope, m.pinned, m.origin, m.confidence) for m in found] == [
        (text, Scope.of_bot(bot.bot_id), False, Origin.GENERATED, 1.0) for text in ("likes tea", "has a cat")
    ]
    assert await waiting(house) == ()


@pytest.mark.parametrize(
    "bad",
    [
        "Gladly! She likes tea.",
        '{"memories": [{"text": "likes t',
        "",
        '{"facts": [{"fact": "likes tea"}]}',
        json.dumps({"memories": [{"text": f"fact {n}"} for n in range(6)]}),
        json.dumps({"memories": [{"text": "x" * 700}]}),
        json.dumps({"memories": [{"text": "likes tea"}, {"text": "Likes tea!"}]}),
        json.dumps({"memories": [{"text": "likes\x1btea"}]}),
    ],
    ids=["prose", "half", "nothing", "invented", "six", "700", "duplicates", "control"],
)
async def test_v5_a_bad_answer_is_asked_for_once_more_then_reported(house: House, bad: str) -> None:
    mended = await draft(house, say(bad), written("likes tea"))
    assert [one.text for one in mended.drafts] == ["likes tea"]
    assert len(house.prompts) == 2
    assert "could not be used" in house.prompt.newest
    await discard_draft(house.kit, house.owner, mended.drafts[0].draft_id)
    with pytest.raises(UnusableDrafts) as refused:
        await draft(house, say(bad), say(bad))
    assert len(house.prompts) == 4
    reason = refused.value.details["reason"]
    assert str(reason) in house.prompt.newest
    assert await waiting(house) == ()
    assert await house.memories() == []


@pytest.mark.parametrize("around", ["```json\n{}\n```", "Here:\n{}\nFine?"], ids=["fenced", "prose"])
async def test_v5_json_that_stands_in_a_fence_or_in_prose_is_read(house: House, around: str) -> None:
    said = json.dumps({"memories": [{"text": "likes tea"}]})
    assert [one.text for one in (await draft(house, say(around.replace("{}", said)))).drafts] == ["likes tea"]
    assert len(house.prompts) == 1


async def test_v5_a_description_has_1000_characters_at_most(house: House) -> None:
    assert len((await draft(house, written("likes tea"), text="d" * 1000)).drafts) == 1
    with pytest.raises(TextTooLong, match=r"1001 .* 1000"):
        await draft(house, text="d" * 1001)
    assert len(house.prompts) == 1


async def test_v5_without_a_model_it_is_said_that_there_is_none(house: House) -> None:
    alone = house.with_model(ScriptedModel(models=()))
    bot = await alone.bot()
    for target in (ACCOUNT_SCOPE, bot.bot_id):
        with pytest.raises(NoModel):
            await draft(alone, target=target)


async def test_v5_a_notebooks_drafts_are_pairs(house: House) -> None:
    bot = await house.bot(preset=Preset.NOTEBOOK)
    pairs = say(json.dumps({"memories": [{"key": "name", "value": "Alice"}]}))
    drafted = await draft(house, pairs, target=bot.bot_id)
    await save(house, *drafted.drafts)
    assert await house.pairs() == {"name": "Alice"}
    again = await draft(house, say(json.dumps({"memories": [{"key": "name", "value": "Renko"}]})), target=bot.bot_id)
    with pytest.raises(KeyTaken):
        await save(house, *again.drafts)
    assert (await save(house, *again.drafts, overwrite=True))[0].updated
    assert await house.pairs() == {"name": "Renko"}


async def test_v10_drafting_is_charged_as_a_reply_is_and_teaches_what_tokens_cost(house: House) -> None:
    usage = Usage(tokens_in=1000, tokens_out=10)
    drafted = await draft(
        house, replace(say("no"), usage=usage), replace(written("likes tea"), usage=Usage(tokens_in=900, tokens_out=5))
    )
    assert drafted.charge is not None
    assert (drafted.charge.tokens_in, drafted.charge.tokens_out, drafted.charge.reported) == (1900, 15, True)
    learnt = await house.read(lambda unit: unit.calibrations.get("scripted"))
    assert (learnt.replies, learnt.reported) == (2, 1900)
    with pytest.raises(UnusableDrafts) as refused:
        await draft(house, replace(say("no"), usage=usage), replace(say("no"), usage=usage))
    assert (refused.value.details["tokens_in"], refused.value.details["tokens_out"]) == (2000, 20)
    assert (await house.read(lambda unit: unit.calibrations.get("scripted"))).replies == 4


async def test_v10_drafts_are_in_no_prompt_search_list_or_count(house: House) -> None:
    bot = await house.bot()
    await draft(house, written("likes marmalade"), target=bot.bot_id)
    await house.say(await house.chat(bot), "Hello")
    assert "marmalade" not in house.prompt.text
    assert (await query_memories(house.kit, house.owner, Query(text="marmalade", messages=True))).memories == ()
    assert await house.memories() == []


async def test_v10_a_draft_is_edited_within_the_limits_and_discarded(house: House) -> None:
    bot, notebook = await house.bot(), await house.bot("Notes", preset=Preset.NOTEBOOK)
    (one,) = (await draft(house, written("likes tea"))).drafts
    kit, owner = house.kit, house.owner
    with pytest.raises(TextTooLong, match=r"501 .* 500"):
        await edit_draft(kit, owner, one.draft_id, text="x" * 501)
    with pytest.raises(NotFound):
        await edit_draft(kit, owner, one.draft_id, scope=Scope.of_bot(BotId("bot_nobody")))
    with pytest.raises(BadValue):
        await edit_draft(kit, owner, one.draft_id)
    moved = await edit_draft(kit, owner, one.draft_id, text="likes rum", scope=Scope.of_bot(bot.bot_id), pinned=True)
    assert (await waiting(house)) == (moved,)
    noted = await edit_draft(kit, owner, one.draft_id, scope=Scope.of_bot(notebook.bot_id))
    with pytest.raises(BadValue, match="key"):
        await save(house, noted)
    named = await edit_draft(kit, owner, one.draft_id, key=" drink ")
    await save(house, named)
    assert await house.pairs() == {"drink": "likes rum"}
    with pytest.raises(NotFound):
        await save(house, named)
    (other,) = (await draft(house, written("likes tea"))).drafts
    await discard_draft(kit, owner, other.draft_id)
    assert await waiting(house) == ()
    with pytest.raises(NotFound):
        await discard_draft(kit, owner, other.draft_id)


async def test_v10_after_seven_days_a_draft_has_expired_and_its_text_is_purged(house: House) -> None:
    (old,) = (await draft(house, written("likes marmalade"))).drafts
    house.clock.advance(seconds=WEEK - 1)
    assert await waiting(house) == (old,)
    assert await purge_ended(house.kit) == 0
    house.clock.advance(seconds=1)
    (new,) = (await draft(house, written("likes tea"))).drafts
    for purged in (False, True):
        for late in (save(house, new, old), edit_draft(house.kit, house.owner, old.draft_id, text="x")):
            with pytest.raises(DraftExpired) as refused:
                await late
            assert old.draft_id in refused.value.message
            assert old.until.isoformat() in refused.value.message
        assert await waiting(house) == (new,)
        assert await purge_ended(house.kit) == (0 if purged else 1)
    assert (await house.read(lambda unit: unit.drafts.get(old.draft_id))).text == ""
    assert await house.memories() == []


async def test_m14_an_erased_memory_is_purged_from_the_drafts_too(house: House) -> None:
    memory = await house.remember("likes marmalade")
    drafted = await draft(house, written("Likes marmalade.", "likes tea"))
    await erase_memories(house.kit, house.owner, [memory.memory_id])
    house.clock.advance(seconds=10)
    assert await purge_ended(house.kit) == 2
    assert await waiting(house) == drafted.drafts[1:]


async def test_v6_messages_as_they_are_become_one_memory_each_or_one_of_all(house: House) -> None:
    chat, messages = await talk(house, await house.bot(), "I like tea", "I have a cat")
    each = await select(house, [messages[2], messages[0]])
    assert [(one.text, one.pinned, one.sources) for one in each.drafts] == [
        ("I like tea", True, (messages[0].message_id,)),
        ("I have a cat", True, (messages[2].message_id,)),
    ]
    assert each.charge is None
    assert (each.room.pinned, each.room.pinned_limit) == (0, 20)
    (joined,) = (await select(house, [messages[2], messages[0]], How.JOINED, pinned=False)).drafts
    assert (joined.text, joined.pinned) == ("I like tea\nI have a cat", False)
    (saved,) = await save(house, joined)
    memory = saved.memory
    assert (memory.origin, memory.confidence, memory.pinned) == (Origin.CONVERSATION, 1.0, False)
    assert [(s.conversation_id, s.message_id, s.at) for s in await house.sources(memory)] == [
        (chat.conversation_id, one.message_id, one.created_at) for one in (messages[0], messages[2])
    ]


async def test_v6_a_model_drafts_from_the_messages_that_were_chosen_and_no_others(house: House) -> None:
    _, messages = await talk(house, await house.bot(), "I like tea", "I have a cat")
    house.model.script(written("likes tea"))
    (one,) = (await select(house, messages[:2], How.DRAFT)).drafts
    assert "I like tea" in house.prompt.text
    assert "cat" not in house.prompt.newest
    assert (one.text, one.pinned, one.sources) == ("likes tea", True, tuple(m.message_id for m in messages[:2]))
    (saved,) = await save(house, one)
    assert saved.memory.pinned
    assert [s.message_id for s in await house.sources(saved.memory)] == list(one.sources)


async def test_v6_what_is_too_long_must_be_shortened_first(house: House) -> None:
    _, messages = await talk(house, await house.bot(), "x" * 300, "y" * 501)
    with pytest.raises(TextTooLong, match=r"501 .* 500"):
        await select(house, [messages[0], messages[2]])
    with pytest.raises(TextTooLong, match=r"the joined text has 802 .* 500"):
        await select(house, [messages[0], messages[2]], How.JOINED)
    assert await waiting(house) == ()
    _, noted = await talk(house, await house.bot("Notes", preset=Preset.NOTEBOOK), "y" * 501)
    assert len((await select(house, noted[:1])).drafts) == 1


async def test_v6_only_messages_of_one_conversation_and_twenty_at_most(house: House) -> None:
    bot = await house.bot()
    _, messages = await talk(house, bot, *map(str, range(11)))
    _, others = await talk(house, bot, "elsewhere")
    with pytest.raises(TooMany, match=r"21 .* 20"):
        await select(house, messages[:21])
    assert len((await select(house, messages[:20])).drafts) == 20
    for wrong in (others[0], replace(others[0], message_id=MessageId("msg_nobody"))):
        with pytest.raises(NotFound, match=wrong.message_id):
            await select(house, [messages[0], wrong])
    with pytest.raises(BadValue):
        await select(house, [])


@pytest.mark.parametrize("change", ["deleted", "edited"])
async def test_t7_drafts_go_with_a_message_that_is_deleted_or_edited(house: House, change: str) -> None:
    _, messages = await talk(house, await house.bot(), "I like marmalade", "I have a cat")
    await select(house, messages[::2], How.JOINED)
    (kept,) = (await select(house, messages[2:3])).drafts
    if change == "deleted":
        await delete_message(house.kit, house.owner, messages[0].message_id)
    else:
        await edit_message(house.kit, house.owner, messages[0].message_id, "I like tea")
    assert await waiting(house) == (kept,)


@pytest.mark.parametrize("flags", [CHALLENGE, Flags(temporary=True), Flags(anonymous=True), Flags(gateway=True)])
async def test_o3_o4_o5_nothing_is_saved_from_a_chat_without_memory(house: House, flags: Flags) -> None:
    chat, messages = await talk(house, await house.bot(), "I like tea")

    def become(unit: Unit) -> None:
        stored = unit.conversations.lock(chat.conversation_id)
        unit.conversations.save(replace(stored, flags=flags, version=stored.version + 1))

    await house.kit.store.write(house.owner, become, label="test.written")
    with pytest.raises(MemoryIsOff):
        await select(house, messages[:1])
    assert await waiting(house) == ()


async def test_o1_a_person_may_save_from_a_chat_that_nothing_is_learnt_from_and_is_told(house: House) -> None:
    _, messages = await talk(house, await house.bot(settings={"learn": False}), "I like tea")
    drafted = await select(house, messages[:1])
    assert "learning from this bot's chats is turned off" in drafted.note
    assert len(await save(house, *drafted.drafts)) == 1


async def test_v6_saving_past_the_room_for_pins_saves_nothing(house: House) -> None:
    small = house.with_limits(room_pinned=2)
    _, messages = await talk(small, None, "one", "two", "three")
    drafted = await select(small, messages[::2])
    with pytest.raises(PinRoomFull, match=r"2 memories of account are pinned; the limit is 2"):
        await save(small, *drafted.drafts)
    assert await small.memories() == []
    assert await waiting(small) == drafted.drafts
    await save(small, *drafted.drafts[:2])
    assert await small.texts() == ["one", "two"]


async def test_m10_saving_what_is_there_already_adds_a_source(house: House) -> None:
    memory = await house.remember("I like tea")
    _, messages = await talk(house, None, "I like tea.")
    (saved,) = await save(house, *(await select(house, messages[:1])).drafts)
    assert (saved.created, saved.memory.memory_id, saved.memory.pinned) == (False, memory.memory_id, True)
    assert messages[0].message_id in [one.message_id for one in await house.sources(saved.memory)]


async def test_v6_messages_that_do_not_fit_the_model_are_refused_with_both_sizes(house: House) -> None:
    _, messages = await talk(house, None, "word " * 5000)
    small = house.with_context(4096)
    with pytest.raises(PromptTooLarge) as refused:
        await select(small, messages[:1], How.DRAFT)
    assert refused.value.details["context"] == 4096
    assert small.prompts == []


@pytest.mark.parametrize("ids", [[], [DraftId(f"drf_{n}") for n in range(201)], [DraftId("drf_nobody")]])
async def test_v10_drafts_that_cannot_be_saved_are_named(house: House, ids: list[DraftId]) -> None:
    with pytest.raises(SouvenanceError, match=r"ids is|201 items; the limit is 200|drf_nobody"):
        await save_drafts(house.kit, house.owner, ids)


async def test_v10_of_two_saves_at_once_one_saves_and_the_other_finds_nothing(house: House) -> None:
    drafted = await draft(house, written("likes tea", "has a cat"))
    done = await asyncio.gather(*(save(house, *drafted.drafts) for _ in range(2)), return_exceptions=True)
    assert [type(one) for one in done if isinstance(one, Exception)] == [NotFound]
    assert await house.texts() == ["likes tea", "has a cat"]


async def test_v5_drafting_that_is_given_up_ends_the_call_and_keeps_nothing(house: House) -> None:
    drafting = asyncio.create_task(draft(house, Hang(after=('{"memories": [',))))
    await house.model.hanging.wait()
    drafting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await drafting
    assert house.model.cancelled == 1
    assert await waiting(house) == ()

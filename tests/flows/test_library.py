"""The Python door against a real store on both databases; the model is the scripted one that users get too."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, aclosing
from pathlib import Path

import pytest

import souvenance
from souvenance.domain.conversation import MessageState, Role
from souvenance.domain.ids import ConversationId, MemoryId
from souvenance.errors import BadValue, Conflict, EmptyText, NotFound, SettingError, StaleEdit, StoreTooNew
from souvenance.ports.memories import Shelf
from souvenance.testing import Hang, ScriptedModel, call, say

Opens = Callable[..., AbstractAsyncContextManager[souvenance.Souvenance]]


@pytest.fixture(params=["sqlite", "postgres"])
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Opens:
    """Opens the test's one memory, as often as the test likes."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None

    def open_it(**more: object) -> AbstractAsyncContextManager[souvenance.Souvenance]:
        settings: dict[str, object] = {"model": ScriptedModel(), "detect_local": False, "detect_keys": False, **more}
        return souvenance.open(tmp_path / "memory", database_url=url, **settings)  # type: ignore[arg-type]

    return open_it


async def test_a_turn_in_five_lines(opens: Opens) -> None:
    async with opens(model=ScriptedModel(say("Hi", " there"))) as memory:
        said = [piece.text async for piece in memory.chat("Hello", bot="Ada")]
    assert "".join(said) == "Hi there"


async def test_what_was_remembered_is_in_the_next_prompt_of_another_process(opens: Opens) -> None:
    async with opens() as memory:
        await memory.say("Hello", bot="Ada")
        await memory.remember("Allergic to walnuts", bot="Ada")
        await memory.remember("Lives in Oslo")
    model = ScriptedModel()
    async with opens(model=model) as memory:
        await memory.say("What should I not eat?", bot="Ada")
    sent = model.requests[0].body.decode()
    assert "Allergic to walnuts" in sent
    assert "Lives in Oslo" in sent


async def test_a_chat_goes_on_where_it_was_until_a_new_one_is_begun(opens: Opens) -> None:
    async with opens() as memory:
        first = await memory.say("One", bot="Ada")
        second = await memory.say("Two", bot="Ada")
        other = await memory.say("Three", bot="Bo")
        begun = await memory.begin(bot="Ada")
        third = await memory.say("Four", bot="Ada")
        back = await memory.say("Five", bot="Ada", conversation=first.conversation_id)
        assert first.conversation_id is not None
        texts = [message.text async for message in memory.messages(first.conversation_id) if message.role is Role.USER]
    assert first.conversation_id == second.conversation_id == back.conversation_id
    assert third.conversation_id == begun.conversation_id
    assert len({first.conversation_id, other.conversation_id, begun.conversation_id}) == 3
    assert texts == ["Five", "Two", "One"]


async def test_a_reply_left_early_is_kept_as_cut_off_and_ends_the_call(opens: Opens) -> None:
    model = ScriptedModel(Hang(after=("Once upon", " a time")))
    async with opens(model=model) as memory:
        async with aclosing(memory.chat("Tell me a story", bot="Ada")) as pieces:
            async for piece in pieces:
                if piece.text == " a time":
                    break
        (conversation,) = [one async for one in memory.conversations()]
        kept = await anext(memory.messages(conversation))
    assert model.cancelled == 1
    assert (kept.text, kept.state) == ("Once upon a time", MessageState.CUT_OFF)


async def test_closing_ends_the_replies_that_nobody_finished(opens: Opens) -> None:
    model = ScriptedModel(Hang(after=("Half",)))
    async with opens(model=model) as memory:
        pieces = memory.chat("Hello", bot="Ada")
        while (await anext(pieces)).text != "Half":
            pass
    assert model.cancelled == 1
    async with opens() as memory:
        (conversation,) = [one async for one in memory.conversations()]
        assert (await anext(memory.messages(conversation))).state is MessageState.CUT_OFF


async def test_closing_waits_for_the_reply_that_another_task_reads(opens: Opens) -> None:
    model = ScriptedModel(Hang(after=("Half",)))
    async with opens(model=model) as memory:
        reading = asyncio.create_task(memory.say("Hello", bot="Ada"))
        await model.hanging.wait()
        model.released.set()
    assert (await reading).text == "Half"


async def test_whoever_calls_the_model_prepares_and_records(opens: Opens) -> None:
    async with opens() as memory:
        await memory.add_bot("Nota", preset=souvenance.Preset.NOTEBOOK)
        prepared = await memory.prepare("I am Ada", bot="Nota")
        assert prepared.messages[-1]["content"] == "I am Ada"
        recorded = await memory.record(prepared, 'Noted. bcz_remember("name", "Ada")', tokens_in=9, tokens_out=3)
        assert recorded.text.strip() == "Noted."
        assert (recorded.done.tokens_in, recorded.done.estimated) == (9, False)
        (kept,) = [view.memory async for view in memory.memories(bot="Nota")]
        following = await memory.prepare("Who am I?", bot="Nota")
    assert (kept.key, kept.text) == ("name", "Ada")
    assert following.conversation.conversation_id == prepared.conversation.conversation_id
    assert "- name: Ada" in following.messages[0]["content"]


async def test_a_command_is_answered_and_no_part_of_the_conversation(opens: Opens) -> None:
    model = ScriptedModel()
    async with opens(model=model) as memory:
        reply = await memory.say("/remember I like tea", bot="Ada")
        (kept,) = [view.memory.text async for view in memory.memories(bot="Ada")]
        assert [one async for one in memory.conversations()] == []
    assert (kept, reply.conversation_id, model.requests) == ("I like tea", None, [])
    assert "I like tea" in str(reply)


async def test_a_memory_is_edited_pinned_archived_and_its_history_tells(opens: Opens) -> None:
    async with opens() as memory:
        first = (await memory.remember("Lives in Oslo")).memory
        again = await memory.remember("lives in  Oslo.")
        assert (again.created, again.memory.memory_id) == (False, first.memory_id)
        edited = await memory.edit(first.memory_id, text="Lives in Bergen")
        with pytest.raises(StaleEdit):
            await memory.edit(first.memory_id, text="Lives in Graz", seen=first.version)
        assert (await memory.pin(first.memory_id)).pinned
        assert not (await memory.unpin(first.memory_id)).pinned
        assert (await memory.archive(first.memory_id)).archived
        assert [view.memory.text async for view in memory.memories(shelf=Shelf.ARCHIVED)] == ["Lives in Bergen"]
        assert not (await memory.restore(first.memory_id)).archived
        intents = [type(operation.intent).__name__ for operation in await memory.history(first.memory_id)]
    assert edited.text == "Lives in Bergen"
    assert intents == ["Add", "Add", "Update", "Pin", "Unpin", "Archive", "Restore"]


async def test_what_is_forgotten_is_out_of_sight_until_it_is_brought_back(opens: Opens) -> None:
    async with opens() as memory:
        kept = (await memory.remember("Allergic to walnuts")).memory
        erasure = await memory.forget(kept.memory_id)
        assert [view async for view in memory.memories(everywhere=True)] == []
        assert (await memory.query("walnuts")).memories == ()
        await memory.undo(erasure)
        assert [hit.memory.text for hit in (await memory.query("walnuts")).memories] == ["Allergic to walnuts"]


async def test_lists_walk_through_all_their_pages(opens: Opens) -> None:
    async with opens(limits={"page_items": 2}) as memory:
        for number in range(5):
            await memory.remember(f"Fact {number}")
        assert [view.memory.text async for view in memory.memories()] == [
            f"Fact {number}" for number in (4, 3, 2, 1, 0)
        ]


async def test_bots_are_made_changed_and_their_level_is_set(opens: Opens) -> None:
    async with opens() as memory:
        await memory.add_bot("Ada", system_prompt="Be brief.", settings={"learn": False})
        changed = await memory.change_bot("Ada", {"name": "Lovelace", "settings": {"learn": True}})
        await memory.set_level("Lovelace", souvenance.Level.DETAILED)
        assert (changed.system_prompt, changed.settings.learn) == ("Be brief.", True)
        assert await memory.level("Lovelace") is souvenance.Level.DETAILED
        assert [bot.name async for bot in memory.bots()] == ["Lovelace"]


async def test_bad_input_names_its_field_and_stores_nothing(opens: Opens) -> None:
    async with opens() as memory:
        with pytest.raises(EmptyText):
            await memory.remember(" \n")
        for unknown in ("*", "../../x", "a.b", "", "mem_none", "mem_\0"):
            with pytest.raises(NotFound):
                await memory.memory(MemoryId(unknown))
            with pytest.raises(NotFound):
                await memory.say("Hello", bot="Ada", conversation=ConversationId(unknown or "-"))
        with pytest.raises(NotFound):
            await memory.query("Oslo", bot="Nobody")
        with pytest.raises(BadValue):
            await memory.change_bot((await memory.add_bot("Bo")).name, {"colour": "red"})
        with pytest.raises(EmptyText):
            await memory.say("", bot="Ada")
        assert [view async for view in memory.memories(everywhere=True)] == []
        assert [one async for one in memory.conversations()] == []


async def test_many_tasks_use_one_memory_at_once(opens: Opens) -> None:
    async with opens() as memory:
        begun = [await memory.begin(bot="Ada") for _ in range(4)]
        replies = await asyncio.gather(
            *(memory.say(f"Message {number}", bot="Ada", conversation=one) for number, one in enumerate(begun * 3)),
            *(memory.remember("The same fact", bot="Ada") for _ in range(6)),
        )
        assert len(replies) == 18
        assert [len([m async for m in memory.messages(one)]) for one in begun] == [6, 6, 6, 6]
        (kept,) = [view async for view in memory.memories(bot="Ada")]
        assert len(kept.evidence) == 6


async def test_without_a_model_the_reply_is_made_from_what_is_remembered(opens: Opens) -> None:
    async with opens(model=None) as memory:
        await memory.remember("Allergic to walnuts")
        reply = await memory.say("What am I allergic to?", bot="Ada")
    assert "Allergic to walnuts" in reply.text


async def test_a_setting_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="Did you mean log_level"):
        async with souvenance.open(tmp_path, loglevel="info"):
            raise AssertionError("it must not open")
    with pytest.raises(SettingError, match=r"limits\.room_pined.*room_pinned"):
        async with souvenance.open(tmp_path, limits={"room_pined": 3}):
            raise AssertionError("it must not open")


async def test_a_store_of_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    import sqlite3

    async with souvenance.open(tmp_path):
        pass
    with sqlite3.connect(tmp_path / "souvenance.db") as file:
        file.execute("update alembic_version set version_num = '9999'")
    file.close()
    with pytest.raises(StoreTooNew):
        async with souvenance.open(tmp_path):
            raise AssertionError("it must not open")


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, souvenance; print(*sys.modules); souvenance.open; print(souvenance.__all__, dir(souvenance))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ran.stdout.splitlines()[0].split()
    assert {"sqlalchemy", "numpy", "pydantic", "httpx2", "asyncio", "souvenance.library"}.isdisjoint(loaded)


def test_every_public_name_can_be_had() -> None:
    assert all(getattr(souvenance, name) is not None for name in souvenance.__all__)
    assert not hasattr(souvenance, "nothing_of_the_kind")


async def test_drafts_are_reviewed_then_saved(opens: Opens) -> None:
    async with opens(model=ScriptedModel(say('{"memories": [{"text": "likes tea"}]}'), say("Noted"))) as memory:
        (tea,) = (await memory.drafts.generate("tea")).drafts
        changed = await memory.drafts.edit(tea, text="likes green tea")
        assert [draft async for draft in memory.drafts.list()] == [changed]
        reply = await memory.say("I have a cat")
        assert reply.conversation_id is not None
        _, said = [message async for message in memory.messages(reply.conversation_id)]
        (cat,) = (await memory.drafts.from_messages(said, how="each")).drafts
        await memory.drafts.save(tea.draft_id, cat)
        assert [(found.equal, found.view.memory.pinned) for found in await memory.similar("I have a cat")] == [
            (True, True)
        ]
        with pytest.raises(NotFound):
            await memory.drafts.discard(tea)
        with pytest.raises(BadValue, match="how"):
            await memory.drafts.from_messages(said, how="all")


async def test_m9_a_memory_is_cleared_in_two_steps(opens: Opens) -> None:
    async with opens() as memory:
        for text in ("Likes tea", "Likes rum"):
            await memory.remember(text, bot="Ada")
        kept = await memory.remember("Allergic to walnuts", bot="Ada", pinned=True)
        cleared = await memory.clear(bot="Ada")
        assert cleared.erasure is not None
        assert (len(cleared.erasure.memory_ids), cleared.pinned) == (2, 1)
        with pytest.raises(Conflict):
            await memory.clear_pinned(bot="Ada", expected=2)
        erasure = await memory.clear_pinned(bot="Ada", expected=1)
        assert erasure.memory_ids == (kept.memory.memory_id,)
        await memory.undo(cleared.erasure)
        assert [view.memory.text async for view in memory.memories(bot="Ada")] == ["Likes rum", "Likes tea"]


async def test_m11_what_a_model_removed_is_listed_and_brought_back(opens: Opens) -> None:
    async with opens(model=ScriptedModel(call("forget", '{"id": 1}'), say("Gone"))) as memory:
        await memory.remember("Likes tea", bot="Ada")
        await memory.say("Forget the tea", bot="Ada")
        (removed,) = [one async for one in memory.removed(bot="Ada")]
        assert (removed.memory.text, removed.actor) == ("Likes tea", "model")
        assert [one async for one in memory.removed(everywhere=True)] == [removed]
        back = await memory.bring_back(removed.memory.memory_id, removed.place)
        assert [view.memory async for view in memory.memories(bot="Ada")] == [back]

"""The synchronous door: a loop of its own in a thread, over a real store."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading
from pathlib import Path

import pytest

from souvenance import blocking
from souvenance.blocking.background_work import BlockingBackgroundWork
from souvenance.blocking.branches import BlockingBranches
from souvenance.blocking.drafts import BlockingDrafts
from souvenance.blocking.notifications import BlockingNotifications
from souvenance.blocking.rebuilds import BlockingRebuilds
from souvenance.blocking.summaries import BlockingSummaries
from souvenance.blocking.turns import BlockingTurns
from souvenance.domain.conversation import MessageState
from souvenance.errors import NotFound, SettingError, StoreUnavailable
from souvenance.library import Souvenance
from souvenance.library.background_work import BackgroundWork
from souvenance.library.branches import Branches
from souvenance.library.drafts import Drafts
from souvenance.library.notifications import Notifications
from souvenance.library.rebuilds import Rebuilds
from souvenance.library.summaries import Summaries
from souvenance.library.turns import Turns
from souvenance.testing import Hang, ScriptedModel, say


def _open(folder: Path, model: ScriptedModel | None = None) -> blocking.BlockingSouvenance:
    return blocking.open(folder, model=model or ScriptedModel(), detect_local=False, detect_keys=False)


def test_a_turn_in_four_lines(tmp_path: Path) -> None:
    with _open(tmp_path, ScriptedModel(say("Hi", " there"))) as memory:
        assert "".join(piece.text for piece in memory.chat("Hello", bot="Ada")) == "Hi there"


def test_it_works_where_a_loop_is_running_already(tmp_path: Path) -> None:
    async def in_a_notebook() -> str:
        with _open(tmp_path) as memory:
            return memory.say("Hello", bot="Ada").text

    assert asyncio.run(in_a_notebook()) == "You said: Hello"


def test_the_whole_door_is_mirrored(tmp_path: Path) -> None:
    with _open(tmp_path) as memory:
        kept = memory.remember("Allergic to walnuts").memory
        memory.edit(kept.memory_id, text="Allergic to peanuts")
        memory.pin(kept.memory_id)
        memory.unpin(kept.memory_id)
        memory.archive(kept.memory_id)
        memory.restore(kept.memory_id)
        assert len(memory.history(kept.memory_id)) == 6
        assert memory.memory(kept.memory_id).memory.text == "Allergic to peanuts"
        assert len(memory.page_of_memories(limit=1).items) == 1
        assert [hit.memory.memory_id for hit in memory.query("peanuts").memories] == [kept.memory_id]
        memory.undo(memory.forget(kept.memory_id))
        assert memory.bring_back(kept.memory_id, kept.place).text == "Allergic to walnuts"
        assert (list(memory.removed()), memory.page_of_removed(everywhere=True).items) == ([], ())
        cleared = memory.clear()
        assert cleared.erasure is not None
        memory.undo(cleared.erasure)
        memory.pin(kept.memory_id)
        memory.undo(memory.clear_pinned(expected=1))
        assert [view.memory.memory_id for view in memory.memories(everywhere=True)] == [kept.memory_id]
        bot = memory.add_bot("Ada")
        memory.change_bot("Ada", {"system_prompt": "Be brief."})
        memory.set_level("Ada", memory.level("Ada"))
        assert [one.bot_id for one in memory.bots()] == [memory.bot("Ada").bot_id] == [bot.bot_id]
        begun = memory.begin(bot="Ada")
        memory.record(memory.prepare("Hello", bot="Ada"), "Hi")
        assert [one.conversation_id for one in memory.conversations(bot="Ada")] == [begun.conversation_id]
        assert [message.text for message in memory.messages(begun)] == ["Hi", "Hello"]


DOORS = [
    (blocking.BlockingSouvenance, Souvenance),
    (BlockingTurns, Turns),
    (BlockingBackgroundWork, BackgroundWork),
    (BlockingBranches, Branches),
    (BlockingDrafts, Drafts),
    (BlockingNotifications, Notifications),
    (BlockingRebuilds, Rebuilds),
    (BlockingSummaries, Summaries),
]


@pytest.mark.parametrize(("waiting", "awaited"), DOORS)
def test_both_doors_have_the_same_methods_with_the_same_parameters(waiting: type, awaited: type) -> None:
    def public(door: type) -> dict[str, list[inspect.Parameter]]:
        methods = inspect.getmembers(door, inspect.isfunction)
        return {name: list(inspect.signature(it).parameters.values()) for name, it in methods if name[0] != "_"}

    mirrored = public(waiting)
    mirrored.pop("close", None)
    promised = public(awaited)
    promised.pop("end_replies", None)
    assert promised
    assert mirrored == promised


def test_an_iterator_left_early_keeps_the_reply_as_cut_off(tmp_path: Path) -> None:
    model = ScriptedModel(Hang(after=("Once",)))
    with _open(tmp_path, model) as memory:
        for piece in memory.chat("A story", bot="Ada"):
            if piece.text == "Once":
                break
        del piece
        gc.collect()
        (conversation,) = memory.conversations()
        assert next(memory.messages(conversation)).state is MessageState.CUT_OFF
    assert model.cancelled == 1


def test_closing_ends_a_reply_that_is_still_held(tmp_path: Path) -> None:
    model = ScriptedModel(Hang(after=("Once",)))
    memory = _open(tmp_path, model)
    pieces = memory.chat("A story", bot="Ada")
    while next(pieces).text != "Once":
        pass
    memory.close()
    memory.close()
    assert model.cancelled == 1
    with pytest.raises(StoreUnavailable):
        next(pieces)
    with pytest.raises(StoreUnavailable):
        memory.say("Hello", bot="Ada")


def test_errors_come_through_and_leave_it_usable(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="Did you mean port"):
        blocking.open(tmp_path, prot=1)
    with _open(tmp_path) as memory:
        with pytest.raises(NotFound):
            memory.bot("Nobody")
        assert memory.say("Hello", bot="Ada").text == "You said: Hello"
    assert not [thread for thread in threading.enumerate() if thread.name == "souvenance-loop"]


def test_threads_share_one_memory(tmp_path: Path) -> None:
    with _open(tmp_path) as memory:
        threads = [threading.Thread(target=memory.remember, args=(f"Fact {number}",)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(list(memory.memories())) == 8


def test_drafts_are_mirrored(tmp_path: Path) -> None:
    with _open(tmp_path, ScriptedModel(say('{"memories": [{"text": "likes tea"}, {"text": "has a cat"}]}'))) as memory:
        tea, cat = memory.drafts.generate("tea and a cat").drafts
        memory.drafts.discard(cat)
        changed = memory.drafts.edit(tea, pinned=True)
        assert list(memory.drafts.list()) == [changed]
        (saved,) = memory.drafts.save(tea)
        assert memory.similar("likes tea")[0].view.memory == saved.memory
        reply = memory.say("I like tea")
        assert reply.conversation_id is not None
        said = list(memory.messages(reply.conversation_id))[-1]
        assert memory.drafts.from_messages(said, how="each").drafts[0].sources == (said.message_id,)

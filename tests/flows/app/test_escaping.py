"""M12 at the bytes that the model received: whatever a memory says, it stays one line of its block."""

from __future__ import annotations

import json
import re
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from souvenance.app.browse import memory_history
from souvenance.app.erase import erase_memories
from souvenance.app.query_memories import Query, query_memories
from souvenance.domain.block import CLOSING, OPENING, unescape
from souvenance.domain.bot import Preset
from souvenance.domain.ids import MemoryId
from souvenance.domain.journal import Content, content_of
from souvenance.domain.memory import Scope
from souvenance.domain.text import fold, is_visible
from souvenance.testing import say
from tests.counts import times
from tests.flows.app.house import House, called, calls

ONE_DATABASE = True

_NASTY = st.sampled_from(
    [
        "</memories>",
        "</memory>",
        "<memories>",
        "</pinned_memories>",
        "<memory_changes>",
        "\n- [9] likes nothing",
        "[9] ",
        "(recent) ",
        "about Bob: ",
        "\r\n",
        "\u2028",
        "\x85",
        "<|im_start|>system",
        "<|im_end|>",
        "[INST]",
        "[/INST]",
        "<<SYS>>",
        "</s>",
        "\\n",
        "\\",
        '"',
        '"}]}',
        "\nuser:",
        "\n\nHuman:",
        "< /memories>",
        "＜/memories＞",
        "日本語",
        "🙂",
        "\t",
        "- ",
        ": ",
    ]
)
_TEXT = st.lists(st.one_of(_NASTY, st.text(st.characters(codec="utf-8", exclude_characters="\0"))))
_FACT = _TEXT.map(lambda pieces: "".join(pieces)[:500]).filter(is_visible)
_LINE_BREAKS = re.compile("[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_KEY = _FACT.map(lambda text: _LINE_BREAKS.sub(" ", text)[:128].strip()).filter(is_visible)

_SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
_ROUNDS = settings(max_examples=times(25, full=1_000), suppress_health_check=_SLOW)
_MARKS = re.compile(r"<[/|]|<\w|\[/?INST")
"""What opens or closes something in a prompt or in a chat template."""


_numbers = count()


def _entries(system: str) -> list[tuple[str, str]]:
    """What the block that ends a notebook's system prompt says, read as K2 has it."""
    block = system[system.rindex(f"\n{OPENING}\n") :]
    _, opening, *lines, closing = block.split("\n")
    assert (opening, closing) == (OPENING, CLOSING)
    assert all(line.startswith("- ") for line in lines)
    pairs = [line.removeprefix("- ").partition(": ") for line in lines]
    return [(unescape(key), unescape(value)) for key, _, value in pairs]


async def _forget(house: House, memory_id: MemoryId) -> None:
    await erase_memories(house.kit, house.owner, [memory_id])


@_ROUNDS
@given(text=_FACT, subject=st.one_of(st.just(""), _KEY), pinned=st.booleans())
async def test_m12_no_text_and_no_subject_leaves_its_line(
    house: House, *, text: str, subject: str, pinned: bool
) -> None:
    bot = await house.bot(f"bot {len(house.model.requests)}")
    chat = await house.chat(bot)
    memory = await house.remember(text, Scope.of_bot(bot.bot_id), subject=subject, pinned=pinned)
    await house.say(chat, "Hello")
    tag, number = ("pinned_memories", "") if pinned else ("memories", r"\[1\] ")
    about = r"about (?P<subject>[^\n]*?): " if subject else ""
    block = re.search(rf"\n<{tag}>\n- {number}\(recent\) {about}(?P<text>[^\n]*)\n</{tag}>\Z", house.prompt.system)
    assert block is not None, "one block, one line, and it ends the system prompt"
    assert unescape(block["text"]) == text
    assert not subject or unescape(block["subject"]) == subject
    assert not _MARKS.search(block["text"])
    assert [one["role"] for one in house.prompt.messages] == ["system", "user"]
    await _forget(house, memory.memory_id)


@_ROUNDS
@given(pairs=st.dictionaries(_KEY, _FACT, min_size=1, max_size=3))
async def test_k2_m12_no_key_and_no_value_leaves_its_line(house: House, *, pairs: dict[str, str]) -> None:
    notebook = await house.bot(f"notebook {len(house.model.requests)}", preset=Preset.NOTEBOOK)
    for key, value in pairs.items():
        await house.remember(value, Scope.of_bot(notebook.bot_id), key=key, overwrite=True)
    await house.say(await house.chat(notebook), "Hello")
    entries = _entries(house.prompt.system)
    assert dict(entries) == {key.strip(): value for key, value in pairs.items()}
    assert [key for key, _ in entries] == [key.strip() for key in pairs]
    assert house.prompt.system.count("</memory>") == 1


@_ROUNDS
@given(text=_FACT)
async def test_m12_no_text_leaves_its_line_in_the_since_then_list(house: House, *, text: str) -> None:
    bot = await house.bot(f"bot {len(house.model.requests)}")
    chat = await house.chat(bot)
    await house.say(chat, "Hello")
    memory = await house.remember(text, Scope.of_bot(bot.bot_id))
    await house.say(chat, "And now?")
    listed = re.search(r"<memory_changes>\n- \[1\] ([^\n]*)\n</memory_changes>\Z", house.prompt.since)
    assert listed is not None
    assert unescape(listed[1]) == text
    await _forget(house, memory.memory_id)


@_ROUNDS
@given(key=_KEY, text=_FACT, pinned=st.booleans())
async def test_m12_no_key_of_a_companion_leaves_its_line(house: House, *, key: str, text: str, pinned: bool) -> None:
    bot = await house.bot(f"bot {len(house.model.requests)}")
    await house.remember(text, Scope.of_bot(bot.bot_id), key=key, pinned=pinned)
    await house.say(await house.chat(bot), "Hello")
    tag, number = ("pinned_memories", "") if pinned else ("memories", r"\[1\] ")
    block = re.search(rf"\n<{tag}>\n- {number}\(recent\) ([^\n:]*): ([^\n]*)\n</{tag}>\Z", house.prompt.system)
    assert block is not None
    assert (unescape(block[1]), unescape(block[2])) == (key, text)
    assert not _MARKS.search(block[1] + block[2])


@_ROUNDS
@given(key=_KEY, text=_FACT)
async def test_m12_no_key_leaves_its_line_in_the_since_then_list(house: House, *, key: str, text: str) -> None:
    bot = await house.bot(f"bot {len(house.model.requests)}")
    chat = await house.chat(bot)
    await house.say(chat, "Hello")
    await house.remember(text, Scope.of_bot(bot.bot_id), key=key)
    await house.say(chat, "And now?")
    listed = re.search(r"<memory_changes>\n- \[1\] ([^\n:]*): ([^\n]*)\n</memory_changes>\Z", house.prompt.since)
    assert listed is not None
    assert (unescape(listed[1]), unescape(listed[2])) == (key, text)


@_ROUNDS
@given(texts=st.lists(_FACT.map(lambda text: f"quokka {text}"[:500]), min_size=1, max_size=3, unique_by=fold))
async def test_m12_what_a_query_finds_is_one_entry_each_and_poses_as_nothing(house: House, *, texts: list[str]) -> None:
    bot = await house.bot(f"bot {len(house.model.requests)}")
    for text in texts:
        await house.remember(text, Scope.of_bot(bot.bot_id))
    await house.say(await house.chat(bot), "Hello", calls(called("memory_query", text="quokka")), say("Hi"))
    assert [one["role"] for one in house.prompt.messages] == ["system", "user", "assistant", "tool"]
    found = json.loads(house.prompt.messages[-1]["content"])["memories"]
    assert sorted(unescape(one["text"]) for one in found) == sorted(texts)
    assert not any(_MARKS.search(one["text"]) for one in found)


@_ROUNDS
@given(key=st.none() | _KEY, text=_FACT)
async def test_m12_a_text_is_shown_found_and_listed_as_it_was_given(
    house: House, *, key: str | None, text: str
) -> None:
    bot = await house.bot(f"bot {next(_numbers)}")
    scope = Scope.of_bot(bot.bot_id)
    memory = await house.remember(text, scope, key=key)
    (operation,) = await memory_history(house.kit, house.owner, memory.memory_id)
    assert [(one.key, one.text) for one in (await house.memories(scope))] == [(key, text)]
    assert content_of(operation.intent) == Content(text=text, key=key, evidence=await house.sources(memory))
    hits = await query_memories(house.kit, house.owner, Query(text=text, scopes=(scope,)))
    assert [hit.memory.text for hit in hits.memories] in ([text], [])

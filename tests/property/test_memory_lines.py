"""M12: a memory's line says what it says to whoever reads its marks, and its words never pose as one."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from souvenance.domain.block import unescape
from souvenance.domain.ids import MemoryId
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory
from souvenance.domain.memory_lines import Change, change_line, line

NOW = datetime(2026, 1, 1, tzinfo=UTC)
POSING = ["[1] ", "[１] ", "［2］", "(recent) ", "（Recent）", "about Bob: ", "About\u3000me: ", "no longer holds"]
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
texts = st.lists(st.sampled_from([*POSING, "\\", "likes tea", ": ", "\n", "- "]) | words, min_size=1).map("".join)
LINE = re.compile(
    r"- (?:\[(?P<short>\d+)\] )?(?P<recent>\(recent\) )?(?:about (?P<subject>[^:]*): )?(?P<said>.*)\Z", re.DOTALL
)


def _memory(text: str, *, key: str | None = None, subject: str = "") -> Memory:
    return Memory(
        memory_id=MemoryId("mem_1"),
        scope=ACCOUNT_SCOPE,
        text=text,
        key=key,
        subject=subject,
        created_at=NOW,
        updated_at=NOW,
        place=1,
    )


@given(text=texts, key=st.none() | texts, subject=st.just("") | texts, short=st.integers(0, 99), recent=st.booleans())
@example(text="[2] (recent) about Bob: likes rum", key=None, subject="", short=1, recent=False)
@example(text="(recent) was sold", key=None, subject="", short=0, recent=False)
@example(text="value", key="[7] name", subject="", short=0, recent=True)
def test_what_a_line_is_read_as_is_what_the_memory_says(
    text: str, key: str | None, subject: str, short: int, recent: bool
) -> None:
    written = line(_memory(text, key=key, subject=subject), short=short, recent=recent)
    assert len(written.splitlines()) == 1
    read = LINE.match(written)
    assert read is not None
    assert int(read["short"] or 0) == short
    assert bool(read["recent"]) == recent
    assert unescape(read["subject"] or "") == subject
    said_key, parted, said = read["said"].partition(": ") if key is not None else ("", "", read["said"])
    assert unescape(said) == text
    assert (unescape(said_key) if parted else None) == key


@given(text=texts)
@example(text="no longer holds: likes tea")
def test_a_new_fact_never_poses_as_the_end_of_another(text: str) -> None:
    change = Change(memory=_memory(text), gone=False, new=True)
    for short in (0, 3):
        written = change_line(change, short=short, shown_as=None)
        assert not re.match(r"[\s-]*(?:\[\d+\])?[\s-]*no\s+longer\s+holds", written, re.IGNORECASE)


def test_an_ordinary_sentence_stays_as_it_is() -> None:
    for text in ("about to move to Graz", "has [3] cats (recently)", "(recently) moved", "[todo] calls Ilse", "3 < 4"):
        assert line(_memory(text)) == f"- {text}"

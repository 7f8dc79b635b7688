"""The summary without a model keeps what must not be lost, in eight languages (S11)."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypedDict

import pytest

from souvenance.domain.combine import combine
from souvenance.domain.conversation import Role
from souvenance.domain.extract import Heard, extract
from souvenance.domain.find_rules import find_rules
from souvenance.domain.limits import Level, Limits
from souvenance.domain.node_text import text_of
from souvenance.domain.summary import Item, Part, Spot
from souvenance.models.tokens import O200k
from souvenance.wiring import installed_phrases


class Plants(TypedDict):
    names: list[str]
    name: str
    days: str
    figure: str
    rule: str
    promise: str
    things: list[str]
    filler: list[str]


PLANTED: dict[str, Plants] = tomllib.loads(Path(__file__).with_name("planted.toml").read_text(encoding="utf-8"))
LIMITS = Limits()
BEGUN = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
BATCHES = 20
count = O200k().count


class Batch:
    """Ten messages: talk, and in it a name, a date, a number, a rule and a promise."""

    def __init__(self, plants: Plants, number: int) -> None:
        self.name = plants["names"][number % 10]
        self.day = str(11 + number % 20)
        self.figure = str(1_000 + 37 * number)
        self.rule = plants["rule"].format(plants["things"][number % 10])
        self.promise = plants["promise"].format(plants["things"][(number + 3) % 10])
        said = {
            0: plants["name"].format(self.name),
            2: plants["days"].format(self.day),
            4: plants["figure"].format(self.figure),
            6: self.rule,
            7: self.promise,
        }
        self.heard = [self._message(plants["filler"], number, at, said.get(at, "")) for at in range(10)]

    def _message(self, filler: list[str], number: int, at: int, said: str) -> Heard:
        talk = [filler[(number * 3 + at * 7 + step * 3) % 10] for step in range(3)]
        is_user = at % 2 == 0
        return Heard(
            spot=Spot(number * 5 + at // 2, at % 2),
            role=Role.USER if is_user else Role.BOT,
            who="user" if is_user else "Ada",
            text=" ".join(filter(None, (talk[0], said, *talk[1:]))),
            at=BEGUN + timedelta(days=number, minutes=at),
            time_zone="Europe/Paris",
        )


def first_tier(batch: Batch, level: Level) -> tuple[Item, ...]:
    most = LIMITS.recent_tokens(level)
    items = extract(batch.heard, installed_phrases(), most_tokens=most, count=count)
    assert count(text_of(items)) <= most
    return items


def rolled_up(nodes: list[tuple[Item, ...]], level: Level) -> tuple[Item, ...]:
    """Four recent ones merge, four merged ones fold into the long-term text."""
    merged = [
        combine(sum(nodes[at : at + 4], ()), most_tokens=LIMITS.merged_tokens(level), count=count)
        for at in range(0, len(nodes), 4)
    ]
    return combine(sum(merged, ()), most_tokens=LIMITS.long_term_tokens(level), count=count)


@pytest.mark.parametrize("language", sorted(PLANTED))
def test_s11_what_is_planted_in_twenty_batches_survives_the_first_tier_and_the_fold(language: str) -> None:
    level = Level.KEY_EVENTS  # the least room
    batches = [Batch(PLANTED[language], number) for number in range(BATCHES)]
    nodes = [first_tier(batch, level) for batch in batches]
    for batch, items in zip(batches, nodes, strict=True):
        text = text_of(items)
        assert [one for one in (batch.name, batch.day, batch.figure, batch.promise) if one not in text] == []
        assert batch.rule in find_rules(batch.heard[6].text, installed_phrases(), LIMITS)
    text = text_of(rolled_up(nodes, level))
    planted = [one for batch in batches for one in (batch.name, batch.day, batch.figure)]
    lost = [one for one in planted if one not in text]
    assert len(lost) <= len(planted) // 10, lost


def test_s11_the_same_messages_give_the_same_items() -> None:
    heard = Batch(PLANTED["en"], 3).heard
    one, other = (extract(heard, installed_phrases(), most_tokens=200, count=count) for _ in range(2))
    assert one == other != ()


def test_s11_a_timeline_line_has_the_day_of_its_message_where_the_user_lives() -> None:
    items = first_tier(Batch(PLANTED["en"], 0), Level.DETAILED)
    days = {item.day for item in items if item.part is Part.TIMELINE}
    assert days == {"2026-03-02"}


def test_s4_a_promise_names_who_gave_it_and_a_state_what_it_is_about() -> None:
    told = Heard(
        spot=Spot(4, 1),
        role=Role.BOT,
        who="Ada",
        text="I live in Porto now. I promise to write to you!",
        at=BEGUN,
        time_zone="UTC",
    )
    items = extract([told], installed_phrases(), most_tokens=200, count=count)
    assert {(item.part, item.text, item.about) for item in items} == {
        (Part.PROMISES, "Ada: I promise to write to you!", ""),
        (Part.STATE, "Ada: I live in Porto now.", "Ada: home"),
    }
    assert {(item.first, item.last) for item in items} == {(Spot(4, 1), Spot(4, 1))}


@pytest.mark.parametrize("text", ["", " \n", "ok", "…", "😀", "!!!"])
def test_s11_a_message_that_says_nothing_gives_nothing(text: str) -> None:
    told = Heard(spot=Spot(0, 0), role=Role.USER, who="user", text=text, at=BEGUN, time_zone="UTC")
    assert extract([told], installed_phrases(), most_tokens=200, count=count) == ()

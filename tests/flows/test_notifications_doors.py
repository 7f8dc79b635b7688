"""What the house tells unasked, through the library on both databases, the blocking door and commands."""

from __future__ import annotations

import asyncio
import os
import pty
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from souvenance import blocking
from souvenance.cli.notification_words import words_of
from souvenance.domain.ids import NotificationId, OwnerId
from souvenance.domain.notification import Notification
from souvenance.errors import NotFound
from souvenance.library import Souvenance as Memory
from souvenance.settings import Settings
from souvenance.testing import ScriptedModel
from souvenance.wiring import House, open_house
from tests.flows.commands import Souvenance
from tests.flows.serving import settings_for
from tests.flows.test_cli import program

About = dict[str, str | int | float]

HERE: About = {"conversation_id": "cnv_1"}
PARKED: About = {**HERE, "kind": "summary", "reason": "model_unreachable", "failures": 5}
REBUILD: About = {**HERE, "rebuild_id": "rbd_1"}
SPENT: About = {"tokens_in": 900, "tokens_out": 400, "left": 70}


async def tell(house: House, kind: str, *, about: About = HERE, owner: OwnerId | None = None) -> NotificationId:
    """Store a notification of this kind; its id."""
    made = Notification(
        notification_id=NotificationId(house.kit.ids.new("ntf")),
        kind=kind,
        about=about,
        created_at=house.kit.clock.now(),
    )
    owner_id = house.owner_id if owner is None else owner
    await house.kit.store.write(owner_id, lambda unit: unit.notifications.put(made), label="notified")
    return made.notification_id


def told(folder: Path, *kinds: str, about: About = HERE) -> list[NotificationId]:
    """Store one notification of each kind in an installation that is then closed; their ids."""

    async def prepare() -> list[NotificationId]:
        async with await open_house(settings_for(folder), models=ScriptedModel()) as house:
            return [await tell(house, kind, about=about) for kind in kinds]

    return asyncio.run(prepare())


async def ids(memory: Memory, *, unread_only: bool = False) -> list[NotificationId]:
    return [each.notification_id async for each in memory.notifications.list(unread_only=unread_only)]


async def test_the_library_lists_every_page_newest_first_and_marks_as_read_once(both_settings: Settings) -> None:
    async with await open_house(both_settings, models=ScriptedModel()) as house:
        small = replace(house.kit, limits=replace(house.kit.limits, page_items=2))
        memory = Memory(House(kit=small, settings=house.settings, detected=None))
        made = [await tell(house, "rules_full") for _ in range(5)]
        assert await ids(memory) == made[::-1]
        await memory.notifications.read(made[1])
        first = [each.read_at async for each in memory.notifications.list() if each.notification_id == made[1]]
        await memory.notifications.read(made[1])
        again = [each.read_at async for each in memory.notifications.list() if each.notification_id == made[1]]
        assert again == first != [None]
        assert await ids(memory, unread_only=True) == [made[4], made[3], made[2], made[0]]


async def test_i8_another_owners_notification_is_not_there_nor_is_a_strange_id(both_settings: Settings) -> None:
    async with await open_house(both_settings, models=ScriptedModel()) as house:
        memory = Memory(house)
        theirs = await tell(house, "rules_full", owner=OwnerId("own_stranger"))
        assert await ids(memory) == []
        for strange in (theirs, "ntf_404", "What?", "x" * 300):
            with pytest.raises(NotFound):
                await memory.notifications.read(strange)


def test_the_blocking_door_lists_and_marks_them(tmp_path: Path) -> None:
    first, second = told(tmp_path, "rules_full", "no_credit")
    with blocking.open(tmp_path, model=ScriptedModel(), detect_local=False, detect_keys=False) as memory:
        assert [each.kind for each in memory.notifications.list()] == ["no_credit", "rules_full"]
        memory.notifications.read(second)
        assert [each.notification_id for each in memory.notifications.list(unread_only=True)] == [first]
        with pytest.raises(NotFound):
            memory.notifications.read("ntf_404")


def test_commands_list_them_in_words_and_mark_one_or_all(run: Souvenance, tmp_path: Path) -> None:
    first, second, third = told(tmp_path / "data", "work_parked", "comet_seen", "work_parked", about=PARKED)
    listed = [line.split("\t") for line in run("notifications", "list").out.splitlines()]
    assert [(row[0], row[2]) for row in listed] == [(third, "unread"), (second, "unread"), (first, "unread")]
    assert "souvenance work restart summary cnv_1" in listed[0][3]
    assert listed[1][3].startswith("comet_seen (")
    assert run("notifications", "read", second).out == f"{second}\tread\n"
    assert [each["id"] for each in run("notifications", "list", "--unread", "--json").json] == [third, first]
    assert run("notifications", "read", "all").out == f"{third}\tread\n{first}\tread\n"
    for nothing in (("list", "--unread"), ("read", "all")):
        ran = run("notifications", *nothing)
        assert (ran.code, ran.out, ran.err) == (0, "", "no unread notifications\n")
    newest = run("notifications", "list", "--json").json[0]
    assert (newest["kind"], newest["about"], newest["read_at"] is None) == ("work_parked", PARKED, False)


def test_commands_say_when_there_are_none_and_refuse_an_unknown_one(run: Souvenance) -> None:
    assert run("notifications", "list").err == "no notifications\n"
    refused = run("notifications", "read", "ntf_404")
    assert (refused.code, "no notification 'ntf_404'" in refused.err) == (2, True)


def test_a_chat_says_at_its_start_how_many_are_unread_if_any(
    run: Souvenance, environment: dict[str, str], tmp_path: Path
) -> None:
    told(tmp_path / "data", "rules_full", "no_credit")
    assert "unread" not in run("chat", "Hello").err
    assert "(unread notifications: 2;" in _chatted(environment)
    run("notifications", "read", "all")
    assert "unread" not in _chatted(environment)


def _chatted(environment: dict[str, str]) -> str:
    """What a chat tells a person who leaves at once."""
    own, theirs = pty.openpty()
    with program(environment, "chat", stdin=theirs) as process:
        os.write(own, b"/quit\n")
        _, err = process.communicate(timeout=60)
    os.close(own)
    os.close(theirs)
    return err


@pytest.mark.parametrize(
    ("kind", "about"),
    [
        ("rules_full", {**HERE, "tokens": 2_100, "limit": 2_000}),
        ("work_parked", PARKED),
        ("rebuild_done", {**REBUILD, "level": "detailed", "nodes": 4, **SPENT, "edited_discarded": 1}),
        ("rebuild_failed", {**REBUILD, "reason": "no_credit", "steps": 3, "steps_estimated": 12, **SPENT}),
        ("no_credit", {**HERE, **SPENT}),
        ("no_credit", HERE),
        ("{0}", {**HERE, "comets": 3}),
    ],
)
def test_the_words_of_a_notification_hold_all_its_ids_and_figures(kind: str, about: About) -> None:
    made = Notification(
        notification_id=NotificationId("ntf_1"), kind=kind, about=about, created_at=datetime(2026, 11, 30, tzinfo=UTC)
    )
    words = words_of(made)
    assert [figure for figure in map(str, about.values()) if figure not in words] == []
    assert "{" not in words.removeprefix(kind)
    assert (kind in words) == (kind == "{0}" or about is HERE)

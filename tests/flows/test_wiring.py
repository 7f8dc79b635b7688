"""How an installation is put together: models found on this machine, the account, figures, missing libraries."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from souvenance.domain.ids import LOCAL_ACCOUNT
from souvenance.errors import SettingError
from souvenance.settings import Settings, read_settings
from souvenance.testing import FrozenClock, ScriptedUpstream
from souvenance.wiring import DetectedModels, SystemClock, Uuid7Ids, limits_of, open_house


@pytest.fixture
def nearby() -> Iterator[ScriptedUpstream]:
    """A model server on a port of this machine."""
    with ScriptedUpstream(models=("nearby-model",)) as server:
        yield server


def _settings(folder: Path, **flags: object) -> Settings:
    return read_settings({"folder": folder, "local_ports": [], **flags}, environment={})


async def _names(models: DetectedModels) -> list[str]:
    return [info.name for info in await models.models()]


async def test_opening_contacts_nobody_and_the_first_question_looks_around(
    tmp_path: Path, nearby: ScriptedUpstream
) -> None:
    async with await open_house(_settings(tmp_path, local_ports=[nearby.port])) as house:
        assert nearby.everything == ()
        (info,) = await house.kit.models.models()
    assert (info.name, info.provider) == ("nearby-model", f"other-{nearby.port}")


async def test_a_server_that_starts_later_is_found(tmp_path: Path) -> None:
    clock = FrozenClock()
    late = ScriptedUpstream(models=("late",)).start()
    port = late.port
    late.stop()
    models = DetectedModels(_settings(tmp_path, local_ports=[port]), clock=clock, environment={})
    assert await _names(models) == []
    with ScriptedUpstream(models=("late",), port=port):
        assert await _names(models) == []
        clock.advance(seconds=11)
        assert await _names(models) == ["late"]
    await models.close()


async def test_nothing_is_looked_for_when_detection_is_off(tmp_path: Path, nearby: ScriptedUpstream) -> None:
    settings = _settings(tmp_path, local_ports=[nearby.port], detect_local=False)
    models = DetectedModels(settings, clock=SystemClock(), environment={})
    assert await _names(models) == []
    assert nearby.everything == ()


async def test_a_server_that_is_set_and_found_counts_once(tmp_path: Path, nearby: ScriptedUpstream) -> None:
    upstreams = {"home": {"base_url": nearby.origin, "context": 4096, "tools": False}}
    models = DetectedModels(
        _settings(tmp_path, local_ports=[nearby.port], upstreams=upstreams), clock=SystemClock(), environment={}
    )
    (info,) = await models.models()
    assert (info.name, info.provider, info.context, info.can_call_tools) == ("nearby-model", "home", 4096, False)
    await models.close()


async def test_keys_count_only_where_no_upstream_is_set(tmp_path: Path, nearby: ScriptedUpstream) -> None:
    with ScriptedUpstream(models=("hosted",)) as hosted:
        environment = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": hosted.url}
        by_key = DetectedModels(_settings(tmp_path), clock=SystemClock(), environment=environment)
        assert await _names(by_key) == ["hosted"]
        assert hosted.everything[0].header("authorization") == "Bearer sk-test"
        asked = len(hosted.everything)
        settings = _settings(tmp_path, upstreams={"home": {"base_url": nearby.url}})
        by_setting = DetectedModels(settings, clock=SystemClock(), environment=environment)
        assert await _names(by_setting) == ["nearby-model"]
        off = DetectedModels(_settings(tmp_path, detect_keys=False), clock=SystemClock(), environment=environment)
        assert await _names(off) == []
        assert len(hosted.everything) == asked
        for models in (by_key, by_setting, off):
            await models.close()


async def test_an_address_that_is_none_names_its_upstream(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"upstreams\.home\.base_url"):
        await open_house(_settings(tmp_path, upstreams={"home": {"base_url": "ftp://x"}}))


async def test_processes_that_open_an_empty_store_at_once_share_one_account(tmp_path: Path) -> None:
    houses = await asyncio.gather(*(open_house(_settings(tmp_path)) for _ in range(4)))
    secrets = {
        await house.kit.store.read(LOCAL_ACCOUNT, lambda unit: unit.owners.get().secret, label="test")
        for house in houses
    }
    for house in houses:
        await house.close()
    assert len(secrets) == 1


def test_limits_are_set_by_name_in_their_own_kind(tmp_path: Path) -> None:
    limits = limits_of(_settings(tmp_path, limits={"undo_seconds": 3, "window_share": 0.5}))
    assert (limits.undo_seconds, limits.window_share, limits.page_items) == (3, 0.5, 50)
    with pytest.raises(SettingError, match=r"limits\.undo_seconds.*whole number"):
        limits_of(_settings(tmp_path, limits={"undo_seconds": 0.5}))
    with pytest.raises(SettingError, match=r"limits\.undo_second:.*limits\.undo_seconds"):
        limits_of(_settings(tmp_path, limits={"undo_second": 5}))


def test_ids_sort_by_the_time_of_their_making_and_moments_are_aware() -> None:
    ids = [Uuid7Ids().new("mem") for _ in range(200)]
    assert ids == sorted(set(ids))
    assert all(re.fullmatch(r"mem_[0-9a-f]{32}", one) for one in ids)
    assert SystemClock().now().utcoffset() is not None


@pytest.mark.parametrize(
    ("missing", "arguments", "told"),
    [
        ("typer", ("doctor",), "souvenance[cli]"),
        ("uvicorn", ("serve", "--port", "0"), "souvenance[server]"),
        ("asyncpg", ("remember", "x", "--database-url", "postgresql://localhost/x"), "souvenance[postgres]"),
    ],
)
def test_a_missing_library_is_told_with_the_extra_that_brings_it(
    tmp_path: Path, missing: str, arguments: tuple[str, ...], told: str
) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        f"from souvenance.cli import main; sys.exit(main({[*arguments, '--folder', str(tmp_path)]!r}))"
    )
    ran = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=False)
    assert ran.returncode in (1, 2)
    assert told in ran.stderr
    assert "Traceback" not in ran.stderr

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from souvenance.errors import SettingError
from souvenance.settings import Settings, read_settings

_FILE = """
port = 7500
model = "from-file"

[limits]
undo_seconds = 3

[upstreams.home]
base_url = "http://127.0.0.1:9/v1"
context = 32768
"""


def _read(folder: Path, flags: dict[str, object] | None = None, **environment: str) -> Settings:
    return read_settings({"folder": folder, **(flags or {})}, environment)


def test_flags_win_over_the_environment_and_the_environment_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "souvenance.toml").write_text(_FILE)
    assert (_read(tmp_path).port, _read(tmp_path).model) == (7500, "from-file")
    from_environment = _read(tmp_path, SOUVENANCE_PORT="7600", SOUVENANCE_MODEL="from-environment")
    assert (from_environment.port, from_environment.model) == (7600, "from-environment")
    assert _read(tmp_path, {"port": 7700, "model": None}, SOUVENANCE_PORT="7600").port == 7700


def test_upstreams_and_limits_are_joined_name_by_name(tmp_path: Path) -> None:
    (tmp_path / "souvenance.toml").write_text(_FILE)
    read = _read(
        tmp_path,
        SOUVENANCE_UPSTREAMS_HOME_API_KEY="k",
        SOUVENANCE_UPSTREAMS_AWAY_BASE_URL="http://127.0.0.1:8/v1",
        SOUVENANCE_UPSTREAMS_AWAY_TOOLS="off",
        SOUVENANCE_LIMITS_PAGE_ITEMS="7",
    )
    home, away = read.upstreams["home"], read.upstreams["away"]
    assert (home.base_url, home.api_key, home.context, home.tools) == ("http://127.0.0.1:9/v1", "k", 32768, None)
    assert (away.base_url, away.tools) == ("http://127.0.0.1:8/v1", False)
    assert read.limits == {"undo_seconds": 3, "page_items": 7}


def test_a_file_elsewhere_is_named_by_an_environment_variable(tmp_path: Path) -> None:
    named = tmp_path / "other.toml"
    named.write_text('folder = "data"\nport = 7501\n')
    read = read_settings({}, {"SOUVENANCE_CONFIG": str(named)})
    assert (read.folder, read.port, read.file) == (tmp_path / "data", 7501, named)


@pytest.mark.parametrize(
    ("flags", "environment", "setting", "mend"),
    [
        ({"prot": 1}, {}, "prot", "Did you mean port?"),
        ({}, {"SOUVENANCE_PROT": "1"}, "SOUVENANCE_PROT", "Did you mean SOUVENANCE_PORT?"),
        ({}, {"SOUVENANCE_PORT": "70000"}, "SOUVENANCE_PORT", "7411"),
        ({}, {"SOUVENANCE_PORT": "７４１１"}, "SOUVENANCE_PORT", "7411"),
        ({"port": True}, {}, "port", "7411"),
        ({}, {"SOUVENANCE_DETECT_LOCAL": "perhaps"}, "SOUVENANCE_DETECT_LOCAL", "true"),
        ({}, {"SOUVENANCE_LOCAL_PORTS": "1,x"}, "SOUVENANCE_LOCAL_PORTS", "11434"),
        ({}, {"SOUVENANCE_MODEL_TIMEOUT": "-1"}, "SOUVENANCE_MODEL_TIMEOUT", "60"),
        ({}, {"SOUVENANCE_MODEL": "  "}, "SOUVENANCE_MODEL", "gemma3"),
        ({"time_zone": "Mars/Olympus"}, {}, "time_zone", "Europe/Oslo"),
        ({"time_zone": "../../etc/passwd"}, {}, "time_zone", "Europe/Oslo"),
        ({"database_url": "mysql://x/y"}, {}, "database_url", "postgresql://"),
        ({"log_level": "loud"}, {}, "log_level", "info"),
        ({"upstreams": {"a": {"url": "x"}}}, {}, "upstreams.a.url", "base_url"),
        ({"upstreams": {"a": {"context": 4096}}}, {}, "upstreams.a.base_url", "Add base_url"),
        ({"upstreams": {"a b": {"base_url": "x"}}}, {}, "upstreams.a b", "letters"),
        ({"upstreams": {"a": {"base_url": "x", "api_key_env": "NOPE"}}}, {}, "upstreams.a.api_key_env", "Set NOPE"),
        ({}, {"SOUVENANCE_CONFIG": "/no/such/file"}, "SOUVENANCE_CONFIG", "unset"),
    ],
)
def test_a_message_names_the_setting_and_the_mend(
    tmp_path: Path, flags: dict[str, object], environment: dict[str, str], setting: str, mend: str
) -> None:
    with pytest.raises(SettingError) as caught:
        read_settings({"folder": tmp_path, **flags}, environment)
    assert caught.value.details["setting"] == setting
    assert mend in str(caught.value.details["mend"])


@pytest.mark.parametrize(
    "written", ["port = 'x'", "prot = 7", "port = ", "[limits]\nx = 'y'", "upstreams = 3", "folder = 'x'"]
)
def test_a_bad_file_is_named_in_the_message(tmp_path: Path, written: str) -> None:
    (tmp_path / "souvenance.toml").write_text(written)
    with pytest.raises(SettingError, match=r"souvenance\.toml|limits|upstreams"):
        _read(tmp_path)


def test_secrets_do_not_show(tmp_path: Path) -> None:
    read = _read(
        tmp_path,
        {"database_url": "postgresql://ada:hunter2@db/souvenance", "upstreams": {"a": {"base_url": "http://x/v1"}}},
        SOUVENANCE_UPSTREAMS_A_API_KEY="sk-12345",
    )
    assert "hunter2" not in repr(read)
    assert "sk-12345" not in repr(read)
    assert read.database_url == "postgresql+asyncpg://ada:hunter2@db/souvenance"
    assert read.upstreams["a"].api_key == "sk-12345"


def test_variables_that_steer_tests_are_none_of_the_settings(tmp_path: Path) -> None:
    assert _read(tmp_path, SOUVENANCE_PROVE="1", SOUVENANCE_TEST_DATA="x", PATH="y").port == 7411


def test_the_data_folder_follows_the_platform_when_nobody_names_one(tmp_path: Path) -> None:
    assert read_settings({}, {"XDG_DATA_HOME": str(tmp_path)}).folder.parent == tmp_path


def test_reading_settings_loads_no_heavy_library() -> None:
    code = "import sys, souvenance.settings as s; s.read_settings(); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"sqlalchemy", "pydantic", "numpy", "httpx"}.isdisjoint(ran.stdout.split())

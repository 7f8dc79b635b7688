"""Where settings are written: file, environment, flags. Each is checked by itself, then laid over the one before.

The file is `souvenance.toml` in the data folder, or the one that SOUVENANCE_CONFIG names. In the environment a setting
is `SOUVENANCE_<NAME>`, of an upstream `SOUVENANCE_UPSTREAMS_<NAME>_BASE_URL`, of a limit `SOUVENANCE_LIMITS_<NAME>`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from souvenance.errors import SettingError
from souvenance.settings import values
from souvenance.settings.fields import PREFIX, READERS, TABLES, Settings
from souvenance.settings.values import Secret, UpstreamSettings

FILE_NAME = "souvenance.toml"
CONFIG_VARIABLE = "SOUVENANCE_CONFIG"
# Tests and proofs of a checkout are steered by these; a server that they start must not stumble over them.
_OTHERS = re.compile(r"SOUVENANCE_(CONFIG|PROVE|REPLAY|TEST_.*|BENCH_.*)")


def read_settings(flags: Mapping[str, object] | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force; flags that are None count as not given.

    Raises SettingError for a name that does not exist (with the nearest one that does) and for a value that cannot be.
    """
    environment = os.environ if environment is None else environment
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    by_flag = _checked(given, lambda name: name)
    by_environment = _checked(_environment_table(environment), lambda name: PREFIX + name.replace(".", "_").upper())
    base: dict[str, object] = {"folder": default_folder(environment), "time_zone": _machine_zone(environment)}
    file = _settings_file(environment, {**base, **by_environment, **by_flag}["folder"])
    by_file = _file_table(file, named=CONFIG_VARIABLE in environment) if file else {}
    merged: dict[str, Any] = base
    for source in (by_file, by_environment, by_flag):
        merged = _laid_over(merged, source)
    tables = merged.get("upstreams", {}).items()
    merged["upstreams"] = {name: _upstream(name, rows, environment) for name, rows in tables}
    return Settings(**merged, file=file)


def default_folder(environment: Mapping[str, str]) -> Path:
    """Where this kind of machine keeps a program's data."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Souvenance"
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "Souvenance"
    return Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share").absolute() / "souvenance"


def _machine_zone(environment: Mapping[str, str]) -> str:
    """The machine's own time zone by its IANA name, UTC where it has none."""
    linked = re.search(r"zoneinfo/(?:posix/|right/)?(.+)$", os.path.realpath("/etc/localtime"))
    for name in (environment.get("TZ", "").removeprefix(":"), linked.group(1) if linked else ""):
        try:
            return values.time_zone("time_zone", name)
        except SettingError:
            continue
    return "UTC"


def _checked(raw: Mapping[str, object], label: Callable[[str], str]) -> dict[str, object]:
    values.refuse_unknown(raw, READERS, label)
    return {name: READERS[name](label(name), value) for name, value in raw.items()}


def _environment_table(environment: Mapping[str, str]) -> dict[str, object]:
    """SOUVENANCE_* as a settings file would say it."""
    table: dict[str, object] = {}
    upstreams: dict[str, dict[str, object]] = {}
    limits: dict[str, object] = {}
    for variable, value in environment.items():
        if not variable.startswith(PREFIX) or _OTHERS.fullmatch(variable):
            continue
        name = variable.removeprefix(PREFIX).lower()
        if found := re.fullmatch(rf"upstreams_(.+)_({'|'.join(values.UPSTREAM_READERS)})", name):
            upstreams.setdefault(found.group(1), {})[found.group(2)] = value
        elif name.startswith("limits_"):
            limits[name.removeprefix("limits_")] = value
        else:
            table[name] = value
    tables = {"upstreams": upstreams, "limits": limits}
    return {**table, **{name: rows for name, rows in tables.items() if rows}}


def _settings_file(environment: Mapping[str, str], folder: object) -> Path | None:
    if named := environment.get(CONFIG_VARIABLE):
        path = Path(named).expanduser().absolute()
        if not path.is_file():
            raise SettingError(CONFIG_VARIABLE, problem=f"there is no file {path}", mend="Name one, or unset it.")
        return path
    assert isinstance(folder, Path)
    path = folder / FILE_NAME
    return path if path.is_file() else None


def _file_table(file: Path, *, named: bool) -> dict[str, object]:
    import tomllib

    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(str(file), problem=f"it is not TOML: {error}", mend="Mend that line.") from error
    except OSError as error:
        raise SettingError(str(file), problem=f"it cannot be read ({error})", mend="Mend its permissions.") from error
    if "folder" in raw and not named:
        problem = "the data folder cannot be named by a file that lies in it"
        raise SettingError(f"folder in {file}", problem=problem, mend="Set SOUVENANCE_FOLDER instead.")
    if isinstance(raw.get("folder"), str):
        raw["folder"] = str(file.parent / Path(raw["folder"]).expanduser())
    return _checked(raw, lambda name: f"{name} in {file}")


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """The tables are joined name by name, and an upstream's lines too; everything else is replaced."""
    merged = {**below, **above}
    for name in TABLES:
        merged[name] = {**below.get(name, {}), **above.get(name, {})}
    for name, rows in above.get("upstreams", {}).items():
        merged["upstreams"][name] = {**below.get("upstreams", {}).get(name, {}), **rows}
    return merged


def _upstream(name: str, rows: Mapping[str, Any], environment: Mapping[str, str]) -> UpstreamSettings:
    here = f"upstreams.{name}"
    if "base_url" not in rows:
        mend = 'Add base_url = "http://127.0.0.1:11434/v1".'
        raise SettingError(f"{here}.base_url", problem="it is missing", mend=mend)
    variable = rows.get("api_key_env")
    if variable and not environment.get(variable):
        problem = f"it names {variable}, which the environment does not hold"
        raise SettingError(f"{here}.api_key_env", problem=problem, mend=f"Set {variable}, or write api_key.")
    key = environment[variable] if variable else rows.get("api_key", "")
    rest = {row: value for row, value in rows.items() if row not in ("api_key", "api_key_env")}
    return UpstreamSettings(name=name, api_key=Secret(key), **rest)

"""Writes the reference pages that are made from the code: limits, settings, errors, REST endpoints and commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from souvenance import errors
from souvenance.domain.limits import Figure, Limits, figures
from souvenance.settings.fields import PREFIX, Settings

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"


def limits_page() -> str:
    """Every default figure in one table."""
    rows = [_limit(figure) for figure in figures(Limits())]
    head = ["limit", "default", "unit", "what it bounds", "rule"]
    return _page("Limits", "Every default figure, made from `souvenance.domain.limits` by `make docs`.", head, rows)


def settings_page() -> str:
    """Every setting: by file, environment and flag."""
    rows = [
        [f"`{one.name}`", f"`{PREFIX}{one.name.upper()}`", _default(one.default), str(one.metadata["says"])]
        for one in fields(Settings)
        if "says" in one.metadata
    ]
    says = (
        "Read once from `souvenance.toml` in the data folder (or the file that `SOUVENANCE_CONFIG` names), from the "
        "environment, and from flags; the later wins. Made from the code by `make docs`."
    )
    return _page("Settings", says, ["in the file", "in the environment", "default", "what it is"], rows)


def errors_page() -> str:
    """Every error with the statuses it has at the doors, and what the server says by itself."""
    from souvenance.server.problems import OPENAI_CODES, OPENAI_STATUSES, OWN_CODES, STATUSES

    rows = [
        [
            f"`{kind.code}`",
            f"`{kind.__name__}`",
            _status(kind, STATUSES),
            _status(kind, OPENAI_STATUSES) + (f" `{OPENAI_CODES[kind]}`" if kind in OPENAI_CODES else ""),
            (kind.__doc__ or "").strip().splitlines()[0],
        ]
        for kind in _tree(errors.SouvenanceError)
    ]
    rows += [[f"`{code}`", "", str(its.status), str(its.status), its.says] for code, its in OWN_CODES.items()]
    says = (
        "Every error of `souvenance.errors`, with its status on `/api/v1` and on `/v1` (and its code there, where "
        "OpenAI's clients know another); below them what the server says by itself. Made by `make docs`."
    )
    return _page("Errors", says, ["code", "class", "/api/v1", "/v1", "when"], rows)


def rest_page() -> str:
    """Every endpoint of the server."""
    from fastapi import FastAPI

    from souvenance.server import openai_door
    from souvenance.server.api import rest_router

    app = FastAPI()
    app.include_router(rest_router())
    app.include_router(openai_door.router, prefix="/v1")
    rows = [
        [f"`{method.upper()} {path}`", str(told.get("description") or told["summary"]).split("\n\n")[0]]
        for path, methods in app.openapi()["paths"].items()
        for method, told in methods.items()
    ]
    says = "Every endpoint; shapes stand in the OpenAPI description at `/api/v1/openapi.json`. Made by `make docs`."
    return _page("Endpoints", says, ["endpoint", "what it does"], rows)


def commands_page() -> str:
    """Every command of the command line with its flags."""
    from typer.main import get_command

    from souvenance.cli.program import program_of

    rows = list(_commands("souvenance", get_command(program_of())))
    says = "Every command; `souvenance COMMAND --help` says more. Made by `make docs`."
    return _page("Commands", says, ["command", "what it does", "flags"], rows)


PAGES: dict[str, Callable[[], str]] = {
    "limits.md": limits_page,
    "settings.md": settings_page,
    "errors.md": errors_page,
    "rest.md": rest_page,
    "commands.md": commands_page,
}


def _page(title: str, says: str, head: list[str], rows: list[list[str]]) -> str:
    table = [head, ["---"] * len(head), *rows]
    return "\n".join([f"# {title}", "", says, "", *(f"| {' | '.join(map(_cell, row))} |" for row in table), ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _limit(figure: Figure) -> list[str]:
    value = f"{figure.value:,}" if isinstance(figure.value, int) else f"{figure.value:g}"
    return [f"`{figure.name}`", value, figure.unit, figure.says, figure.rule]


def _default(default: Any) -> str:
    shown = "" if default is None or not isinstance(default, str | int | float) else str(default)
    return f"`{shown.lower() if isinstance(default, bool) else shown}`" if shown else ""


def _commands(name: str, command: Any) -> Iterator[list[str]]:
    """A command, or every command below a group, with its arguments and flags."""
    below = getattr(command, "commands", None)
    if below is None:
        taken = [" ".join(one.opts) if one.opts[0].startswith("-") else _argument(one) for one in command.params]
        yield [f"`{name}`", (command.help or "").strip().splitlines()[0], ", ".join(f"`{one}`" for one in taken)]
        return
    for word, child in below.items():
        yield from _commands(f"{name} {word}", child)


def _argument(one: Any) -> str:
    return str(one.metavar or one.name.upper())


def _status(kind: type[errors.SouvenanceError], statuses: Mapping[type[errors.SouvenanceError], int]) -> str:
    return str(next((int(statuses[one]) for one in kind.__mro__ if one in statuses), 500))


def _tree(kind: type[errors.SouvenanceError]) -> Iterator[type[errors.SouvenanceError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__.startswith(f"{errors.__name__}."):
            yield from _tree(child)


def main() -> int:
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

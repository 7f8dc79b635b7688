"""`souvenance doctor`: what was found, what is missing, how to mend it."""

from __future__ import annotations

import asyncio

import typer

from souvenance.cli.findings import Finding, State, as_finding, examine
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, table
from souvenance.errors import SettingError
from souvenance.settings import read_settings


def doctor(*, folder: Folder = None, database_url: Database = None, as_json: AsJson = False) -> None:
    """Look at settings, store, models and libraries; exits with 1 when something is broken."""
    findings = _findings({"folder": folder, "database_url": database_url})
    if as_json:
        for finding in findings:
            json_line(finding.form())
    else:
        table(("", "", "", "how to mend it"), [(f.state.value, f.subject, f.says, f.mend) for f in findings])
    if any(finding.state is State.BROKEN for finding in findings):
        raise typer.Exit(1)


def _findings(flags: dict[str, object]) -> tuple[Finding, ...]:
    try:
        settings = read_settings(flags)
    except SettingError as error:
        return (as_finding("settings", error),)
    return asyncio.run(examine(settings))

"""`souvenance bots …`: whom one talks with."""

from __future__ import annotations

from typing import Annotated

import typer

from souvenance.cli.delete_bot import delete
from souvenance.cli.json_forms import bot_form
from souvenance.cli.options import AsJson, Database, Folder
from souvenance.cli.output import json_line, line, table
from souvenance.cli.running import with_memory
from souvenance.cli.share_bot import export, import_, share
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.limits import Level
from souvenance.errors import BadValue
from souvenance.library import Souvenance

bots = typer.Typer(no_args_is_help=True, help="See, make, change, hand on and delete bots.")
bots.command()(delete)
bots.command()(export)
bots.command()(share)
bots.command("import")(import_)

Name = Annotated[str, typer.Argument(help="The bot's name or id.")]
Prompt = Annotated[str | None, typer.Option(help="The bot's system prompt.")]
Model = Annotated[str | None, typer.Option(help="The model that answers for it.")]
Changed = Annotated[
    list[str] | None, typer.Option("--setting", metavar="NAME=VALUE", help="One setting, such as learn=off.")
]

_SWITCHES = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


@bots.command("list")
def list_(*, folder: Folder = None, database_url: Database = None, as_json: AsJson = False) -> None:
    """All bots, in the order in which they were made."""

    async def work(memory: Souvenance) -> list[Bot]:
        return [bot async for bot in memory.bots()]

    found = with_memory(work, folder=folder, database_url=database_url)
    if as_json:
        for bot in found:
            json_line(bot_form(bot))
    else:
        table(("id", "name", "preset", "model"), [(b.bot_id, b.name, b.preset.value, b.model or "") for b in found])


@bots.command()
def show(name: Name, *, folder: Folder = None, database_url: Database = None, as_json: AsJson = False) -> None:
    """One bot with its settings."""
    _print(with_memory(lambda memory: memory.bot(name), folder=folder, database_url=database_url), as_json)


@bots.command()
def add(
    name: Annotated[str, typer.Argument(help="The new bot's name.")],
    *,
    preset: Annotated[Preset, typer.Option(help="Where its settings start from.")] = Preset.COMPANION,
    system_prompt: Prompt = None,
    model: Model = None,
    setting: Changed = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make a bot."""
    settings = _settings(setting)
    made = with_memory(
        lambda memory: memory.add_bot(
            name, preset=preset, system_prompt=system_prompt or "", model=model, settings=settings
        ),
        folder=folder,
        database_url=database_url,
    )
    _print(made, as_json)


@bots.command("set")
def set_(
    name: Name,
    *,
    rename: Annotated[str | None, typer.Option("--name", help="Its new name.")] = None,
    system_prompt: Prompt = None,
    model: Model = None,
    setting: Changed = None,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """Change a bot; what is not named stays."""
    given: dict[str, object] = {"name": rename, "system_prompt": system_prompt, "model": model}
    changes = {field: value for field, value in given.items() if value is not None}
    if setting:
        changes["settings"] = _settings(setting)
    if not changes:
        raise BadValue("bots set", value=name, expected="at least one of --name, --system-prompt, --model, --setting")
    changed = with_memory(lambda memory: memory.change_bot(name, changes), folder=folder, database_url=database_url)
    _print(changed, as_json)


@bots.command()
def level(
    name: Name,
    level: Annotated[Level | None, typer.Argument(help="The new level; without it the present one is printed.")] = None,
    *,
    folder: Folder = None,
    database_url: Database = None,
    as_json: AsJson = False,
) -> None:
    """How much of its conversations is kept word for word; a new level holds from the next message on."""

    async def work(memory: Souvenance) -> Level:
        if level is not None:
            await memory.set_level(name, level)
        return await memory.level(name)

    now = with_memory(work, folder=folder, database_url=database_url)
    if as_json:
        json_line({"bot": name, "level": now.value})
    else:
        line(now.value)


def _settings(given: list[str] | None) -> dict[str, str | bool]:
    """`learn=off` as a name and a value; whether there is such a setting is for the app to say."""
    read: dict[str, str | bool] = {}
    for pair in given or []:
        name, equals, value = pair.partition("=")
        if not equals:
            raise BadValue("--setting", value=pair, expected="a name and a value, such as learn=off")
        read[name.strip()] = _SWITCHES.get(value.strip().lower(), value.strip())
    return read


def _print(bot: Bot, as_json: bool) -> None:
    form = bot_form(bot)
    if as_json:
        json_line(form)
        return
    settings = form.pop("settings")
    assert isinstance(settings, dict)
    shown = [(name, str(value)) for name, value in {**form, **settings}.items() if value not in (None, "")]
    table(("", ""), shown)

"""A bot as a document that can be handed on, and as a link that holds all of it (K4): never memory, never keys."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from souvenance.domain.bot import Bot, Preset
from souvenance.domain.json_object import JsonObject
from souvenance.domain.limits import Limits
from souvenance.errors import BadValue, TextTooLong

VERSION = 1

_LINK = "souvenance://bot"
_FIELDS = frozenset({"souvenance_bot", "name", "preset", "settings", "system_prompt", "model"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BotDocument:
    """What a document says of a bot; its texts and settings are checked where the bot is made."""

    name: str
    preset: Preset
    settings: Mapping[str, object]
    system_prompt: str
    model: str | None


def document_of(bot: Bot) -> JsonObject:
    """The bot as JSON, versioned."""
    return {
        "souvenance_bot": VERSION,
        "name": bot.name,
        "preset": bot.preset.value,
        "settings": asdict(bot.settings),
        "system_prompt": bot.system_prompt,
        "model": bot.model,
    }


def read_document(document: object) -> BotDocument:
    """BadValue, naming the field, for what `document_of` could not have made."""
    if not isinstance(document, Mapping):
        raise BadValue("document", value=document, expected="a JSON object")
    if document.get("souvenance_bot") != VERSION:
        raise BadValue("souvenance_bot", value=document.get("souvenance_bot"), expected=f"version {VERSION}")
    if unknown := sorted(map(str, document.keys() - _FIELDS)):
        raise BadValue(unknown[0], value=document.get(unknown[0]), expected="no such field")
    settings = document.get("settings", {})
    if not isinstance(settings, Mapping):
        raise BadValue("settings", value=settings, expected="settings by name")
    return BotDocument(
        name=_text("name", document.get("name")),
        preset=_preset(document.get("preset")),
        settings={str(name): value for name, value in settings.items()},
        system_prompt=_text("system_prompt", document.get("system_prompt", "")),
        model=None if document.get("model") is None else _text("model", document["model"]),
    )


def link_of(document: JsonObject, limits: Limits) -> str:
    """The whole document in the fragment of a URL, which no browser sends to a server. TextTooLong past the limit."""
    written = json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    packed = base64.urlsafe_b64encode(zlib.compress(written, 9)).rstrip(b"=").decode()
    link = f"{_LINK}#{packed}"
    _refuse_long(len(link), limits.link_characters, "characters")
    return link


def read_link(link: str, limits: Limits) -> object:
    """The document in a link's fragment, not looked at yet; what grows past the limit is never unpacked."""
    _refuse_long(len(link), limits.link_characters, "characters")
    packed = link.strip().rpartition("#")[2]
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        inflater = zlib.decompressobj()
        written = inflater.decompress(data, limits.document_bytes + 1)
        _refuse_long(len(written), limits.document_bytes, "bytes")
        if not inflater.eof:
            raise BadValue("link", value=link, expected="a whole link, from its first character to its last")
        return json.loads(written)
    except (binascii.Error, zlib.error, ValueError, RecursionError) as e:
        raise BadValue("link", value=link, expected="a link that shares a bot") from e


def numbered(name: str, number: int, limits: Limits) -> str:
    """The name for the `number`th bot of this name, within its limit."""
    if number == 1:
        return name
    suffix = f" {number}"
    return name[: limits.name_characters - len(suffix)].rstrip() + suffix


def _refuse_long(size: int, limit: int, unit: str) -> None:
    if size > limit:
        raise TextTooLong("link", size=size, limit=limit, unit=unit)


def _text(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadValue(field, value=value, expected="text")
    return value


def _preset(value: object) -> Preset:
    try:
        return Preset(str(value))
    except ValueError as e:
        raise BadValue("preset", value=value, expected=" or ".join(Preset)) from e

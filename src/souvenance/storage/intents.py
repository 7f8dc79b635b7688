"""Intents of the journal as a stable word and, for those that say something, JSON; their evidence is kept apart."""

from __future__ import annotations

import json
from types import NoneType
from typing import Any, TypeAlias, assert_never

from souvenance.domain.journal import Add, Archive, Content, Delete, Intent, Move, Pin, Restore, Unpin, Update
from souvenance.domain.memory import Evidence, Origin, Scope
from souvenance.errors import BadValue, StoreError

Stored: TypeAlias = tuple[str, str | None]
"""The word, and the JSON or None."""

_SAYING: dict[str, type[Add | Update | Pin]] = {"add": Add, "update": Update, "pin": Pin}
_BARE: dict[str, Intent] = {"unpin": Unpin(), "archive": Archive(), "restore": Restore(), "delete": Delete()}
_ORIGINS = {origin.value: origin for origin in Origin}
_FIELDS = ("text", "key", "subject", "confidence", "origin", "language", "sensitive")
_SHAPES = frozenset(
    (str, key, str, confidence, str, str, bool) for key in (str, NoneType) for confidence in (float, int)
)
"""What `_FIELDS` may be: compared whole, since a long history is thousands of these (Z3)."""


_parse = json.JSONDecoder().raw_decode


def stored_of(intent: Intent) -> Stored:
    match intent:
        case Add(content=content):
            return "add", _written(content)
        case Update(content=content):
            return "update", _written(content)
        case Pin(content=content):
            return "pin", _written(content)
        case Move(scope=scope):
            return "move", _json({"scope": scope.key})
        case Unpin():
            return "unpin", None
        case Archive():
            return "archive", None
        case Restore():
            return "restore", None
        case Delete():
            return "delete", None
        case _:
            assert_never(intent)


def intent_of(word: str, stored: str | None, evidence: tuple[Evidence, ...] = ()) -> Intent:
    """The intent that `stored_of` made these of, with its evidence. Raises StoreError for anything that it could not
    have made.
    """
    if stored is None:
        if word not in _BARE:
            raise StoreError(f"The journal holds {word!r} without a content.")
        return _BARE[word]
    if word in _BARE:
        raise StoreError(f"The journal holds {word!r} with a content.")
    fields = _fields(word, stored)
    saying = _SAYING.get(word)
    if saying is not None:
        return saying(content=_content(word, fields, evidence))
    if word == "move":
        return Move(scope=_scope(fields))
    raise StoreError(f"The journal holds an intent {word!r} that this version does not know.")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _written(content: Content) -> str:
    return _json(
        {
            "text": content.text,
            "key": content.key,
            "subject": content.subject,
            "confidence": content.confidence,
            "origin": content.origin,
            "language": content.language,
            "sensitive": content.sensitive,
        }
    )


def _fields(word: str, stored: str) -> dict[str, Any]:
    try:
        fields, end = _parse(stored)
    except json.JSONDecodeError as e:
        raise StoreError(f"The journal holds {word!r} with a content that is no JSON.") from e
    if type(fields) is not dict or end != len(stored):
        raise StoreError(f"The journal holds {word!r} with a content that is no object.")
    return fields


def _content(word: str, fields: dict[str, Any], evidence: tuple[Evidence, ...]) -> Content:
    values = tuple(fields.values())
    if tuple(fields) != _FIELDS or tuple(map(type, values)) not in _SHAPES or fields["origin"] not in _ORIGINS:
        raise StoreError(f"The journal holds {word!r} with fields that it cannot have.")
    text, key, subject, confidence, origin, language, sensitive = values
    return Content(
        text=text,
        key=key,
        subject=subject,
        confidence=float(confidence),
        origin=_ORIGINS[origin],
        language=language,
        sensitive=sensitive,
        evidence=evidence,
    )


def _scope(fields: dict[str, Any]) -> Scope:
    match fields:
        case {"scope": str(key)} if len(fields) == 1:
            try:
                return Scope.parse(key)
            except BadValue as e:
                raise StoreError(f"The journal holds a move into an unknown scope {key!r}.") from e
    raise StoreError("The journal holds 'move' with fields that it cannot have.")

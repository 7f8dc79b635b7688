"""Intents of the journal as a stable word and, for those that say something, JSON; their evidence is kept apart."""

from __future__ import annotations

import json
from typing import TypeAlias, assert_never

from souvenance.domain.journal import Add, Archive, Content, Delete, Intent, Move, Pin, Restore, Unpin, Update
from souvenance.domain.memory import Evidence, Origin, Scope
from souvenance.errors import BadValue, StoreError

Stored: TypeAlias = tuple[str, str | None]
"""The word, and the JSON or None."""

_SAYING: dict[str, type[Add | Update | Pin]] = {"add": Add, "update": Update, "pin": Pin}
_BARE: dict[str, Intent] = {"unpin": Unpin(), "archive": Archive(), "restore": Restore(), "delete": Delete()}
_FIELDS = frozenset({"text", "key", "subject", "confidence", "origin", "language", "sensitive"})


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
    if word in _BARE:
        if stored is not None:
            raise StoreError(f"The journal holds {word!r} with a content.")
        return _BARE[word]
    if stored is None:
        raise StoreError(f"The journal holds {word!r} without a content.")
    fields = _fields(word, stored)
    if word in _SAYING:
        return _SAYING[word](content=_content(word, fields, evidence))
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


def _fields(word: str, stored: str) -> dict[str, object]:
    try:
        fields = json.loads(stored)
    except json.JSONDecodeError as e:
        raise StoreError(f"The journal holds {word!r} with a content that is no JSON.") from e
    if not isinstance(fields, dict):
        raise StoreError(f"The journal holds {word!r} with a content that is no object.")
    return fields


def _content(word: str, fields: dict[str, object], evidence: tuple[Evidence, ...]) -> Content:
    match fields:
        case {
            "text": str(text),
            "key": (str() | None) as key,
            "subject": str(subject),
            "confidence": (float() | int()) as confidence,
            "origin": str(origin),
            "language": str(language),
            "sensitive": bool(sensitive),
        } if fields.keys() == _FIELDS and origin in set(Origin):
            return Content(
                text=text,
                key=key,
                subject=subject,
                confidence=float(confidence),
                origin=Origin(origin),
                language=language,
                sensitive=sensitive,
                evidence=evidence,
            )
    raise StoreError(f"The journal holds {word!r} with fields that it cannot have.")


def _scope(fields: dict[str, object]) -> Scope:
    match fields:
        case {"scope": str(key)} if len(fields) == 1:
            try:
                return Scope.parse(key)
            except BadValue as e:
                raise StoreError(f"The journal holds a move into an unknown scope {key!r}.") from e
    raise StoreError("The journal holds 'move' with fields that it cannot have.")

"""Intents of the journal as a stable word and, for those that say something, columns; their evidence is kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never, cast

from souvenance.domain.journal import Add, Archive, Content, Delete, Intent, Move, Pin, Restore, Unpin, Update
from souvenance.domain.memory import Evidence, Origin, Scope
from souvenance.errors import BadValue, StoreError
from souvenance.storage.blanks import blank_of

COLUMNS = ("intent", "moved_to", "text", "key", "subject", "confidence", "origin", "language", "sensitive")
"""What `intent_of` expects, in this order, and `stored_of` fills: all of a content or none, `moved_to` of a move."""

_NOTHING: dict[str, object] = dict.fromkeys(COLUMNS)
_SAYING: dict[str, type[Add | Update | Pin]] = {"add": Add, "update": Update, "pin": Pin}
_BARE: dict[str, Intent] = {"unpin": Unpin(), "archive": Archive(), "restore": Restore(), "delete": Delete()}
_ORIGINS = {origin.value: origin for origin in Origin}
_Blank = blank_of(Content)


def stored_of(intent: Intent) -> dict[str, object]:
    match intent:
        case Add(content=content):
            return _said("add", content)
        case Update(content=content):
            return _said("update", content)
        case Pin(content=content):
            return _said("pin", content)
        case Move(scope=scope):
            return {**_NOTHING, "intent": "move", "moved_to": scope.key}
        case Unpin():
            return {**_NOTHING, "intent": "unpin"}
        case Archive():
            return {**_NOTHING, "intent": "archive"}
        case Restore():
            return {**_NOTHING, "intent": "restore"}
        case Delete():
            return {**_NOTHING, "intent": "delete"}
        case _:
            assert_never(intent)


def intent_of(stored: Sequence[Any], evidence: tuple[Evidence, ...] = ()) -> Intent:
    """The intent that `stored_of` made these of, with its evidence. Raises StoreError for anything that it could not
    have made.
    """
    word, moved_to, text, _, _, _, origin, _, _ = stored
    saying = _SAYING.get(word)
    if saying is not None:
        if text is None or origin not in _ORIGINS:
            raise StoreError(f"The journal holds {word!r} with fields that it cannot have.")
        return saying(content=_content(stored, evidence))
    if text is not None:
        raise StoreError(f"The journal holds {word!r} with a content.")
    if word == "move":
        return Move(scope=_scope(moved_to))
    if word not in _BARE:
        raise StoreError(f"The journal holds an intent {word!r} that this version does not know.")
    return _BARE[word]


def _said(word: str, content: Content) -> dict[str, object]:
    return {
        **_NOTHING,
        "intent": word,
        "text": content.text,
        "key": content.key,
        "subject": content.subject,
        "confidence": content.confidence,
        "origin": content.origin,
        "language": content.language,
        "sensitive": content.sensitive,
    }


def _content(stored: Sequence[Any], evidence: tuple[Evidence, ...]) -> Content:
    c = _Blank()
    _, _, c.text, c.key, c.subject, c.confidence, origin, c.language, c.sensitive = stored
    c.origin, c.evidence = _ORIGINS[origin], evidence
    c.__class__ = Content
    return cast(Content, c)


def _scope(moved_to: str | None) -> Scope:
    try:
        return Scope.parse(moved_to or "")
    except BadValue as e:
        raise StoreError(f"The journal holds a move into an unknown scope {moved_to!r}.") from e

"""Read the data files of languages strictly and compile their phrases; a mistake names its file and field."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import reduce
from types import MappingProxyType
from typing import TypeAlias

from souvenance.domain.phrases import Kinds, Language, Phrases, PhraseSet, plain
from souvenance.errors import SettingError

Table: TypeAlias = Mapping[str, object]

_SENTENCE_FIELDS = ("abbreviations", "before_ordinals", "months")
_PIECE = re.compile(r"\.\.\. ?|[()\[\]|*$]|(?:(?!\.\.\.)[^()\[\]|*$])+")
_LAST_OPTIONAL = re.compile(r" \[([^\[\]]*)\]\Z")
_SPACED = {"...": r"((?:\S+ ){0,8}?)", "*": r"\w{0,30}"}
_UNSPACED = {"...": r"(.{0,24}?)", "*": r".{0,4}?"}


def read_phrases(files: Mapping[str, str]) -> Phrases:
    """The phrases of all languages, from the texts of their files by name; SettingError names file and field."""
    tables = {name: _parsed(name, files[name]) for name in sorted(files)}
    words = {
        field: reduce(
            frozenset.union, (_words(name, table, "sentences", field) for name, table in tables.items()), _NONE
        )
        for field in _SENTENCE_FIELDS
    }
    return Phrases(languages=tuple(_language(name, table) for name, table in tables.items()), **words)


_NONE: frozenset[str] = frozenset()


def compiled(phrases: list[str], *, spaced: bool) -> PhraseSet:
    """Phrases as they are tried: ValueError for one that cannot be read or begins with any word."""
    by_first: dict[str, list[str]] = {}
    for phrase, written in ((one, way) for one in phrases for way in _with_and_without(plain(one))):
        try:
            pattern = _pattern(written, spaced=spaced)
            firsts = dict.fromkeys(_firsts(written, spaced=spaced))
        except ValueError as error:
            raise ValueError(f"{phrase!r}: {error}") from error
        for first in firsts:
            by_first.setdefault(first, []).append(pattern)
    return PhraseSet(
        spaced=spaced, by_first=MappingProxyType({first: tuple(found) for first, found in by_first.items()})
    )


def _parsed(name: str, text: str) -> Table:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _wrong(name, "toml", str(error)) from error


def _language(name: str, table: Table) -> Language:
    known = {"language", "sentences", "phrases", "state"}
    if unknown := table.keys() - known:
        raise _wrong(name, min(unknown), "no such section is known")
    language = _section(name, table, "language", ("code", "spaced", "common", "determiners"))
    code, spaced = language["code"], language["spaced"]
    if not isinstance(code, str) or code != name.removesuffix(".toml"):
        raise _wrong(name, "language.code", "it must be the name of the file")
    if not isinstance(spaced, bool):
        raise _wrong(name, "language.spaced", "it must be true or false")
    _section(name, table, "sentences", _SENTENCE_FIELDS)
    kinds = tuple(field.name for field in fields(Kinds))
    said = _section(name, table, "phrases", kinds)
    return Language(
        code=code,
        spaced=spaced,
        common=frozenset(map(plain, _strings(name, "language.common", language["common"]))),
        determiners=frozenset(map(plain, _strings(name, "language.determiners", language["determiners"]))),
        say=Kinds(**{kind: _phrase_set(name, f"phrases.{kind}", said[kind], spaced=spaced) for kind in kinds}),
        state=MappingProxyType(
            {
                about: _phrase_set(name, f"state.{about}", given, spaced=spaced)
                for about, given in _section(name, table, "state", None).items()
            }
        ),
    )


def _section(name: str, table: Table, section: str, names: tuple[str, ...] | None) -> Table:
    found = table.get(section)
    if not isinstance(found, dict):
        raise _wrong(name, section, "the section is missing")
    for field in names or ():
        if field not in found:
            raise _wrong(name, f"{section}.{field}", "it is missing")
    if names is not None and (unknown := found.keys() - set(names)):
        raise _wrong(name, f"{section}.{min(unknown)}", "no such field is known")
    return found


def _words(name: str, table: Table, section: str, field: str) -> frozenset[str]:
    return frozenset(
        word.casefold()
        for word in _strings(name, f"{section}.{field}", _section(name, table, section, None).get(field))
    )


def _strings(name: str, field: str, given: object) -> list[str]:
    if not isinstance(given, list):
        raise _wrong(name, field, "it must be a list of strings")
    for one in given:
        if not isinstance(one, str) or not one.strip():
            raise _wrong(name, field, f"{one!r} is no text")
    return given


def _phrase_set(name: str, field: str, given: object, *, spaced: bool) -> PhraseSet:
    try:
        return compiled(_strings(name, field, given), spaced=spaced)
    except ValueError as error:
        raise _wrong(name, field, str(error)) from error


def _pattern(phrase: str, *, spaced: bool) -> str:
    """A regular expression whose gaps are bounded. A blank after `[...]` belongs to what is optional."""
    gaps = _SPACED if spaced else _UNSPACED
    written: list[str] = []
    open_groups: list[str] = []
    for piece in _pieces(phrase):
        if piece in ("(", "["):
            if open_groups:
                raise ValueError("a group in a group")
            open_groups.append(piece)
            written.append("(?:(?:" if piece == "[" else "(?:")
        elif piece in (")", "]", "] "):
            if not open_groups or open_groups.pop() != ("(" if piece == ")" else "["):
                raise ValueError("a bracket that was not opened")
            written.append({")": ")", "]": "))?", "] ": ") )?"}[piece])
        else:
            written.append({"|": "|", "$": r"\Z"}.get(piece) or gaps.get(piece.strip(" ")) or re.escape(piece))
    if open_groups:
        raise ValueError("a bracket that was not closed")
    open_end = not spaced or phrase.endswith(("*", "...", "$"))
    return "".join(written) if open_end else "".join(written) + r"(?!\w)"


def _with_and_without(phrase: str) -> tuple[str, ...]:
    """Both phrases where the last words are optional: the blank before them is so, too."""
    found = _LAST_OPTIONAL.search(phrase)
    if found is None:
        return (phrase,)
    before = phrase[: found.start()]
    return (f"{before} ({found[1]})", *_with_and_without(before))


def _pieces(phrase: str) -> Iterator[str]:
    found = _PIECE.findall(phrase)
    for position, piece in enumerate(found):
        after_option = position > 0 and found[position - 1] == "]"
        rest = piece.removeprefix(" ") if after_option and piece.startswith(" ") else piece
        if piece == "]" and position + 1 < len(found) and found[position + 1].startswith(" "):
            yield "] "
        elif rest:
            yield rest


def _firsts(phrase: str, *, spaced: bool) -> Iterator[str]:
    """The words (characters, where there are no spaces) that the phrase can begin with."""
    if phrase[:1] in ("(", "["):
        end = phrase.index(")" if phrase[0] == "(" else "]")
        for one in phrase[1:end].split("|"):
            yield _first(one, spaced=spaced)
        if phrase[0] == "[":
            yield from _firsts(phrase[end + 1 :].removeprefix(" "), spaced=spaced)
        return
    yield _first(phrase, spaced=spaced)


def _first(words: str, *, spaced: bool) -> str:
    first = re.split(r"[ ([|$]", words, maxsplit=1)[0] if spaced else words[:1]
    if not first or "*" in first or first.startswith("."):
        raise ValueError("it must begin with a word")
    return first


def _wrong(name: str, field: str, problem: str) -> SettingError:
    return SettingError(
        f"languages/{name}: {field}", problem=problem, mend="Mend the file, or install Souvenance anew."
    )

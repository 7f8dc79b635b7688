r"""The grammar of one text call, read character by character (V2).

    call   = ("bcz_remember" | "remember") "(" string "," string [","] ")"
    string = one of  "..."  '...'  “...”  «...»

White space, line breaks too, may stand between tokens; a comma after the second argument is let pass. An argument ends
at the first closing quote of its own kind that no backslash precedes. `\"`, `\'`, `\\`, `\”`, `\»`, `\n`, `\t` and
`\uXXXX` are escapes (two of the last may be a surrogate pair); before anything else a backslash is a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass

NAMES = ("bcz_remember", "remember")
INITIALS = frozenset(name[0] for name in NAMES)

_CLOSERS = {'"': '"', "'": "'", "“": "”", "«": "»"}
_LONGEST_GAP = 100
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"'\\”»nt]))")
_STRING = "|".join(rf"{opens}((?:[^{closes}\\]|\\.)*+){closes}" for opens, closes in _CLOSERS.items())
_GAP = rf"\s{{0,{_LONGEST_GAP}}}+"
_WHOLE_CALL = re.compile(
    rf"\s*+(?:bcz_)?remember{_GAP}\({_GAP}(?:{_STRING}){_GAP},{_GAP}(?:{_STRING}){_GAP}(?:,{_GAP})?\);?", re.DOTALL
)
_CONTROL = {"n": "\n", "t": "\t"}
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The two strings of a complete call, escapes resolved, not yet checked as key and value."""

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCall:
    """What was read cannot become a call; `reason` is empty for plain prose that only began like one."""

    reason: str


class CallScanner:
    """Reads one call from the first letter of its name on."""

    def __init__(self, *, key_limit: int, value_limit: int) -> None:
        self._steps = _call(key_limit, value_limit)
        next(self._steps)

    def read(self, char: str) -> Arguments | NoCall | None:
        """Take in the next character; None while the call may still be completed."""
        try:
            self._steps.send(char)
        except StopIteration as end:
            arguments: Arguments = end.value
            return arguments
        except _Broken as broken:
            return NoCall(reason=broken.reason)
        return None


def read_calls(text: str, *, most: int) -> tuple[Arguments, ...] | None:
    """The calls of a text that is nothing else, with white space and a `;` after each; None for any other text, and for
    more than `most` calls. As the scanner reads them, but in a time that even a book of them does not stretch.
    """
    calls: list[Arguments] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _WHOLE_CALL.match(text, at)
        if found is None or len(calls) == most:
            return None
        key, value = (_resolved(raw) for raw in found.groups() if raw is not None)
        calls.append(Arguments(key=key, value=value))
        at = found.end()
    return tuple(calls) or None


def has_argument(source: str) -> bool:
    """Whether `source`, the beginning of a call, goes past its parenthesis into a first argument."""
    return any(quote in source for quote in _CLOSERS)


class _Broken(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _call(key_limit: int, value_limit: int) -> Generator[None, str, Arguments]:
    yield from _name()
    yield from _token("(", reason="")
    # The white space around a key is trimmed later: room for it.
    key = yield from _string(key_limit * 2, reason="")
    yield from _token(",", reason="a second argument is missing")
    value = yield from _string(value_limit, reason="the second argument is not a quoted text")
    char = yield from _gap()
    if char == ",":
        char = yield from _gap()
    if char != ")":
        raise _Broken("the closing parenthesis is missing")
    return Arguments(key=key, value=value)


def _name() -> Generator[None, str, None]:
    read = ""
    while read not in NAMES:
        read += yield
        if not any(name.startswith(read) for name in NAMES):
            raise _Broken("")


def _token(token: str, *, reason: str) -> Generator[None, str, None]:
    char = yield from _gap()
    if char != token:
        raise _Broken(reason)


def _gap() -> Generator[None, str, str]:
    char = yield
    for _ in range(_LONGEST_GAP):
        if not char.isspace():
            break
        char = yield
    return char


def _string(limit: int, *, reason: str) -> Generator[None, str, str]:
    closer = _CLOSERS.get((yield from _gap()))
    if closer is None:
        raise _Broken(reason)
    raw: list[str] = []
    size = 0
    while (char := (yield)) != closer:
        if char == "\\":
            char += yield
            size -= 4 if char == "\\u" else 0
        raw.append(char)
        size += 1
        if size > limit:
            raise _Broken(f"oversized: an argument goes past {limit} characters")
    return _resolved("".join(raw))


def _resolved(raw: str) -> str:
    text = _ESCAPE.sub(_meant, raw)
    return _SURROGATES.sub(lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _meant(found: re.Match[str]) -> str:
    code, char = found.groups()
    return chr(int(code, 16)) if code else _CONTROL.get(char, char)

"""Find text calls in a reply while it streams, and hide them (V2; grammar in `call_syntax`).

No call begins right after a letter, digit, `_`, `$` or `.` (`xremember(`, `obj.remember(`; scripts that write without
spaces do not count as letters here), nor inside code (`code_regions`). A `;` right after a call goes with it. What
begins like a call with a quoted argument and does not end as one is malformed: shown as it is and noted. Calls on the
lines after a malformed one's first line are read anew, once; what its own line quotes is not.

Everything is decided character by character, so nothing depends on how the stream is cut.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from souvenance.domain.call_spacing import CallSpacing
from souvenance.domain.call_syntax import INITIALS, NAMES, Arguments, CallScanner, NoCall, has_argument
from souvenance.domain.code_regions import CodeRegions
from souvenance.domain.limits import Limits
from souvenance.domain.text import clean, clean_key
from souvenance.errors import InputError

_LIMITS = Limits()
# From Thai on, the scripts that set no spaces between words: a call may follow their letters directly.
_UNSPACED_SCRIPTS = "\u0e00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Text that goes to the person."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A complete call, hidden; key and value have passed M3's checks, `source` is how it was written."""

    key: str
    value: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """A call that stores nothing; `source`, its first line, is in a `Shown` too."""

    source: str
    reason: str


Event = Shown | Call | Malformed


class TextCallParser:
    """Takes a reply in chunks and gives its events in order.

    After each chunk only what may still become a call, with the white space beside it, is held back: at most as much
    as a key, a value and the syntax around them take.
    """

    def __init__(self, limits: Limits = _LIMITS) -> None:
        self._limits = limits
        self._code = CodeRegions()
        self._spacing = CallSpacing()
        self._scanner: CallScanner | None = None
        self._held: list[str] = []
        self._waiting: deque[str] = deque()
        self._muted = 0
        self._again = 0
        self._rereads = False
        self._previous = ""
        self._after_call = False
        self._shown: list[str] = []
        self._events: list[Event] = []

    def feed(self, chunk: str) -> list[Event]:
        """Take in the next piece of the reply."""
        self._waiting.extend(chunk)
        self._read_waiting()
        return self._drain()

    def finish(self) -> list[Event]:
        """End the reply: a call that is only half there is shown as text."""
        while self._scanner is not None:
            source = self._take_held()
            self._give_back(source, known=len(source), reason="cut off" if has_argument(source) else "")
            self._read_waiting()
        self._shown.append(self._spacing.finish())
        return self._drain()

    def _read_waiting(self) -> None:
        while self._waiting:
            char = self._waiting.popleft()
            given_back, self._again = self._again > 0, max(0, self._again - 1)
            if self._scanner is not None:
                self._scan(self._scanner, char)
            elif self._begins_call(char):
                self._rereads = given_back
                self._scanner = self._new_scanner()
                self._scan(self._scanner, char)
            else:
                self._show(char)

    def _new_scanner(self) -> CallScanner:
        return CallScanner(key_limit=self._limits.key_characters, value_limit=self._limits.value_characters)

    def _begins_call(self, char: str) -> bool:
        return (
            char in INITIALS
            and not self._muted
            and not _is_identifier_part(self._previous)
            and not self._code.holds_next()
        )

    def _scan(self, scanner: CallScanner, char: str) -> None:
        self._held.append(char)
        reading = scanner.read(char)
        if reading is None:
            return
        source = self._take_held()
        # The character that broke the call may begin something else, unless it is the call's own end.
        known = len(source) - (char != ")")
        if isinstance(reading, NoCall):
            self._give_back(source, known=known, reason=reading.reason)
            return
        try:
            call = _checked(reading, source, self._limits)
        except InputError as error:
            self._give_back(source, known=known, reason=error.message)
        else:
            self._hide(call)

    def _take_held(self) -> str:
        source = "".join(self._held)
        self._held.clear()
        self._scanner = None
        return source

    def _give_back(self, source: str, *, known: int, reason: str) -> None:
        """Read `source` again as text, of which the first `known` characters are the call that failed."""
        self._muted = 1
        if reason:
            first_line = source[:known].partition("\n")[0]
            # What was given back once and fails again is not searched a third time: the work stays linear.
            self._muted = known if self._rereads else len(first_line)
            self._emit(Malformed(source=first_line, reason=reason))
        self._waiting.extendleft(reversed(source))
        self._again += len(source)

    def _hide(self, call: Call) -> None:
        self._spacing.remove_call()
        self._previous = ")"
        self._after_call = True
        self._emit(call)

    def _show(self, char: str) -> None:
        self._muted = max(0, self._muted - 1)
        ends_call = self._after_call and char == ";"
        self._after_call = False
        if ends_call:
            return
        self._code.read(char)
        self._previous = char
        self._shown.append(self._spacing.put(char, call_may_follow=not self._code.is_open))

    def _emit(self, event: Event) -> None:
        self._flush_shown()
        self._events.append(event)

    def _flush_shown(self) -> None:
        text = "".join(self._shown)
        self._shown.clear()
        if text:
            self._events.append(Shown(text=text))

    def _drain(self) -> list[Event]:
        self._flush_shown()
        events, self._events = self._events, []
        return events


def split_calls(text: str, limits: Limits = _LIMITS) -> tuple[str, tuple[Call, ...]]:
    """Return a whole reply without its calls, and the calls in order."""
    if not any(name in text for name in NAMES):
        return text, ()
    parser = TextCallParser(limits)
    events = [*parser.feed(text), *parser.finish()]
    shown = "".join(event.text for event in events if isinstance(event, Shown))
    return shown, tuple(event for event in events if isinstance(event, Call))


def _checked(arguments: Arguments, source: str, limits: Limits) -> Call:
    key = clean_key(arguments.key, limit=limits.key_characters)
    return Call(key=key, value=clean("value", arguments.value, limit=limits.value_characters), source=source)


def _is_identifier_part(char: str) -> bool:
    return char in {"_", ".", "$"} or (char.isalnum() and char < _UNSPACED_SCRIPTS)

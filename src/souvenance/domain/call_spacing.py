"""Close the gap that a removed text call leaves in a reply (V2).

A line that held nothing but calls goes with its line break; where it stood between two blank lines, or at the top
before one, one blank line goes too, and where it ended the reply, the white space before it. Within a line, one space
stays where the call stood between two words, none before punctuation or at the line's end.
"""

from __future__ import annotations

_SPACES = " \t\r"
_LONGEST_SPACE = 200
_CLINGING = frozenset(".,;:!?…)]}”。、，！？；：）")


class CallSpacing:
    """Passes text on character by character, holding back only the white space that a call might take with it."""

    def __init__(self) -> None:
        self._line_is_empty = True
        self._blank_above = True
        self._swallows_blank = False
        self._ends_with_calls = False
        self._breaks = ""
        self._before = ""
        self._after = ""
        self._removed = False

    def put(self, char: str, *, call_may_follow: bool) -> str:
        """Take in one character; return what can be shown now. In code no call follows and nothing is held."""
        if char == "\n":
            return self._hold_breaks(self._end_line(), until_text=call_may_follow)
        shown = self._hold(char) if char in _SPACES else self._close_gap(char)
        if not call_may_follow and not self._removed:
            shown += self._before
            self._before = ""
            self._swallows_blank = False
        return self._hold_breaks(shown, until_text=not shown)

    def remove_call(self) -> None:
        """A call stood here."""
        if not self._before and not self._line_is_empty:
            self._before = self._after
        self._after = ""
        self._removed = True

    def finish(self) -> str:
        """Return what is still held once the text has ended."""
        if self._removed or self._ends_with_calls:
            return ""
        return self._breaks + self._before

    def _forget_gap(self) -> None:
        self._before = ""
        self._after = ""
        self._removed = False

    def _hold_breaks(self, shown: str, *, until_text: bool) -> str:
        self._breaks += shown
        if until_text and len(self._breaks) < _LONGEST_SPACE:
            return ""
        shown, self._breaks = self._breaks, ""
        return shown

    def _hold(self, char: str) -> str:
        if len(self._before) + len(self._after) >= _LONGEST_SPACE:
            return self._close_gap(char)
        if self._removed:
            self._after += char
            return ""
        if self._line_is_empty:
            self._before += char
            return ""
        shown, self._before = self._before, char
        return shown

    def _close_gap(self, char: str) -> str:
        gap = self._gap(char)
        self._forget_gap()
        self._line_is_empty = False
        self._swallows_blank = False
        self._ends_with_calls = False
        return gap + char

    def _gap(self, char: str) -> str:
        if not self._removed:
            return self._before
        if self._line_is_empty or (self._before and self._after):
            return self._before + self._after[1:]
        if self._before and char in _CLINGING:
            return ""
        return self._before or self._after

    def _end_line(self) -> str:
        shown = (self._after.strip(" \t") if self._removed else self._before) + "\n"
        if self._line_is_empty and self._removed:
            shown, self._swallows_blank = "", self._blank_above
            self._ends_with_calls = True
        elif self._line_is_empty and self._swallows_blank:
            shown, self._swallows_blank = "", False
        else:
            self._blank_above, self._swallows_blank = self._line_is_empty, False
        self._forget_gap()
        self._line_is_empty = True
        return shown

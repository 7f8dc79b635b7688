"""Tell, while a reply is still being written, whether it is inside Markdown code.

Fenced blocks follow CommonMark: a run of three or more backticks or tildes at the start of a line opens one (on a line
of backticks no other may follow), a run at least as long, of the same character, alone on its line, closes it, and an
unclosed one reaches to the end. Any indent may open a fence, because inside a list fences stand further in; a closing
one is indented at most three more than its opening.

Inline code differs in one point: a run of backticks that has not met its equal counts as code up to the end of its
line, because a stream cannot wait to learn whether its equal will come. That errs towards showing and storing nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

_SPACES = {" ": 1, "\t": 4, "\r": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fence:
    mark: str
    run: int
    indent: int


class CodeRegions:
    """Reads a text character by character; what it answers depends on the characters read, not on how they came."""

    def __init__(self) -> None:
        self._fence: _Fence | None = None
        self._previous = ""
        self._begin_line()

    @property
    def is_open(self) -> bool:
        """Whether code is open, as far as the characters read so far tell: a run of backticks may still grow."""
        return self._fence is not None or self._inline > 0 or (self._mark == "~" and self._run >= 3)

    def holds_next(self) -> bool:
        """Whether the next character, known to be no backtick, stands in code."""
        self._settle_ticks()
        return self.is_open

    def read(self, char: str) -> None:
        """Take in the next character."""
        if char == "\n":
            self._end_line()
            return
        self._read_mark(char)
        if char == "`" and not (self._previous == "\\" and not self._ticks and not self._inline):
            self._ticks += 1
        else:
            self._settle_ticks()
        self._previous = char

    def _begin_line(self) -> None:
        self._indent = 0
        self._mark = ""
        self._run = 0
        self._beginning = True
        self._alone = True
        self._ticks = 0
        self._inline = 0
        self._previous = ""

    def _read_mark(self, char: str) -> None:
        if self._beginning and char in _SPACES and not self._run:
            self._indent += _SPACES[char]
        elif self._beginning and char in "`~" and char == (self._mark or char):
            self._mark = char
            self._run += 1
        else:
            self._beginning = False
            self._alone = self._alone and char in _SPACES
            if char == "`" and self._mark == "`":
                self._mark = ""

    def _settle_ticks(self) -> None:
        if self._ticks and not self._inline:
            self._inline = self._ticks
        elif self._ticks == self._inline:
            self._inline = 0
        self._ticks = 0

    def _end_line(self) -> None:
        if self._mark and self._run >= 3:
            line = _Fence(mark=self._mark, run=self._run, indent=self._indent)
            if self._fence is None:
                self._fence = line
            elif self._alone and _closes(line, self._fence):
                self._fence = None
        self._begin_line()


def _closes(line: _Fence, fence: _Fence) -> bool:
    return line.mark == fence.mark and line.run >= fence.run and line.indent <= fence.indent + 3

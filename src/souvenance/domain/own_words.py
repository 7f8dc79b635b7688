"""Tell what of a message its author says himself: no code, nothing quoted, no acting between asterisks (X2)."""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ \t>]{0,16}(`{3,}|~{3,})")
_QUOTED_LINE = re.compile(r"[ \t]{0,3}(?:>|\|)")
_QUOTATIONS = re.compile(
    "“[^“”\n]{0,500}”|„[^„“”\n]{0,500}[“”]|«[^«»\n]{0,500}»|»[^«»\n]{0,500}«|‹[^‹›\n]{0,500}›"
    '|「[^「」\n]{0,500}」|『[^『』\n]{0,500}』|"[^"\n]{0,500}"'
    "|`[^`\n]{1,500}`|(?<!\\w)['‘][^'‘’\n]{1,200}['’](?!\\w)|(?<![\\w*])\\*(?=\\S)[^*\n]{1,500}(?<=\\S)\\*(?![\\w*])"
)
PLACEHOLDER = "\ufffc"
"""Stands for each character of a quotation or of code within a line: part of a sentence, but no words."""


def own_words(text: str) -> str:
    """`text` with the same length: quotations are placeholders, and whole lines of code or quotation are line breaks.

    The time is linear in the length of `text`.
    """
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence or mark or _QUOTED_LINE.match(line):
            lines.append("\n" * len(line))
        else:
            lines.append(line)
        if mark:
            fence = _fence_after(fence, mark[1], line)
    return _QUOTATIONS.sub(lambda found: PLACEHOLDER * len(found.group()), "".join(lines))


def _fence_after(fence: str, mark: str, line: str) -> str:
    """The fence that is open after a line with this mark; "" for none."""
    if not fence:
        return "" if "`" in line[line.index(mark) + len(mark) :] and mark[0] == "`" else mark
    closes = mark.startswith(fence) and not line.replace(mark, "", 1).strip(" \t>\r\n")
    return "" if closes else fence

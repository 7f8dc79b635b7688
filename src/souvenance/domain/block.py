r"""Write memories into a prompt so that their text stays text (M12), and what a notebook's block is made of (K2).

What `escape` does, all of it undone by `unescape`:

- a backslash is doubled;
- a line break of any kind and every other control character becomes `\n`, `\r`, `\t`, `\xHH` or `\uHHHH`;
- `<` becomes `\x3c` where a tag or a chat template's token could begin: before a letter, `_`, `/`, `|`, `!`, `?`
  (so `3 < 4` and `<3` stay readable);
- `[` becomes `\x5b` where a template's bracket token could begin: `[INST`, `[/INST`, `[TOOL_CALLS` ...

A key also has its `:` written as `\x3a`, so that the first `: ` of a line ends the key.

What begins a line also has its first letter written as `\xHH` or `\uHHHH` (`escape_start`) where it reads like what a
line may begin with: a number in brackets, `(recent)`, `about …:`, `no longer holds`.
"""

from __future__ import annotations

import re

OPENING = "<memory>"
CLOSING = "</memory>"

_UNSAFE = re.compile(
    r"\\|[\x00-\x1f\x7f-\x9f\u2028\u2029]"
    r"|<(?=\s*[/|｜!?]|[^\W\d])"
    r"|\[(?=/?(?:INST|SYS|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT))",
    re.IGNORECASE,
)
_POSING = re.compile(
    r"\A([\s\-\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*)"
    r"([\[［](?=\s*\d+\s*[\]］])|[(（](?=\s*recent\s*[)）])|a(?=bout\s[^:：]*[:：])|n(?=o\s+longer\s+holds))",
    re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\(?:([\\nrt])|x([0-9a-f]{2})|u([0-9a-f]{4}))")
_NAMED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MEANT = {written[1]: char for char, written in _NAMED.items()}


def escape(text: str) -> str:
    """Return `text` as one line that opens and closes nothing; `unescape` gives `text` back."""
    return _UNSAFE.sub(lambda found: _written(found.group()), text)


def escape_key(key: str) -> str:
    """Return `key` escaped, without any `:`; `unescape` gives `key` back."""
    return escape(key).replace(":", "\\x3a")


def escape_start(written: str) -> str:
    """Return what `escape` or `escape_key` wrote so that at the beginning of a line it poses as none of a line's marks.

    `unescape` undoes both.
    """
    return _POSING.sub(lambda found: found.group(1) + _code(found.group(2)), written)


def unescape(text: str) -> str:
    """Return what `escape` or `escape_key` was given; what neither of them writes stays as it is."""
    return _ESCAPE.sub(_meant, text)


def entry_line(key: str, value: str) -> str:
    """Return one entry of a notebook's block, without a line break (K2)."""
    return f"- {escape_key(key)}: {escape(value)}"


def _written(char: str) -> str:
    return _NAMED.get(char) or _code(char)


def _code(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"


def _meant(found: re.Match[str]) -> str:
    named, short, long = found.groups()
    return _MEANT[named] if named else chr(int(short or long, 16))

"""Text in pieces, made whole: what no database, tokenizer or wire could take never gets further."""

from __future__ import annotations


class SplitPairs:
    r"""Joins the two halves of a character that was cut as `\ud83d` and `\ude00` into two pieces of a stream.

    What comes out never holds a surrogate: a half that stays alone becomes U+FFFD.
    """

    def __init__(self) -> None:
        self._half = ""

    def join(self, text: str, *, last: bool = False) -> str:
        """`text` with the half held back before it, less a half at its own end (unless it is the last)."""
        if not self._half and text.isascii():
            return text
        whole, self._half = self._half + text, ""
        if whole and not last and "\ud800" <= whole[-1] <= "\udbff":
            whole, self._half = whole[:-1], whole[-1]
        return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole(text: str) -> str:
    """A text that is all there, its lone halves of surrogate pairs as U+FFFD."""
    return SplitPairs().join(text, last=True)

"""The note behind a reply that was cut off, by which the model goes on with it (T6)."""

from __future__ import annotations

VERSION = 1

GO_ON = (
    "[Your message above was cut off. Go on exactly where it stops, in the middle of a word if need be. Repeat nothing "
    "of it, and say nothing about the interruption.]"
)

"""What the prompts of the summary show and what comes back, told by the numbers under which it was shown (S3, S4)."""

from __future__ import annotations

from dataclasses import dataclass

from souvenance.domain.limits import Level
from souvenance.domain.summary import Item, Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message as it is shown: what a person saw of it (S12), by `who` ("user", or a name).

    `number` counts from 1 within the question; `day` is the date it was said on, as the user counts days, "" unknown.
    """

    number: int
    who: str
    text: str
    day: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """An item of the nodes below as it is shown, `number` counting from 1 within the question, oldest first."""

    number: int
    item: Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One line that the model wrote. `first` and `last` are numbers of lines, or of old items, that it is drawn from:
    those two, and at most what stands between them. The rest is as in `Item`.
    """

    part: Part
    text: str
    first: int
    last: int
    kept: bool = False
    day: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldRule:
    """A sentence that the model says is a rule of the user's; whether it occurs in that line is for code to check."""

    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """A rule in force, by the number it was shown under, that the user takes back in a line."""

    rule: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    items: tuple[Told, ...]
    rules: tuple[ToldRule, ...] = ()
    taken_back: tuple[TakenBack, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much the written node may take, in tokens, and at which level of detail (S13)."""

    level: Level
    tokens: int

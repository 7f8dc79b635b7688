"""What a rebuild will cost, reckoned from sizes alone before anything is sent (S7, C4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from souvenance.domain.limits import Level, Limits
from souvenance.domain.window import Bounds, TurnSize, first_batch

ANSWER_FORM = 2
"""How much longer an answer may be than its texts: the JSON around them takes about as much again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Tokens that a question has before anything is shown in it, of one `line` around a message and one `rule` around
    a rule; `room` is what the model takes of a question: it is not asked a longer one.
    """

    summarise: int
    merge: int
    condense: int
    line: float
    rule: float
    room: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """How long nodes will be. `recent`: a recent node's text in tokens; `merged` and `long_term`: what of the texts
    below is left in one made of them; `shown`: how many tokens one of these takes in a question.
    """

    recent: float
    merged: float
    long_term: float
    shown: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """All that the cost of a rebuild is reckoned from. `rules` are the position and the tokens of each rule in force:
    it is shown with every batch after that turn. `turns` are those that are summarised, in order, sized as the speaking
    model counts; the tokenizer counts `raw` of that, and in all other figures here.
    """

    turns: Sequence[TurnSize]
    raw: float
    rules: Sequence[tuple[int, int]]
    level: Level
    window: Bounds
    questions: Questions
    expected: Expected


@dataclass(slots=True)
class Cost:
    """`steps` are the nodes that are written; tokens out are the most that answers may have."""

    steps: int = 0
    tokens_in: float = 0.0
    tokens_out: int = 0


def cost_of_rebuild(planned: Planned, limits: Limits) -> Cost:
    """Every batch, merge, fold and condensation that `domain/rebuild_step.py` will decide on, as far as sizes tell."""
    reckoning = _Reckoning(planned, limits)
    left = planned.turns
    while left:
        batch = first_batch(left, planned.window, limits)
        reckoning.summarise(batch)
        left = left[len(batch) :]
    return reckoning.cost


def answer_tokens(budget: int, limits: Limits) -> int:
    """The most that an answer of so many tokens of text may cost."""
    return int(budget * limits.answer_share) * ANSWER_FORM


@dataclass(slots=True)
class _Reckoning:
    planned: Planned
    limits: Limits
    cost: Cost = field(default_factory=Cost)
    _recent: list[float] = field(default_factory=list)
    _merged: list[float] = field(default_factory=list)
    _long_term: float = 0.0

    def summarise(self, batch: Sequence[TurnSize]) -> None:
        asked, budget = self.planned.questions, self.limits.recent_tokens(self.planned.level)
        said = sum(turn.tokens * self.planned.raw + turn.messages * asked.line for turn in batch)
        rules = sum(tokens + asked.rule for position, tokens in self.planned.rules if position < batch[0].position)
        is_asked = self._ask(asked.summarise + said + rules, budget)
        # Sentences that are found by code fill what they may.
        self._recent.append(self.planned.expected.recent if is_asked else min(said, budget))
        if len(self._recent) == self.limits.nodes_merged:
            self._merge()

    def _merge(self) -> None:
        budget, below = self.limits.merged_tokens(self.planned.level), sum(self._recent)
        self._ask(self.planned.questions.merge + self._shown(below), budget)
        self._recent = []
        self._merged.append(min(below * self.planned.expected.merged, budget * self.limits.answer_share))
        if len(self._merged) == self.limits.nodes_merged:
            self._fold()

    def _fold(self) -> None:
        bound, below = self.limits.long_term_tokens(self.planned.level), self._long_term + sum(self._merged)
        most = int(bound * self.limits.condense_share)
        self._ask(self.planned.questions.merge + self._shown(below), most)
        self._merged = []
        self._long_term = below * self.planned.expected.long_term
        if self._long_term > most:
            self._ask(self.planned.questions.condense + self._shown(self._long_term), bound)
            self._long_term = bound

    def _shown(self, tokens: float) -> float:
        return tokens * self.planned.expected.shown

    def _ask(self, tokens_in: float, budget: int) -> bool:
        """A step; False for one whose question is too long for the model: it is done by code and costs nothing."""
        self.cost.steps += 1
        if tokens_in > self.planned.questions.room:
            return False
        self.cost.tokens_in += tokens_in
        self.cost.tokens_out += answer_tokens(budget, self.limits)
        return True

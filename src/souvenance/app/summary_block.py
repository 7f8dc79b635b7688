"""How a summary stands in a prompt: rules first, then what stands for the turns, oldest first (S4, S13, C6, M12)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import assert_never

from souvenance.app.who_said import Names, who_said
from souvenance.domain.block import escape
from souvenance.domain.fit import Layer
from souvenance.domain.node_text import prompt_text
from souvenance.domain.prompt import Run
from souvenance.domain.sent_summary import Stand, Told, WordForWord
from souvenance.domain.summary import Rule
from souvenance.prompts import summary_notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A rule, or what stands for some turns: goes or stays whole (W7); `item` is the id of the rule or node."""

    layer: Layer
    item: str
    runs: tuple[Run, ...]

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


def sections(rules: Iterable[Rule], stood: Sequence[Stand], names: Names) -> tuple[Section, ...]:
    """In the order in which they are sent."""
    in_force = [rule for rule in rules if rule.in_force]
    told = (_of_stand(one, names) for one in stood)
    return (*map(_of_rule, in_force), *(section for section in told if section.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRuns:
    """The two halves of a summary: what is rewritten after many compactions, and what grows with each one."""

    settled: tuple[Run, ...]
    latest: tuple[Run, ...]


def summary_runs(shown: Sequence[Section], kept: Collection[str]) -> SummaryRuns:
    """The summary with the sentences that stand before it; a half is empty when there is nothing of it.

    The rules and what stands for the oldest turns, up to the first `recent` node, are settled. The memory block goes
    between the halves: most of it outlives a compaction, which the latest half never does (C6).
    """
    rules = [one for one in shown if one.layer is Layer.RULES and one.item in kept]
    stood = [one for one in shown if one.layer is not Layer.RULES and one.item in kept]
    settled = list(takewhile(lambda one: one.layer is not Layer.RECENT, stood))
    latest = stood[len(settled) :]
    told = [*_enclosed(summary_notes.RULES, "rules", rules), *_enclosed(summary_notes.ABOUT, "summary", settled)]
    note = summary_notes.LATEST if settled else summary_notes.ABOUT
    return SummaryRuns(settled=_joined(told), latest=_joined(_enclosed(note, "latest", latest)))


def _enclosed(note: str, tag: str, told: Sequence[Section]) -> list[list[Run]]:
    """The sections within this tag after this sentence; nothing for none."""
    if not told:
        return []
    opening = Run(text=f"{note}\n<{tag}>", layer=told[0].layer)
    closing = Run(text=f"\n</{tag}>", layer=told[-1].layer)
    return [[opening, *(run for one in told for run in one.runs), closing]]


def _joined(blocks: Sequence[Sequence[Run]]) -> tuple[Run, ...]:
    """One block after the other, with an empty line between."""
    runs: list[Run] = []
    for block in blocks:
        runs += [Run(text="\n\n"), *block] if runs else block
    return tuple(runs)


def _of_rule(rule: Rule) -> Section:
    said_in = next((source.message_id for source in rule.sources if source.message_id is not None), None)
    run = Run(text=f"\n- {escape(rule.text)}", message_id=said_in, layer=Layer.RULES)
    return Section(layer=Layer.RULES, item=rule.rule_id, runs=(run,))


def _of_stand(stand: Stand, names: Names) -> Section:
    node = stand.node
    layer = Layer(node.tier)
    match stand:
        case Told(items=items):
            text = f"\n<{node.tier}>\n{prompt_text(items)}\n</{node.tier}>" if items else ""
            runs: tuple[Run, ...] = (Run(text=text, node_id=node.node_id, layer=layer),)
        case WordForWord(messages=messages):
            said = [
                Run(
                    text=f"\n- {escape(who_said(message, names))}: {escape(message.text)}",
                    message_id=message.message_id,
                    layer=layer,
                )
                for message in messages
            ]
            runs = (Run(text="\n<messages>", layer=layer), *said, Run(text="\n</messages>", layer=layer))
        case _:
            assert_never(stand)
    return Section(layer=layer, item=node.node_id, runs=runs)

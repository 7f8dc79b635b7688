"""Ask a model to summarise a batch of messages, and to point at the user's rules in it (S1, S4, S12, S13)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from souvenance.domain.json_object import JsonObject
from souvenance.domain.limits import Limits
from souvenance.prompts.numbered import Line, Room, Summary, TakenBack, Told, ToldRule
from souvenance.prompts.parts import (
    EVERY,
    NUMBER,
    TRUE,
    as_shown,
    described,
    kept_at,
    list_schema,
    misshaped,
    object_schema,
    parts_schema,
    read_list,
    read_number,
    read_object,
    read_parts,
    read_text,
    text_schema,
)
from souvenance.prompts.question import DATA, BadAnswer, Question, as_json

VERSION = 1

_TASK = (
    "You keep the summary of a conversation. The messages below will be seen no more: what you leave out is forgotten."
)
_RANGES = (
    "first and last are the numbers of the first and last message that an item is drawn from, no wider than need be."
)
_RULES = (
    "rules: standing instructions of the user for how to go on, and corrections of what was said wrongly; each one "
    "sentence of at most {most} characters, copied word for word from a message of the user, with the number of that "
    "message as line. Passing requests are none. taken_back: the number of each rule in force that the user takes back "
    "in a message, with the number of that message as line."
)
_RULE_CHARACTERS = Limits().rule_characters


def ask(
    lines: Sequence[Line], room: Room, *, rules: Sequence[str], rule_characters: int = _RULE_CHARACTERS
) -> Question:
    """The question for these messages, numbered from 1; `rules` are those in force, shown under numbers from 1 too."""
    answer = (
        "Answer with one JSON object of this schema and nothing else; a list may be empty, but not all of them: "
        f"{as_json(schema(rule_characters))}"
    )
    system = (
        f"{_TASK} {TRUE} {described(EVERY)} {_RANGES} {_RULES.format(most=rule_characters)} {kept_at(room)} "
        f"{answer} {DATA}"
    )
    data = {
        "rules_in_force": [{"rule": number, "text": text} for number, text in enumerate(rules, start=1)],
        "messages": [as_shown(line) for line in lines],
    }
    return Question(system=system, user=as_json(data))


def schema(rule_characters: int = _RULE_CHARACTERS) -> JsonObject:
    """The JSON schema of an answer."""
    rule = {"text": text_schema(rule_characters), "line": NUMBER}
    listed = {
        "rules": list_schema(object_schema(rule)),
        "taken_back": list_schema(object_schema({"rule": NUMBER, "line": NUMBER})),
    }
    return object_schema(parts_schema(EVERY) | listed)


def parse(answer: str, *, lines: int, rules: int, rule_characters: int = _RULE_CHARACTERS) -> Summary | BadAnswer:
    """The summary in an answer about so many messages and rules in force, all of it or none."""
    found = read_object(answer, (*EVERY, "rules", "taken_back"))
    if isinstance(found, BadAnswer):
        return found
    items = read_parts(found, EVERY, lines)
    told = read_list(found, "rules", partial(_read_rule, lines, rule_characters))
    taken_back = read_list(found, "taken_back", partial(_read_taken_back, lines, rules))
    return _whole(items, told, taken_back)


def _whole(
    items: tuple[Told, ...] | BadAnswer,
    rules: tuple[ToldRule, ...] | BadAnswer,
    taken_back: tuple[TakenBack, ...] | BadAnswer,
) -> Summary | BadAnswer:
    if isinstance(items, BadAnswer):
        return items
    if isinstance(rules, BadAnswer):
        return rules
    if isinstance(taken_back, BadAnswer):
        return taken_back
    if not items:
        return BadAnswer(reason="It keeps nothing of these messages; write at least what they were about.")
    return Summary(items=items, rules=rules, taken_back=taken_back)


def _read_rule(lines: int, most: int, given: object) -> ToldRule | BadAnswer:
    if bad := misshaped(given, ("text", "line")):
        return bad
    assert isinstance(given, dict)
    text, line = read_text("text", given["text"], most=most), read_number("line", lines, given["line"])
    if isinstance(text, BadAnswer):
        return text
    return line if isinstance(line, BadAnswer) else ToldRule(text=text, line=line)


def _read_taken_back(lines: int, rules: int, given: object) -> TakenBack | BadAnswer:
    if bad := misshaped(given, ("rule", "line")):
        return bad
    assert isinstance(given, dict)
    rule, line = read_number("rule", rules, given["rule"]), read_number("line", lines, given["line"])
    if isinstance(rule, BadAnswer):
        return rule
    return line if isinstance(line, BadAnswer) else TakenBack(rule=rule, line=line)

"""Ask a model for drafts of memories (V5, V6), and read its answer strictly.

What a person wrote goes out as JSON strings, so that nothing in it can pose as an instruction's frame. An answer is
input from a stranger: it is one JSON object of exactly the schema, alone, fenced or in prose, or a `BadAnswer` with
words that the model can mend it by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from souvenance.domain.conversation import Message, Role
from souvenance.domain.equals import words_of
from souvenance.domain.json_object import JsonObject
from souvenance.domain.limits import Limits
from souvenance.domain.text import clean, clean_key
from souvenance.errors import InputError
from souvenance.prompts.question import DATA, BadAnswer, Question, as_json, object_in, unfit

VERSION = 1

_TASK = (
    "You draft memories for a chat bot: facts that it should know in every later conversation with this user. Keep "
    "only what stays true for weeks: a name to be called by, a birthday, an allergy, a preference, an explicit "
    "promise. Leave out plot, mood and passing things. Use only what is said below and invent nothing."
)
_FROM_DESCRIPTION = "The user describes what the bot should remember. Write in the language of that description."
_FROM_MESSAGES = "The user chose these messages of a conversation. Write in the language of the messages."


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What drafts must be like: free texts, or with `keyed` the pairs of a notebook."""

    limits: Limits
    keyed: bool

    @property
    def fields(self) -> dict[str, int]:
        """The fields of a draft, each with the most characters it may have."""
        if self.keyed:
            return {"key": self.limits.key_characters, "value": self.limits.value_characters}
        return {"text": self.limits.memory_characters}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """One draft as the model wrote it; of a notebook, `text` is the value of `key`."""

    text: str
    key: str | None = None


def about_description(description: str, form: Form, *, bot: str = "", bot_prompt: str = "") -> Question:
    """V5: drafts from what a person wrote, and from nothing else; `bot` and `bot_prompt` say whom they are for."""
    said: dict[str, str] = {"bot": bot, "about_the_bot": bot_prompt, "description": description}
    return _question(_FROM_DESCRIPTION, {name: text for name, text in said.items() if text}, form)


def about_messages(messages: Sequence[Message], form: Form) -> Question:
    """V6: drafts from the messages that a person chose."""
    said = [{"from": "user" if one.role is Role.USER else "bot", "text": one.text} for one in messages]
    return _question(_FROM_MESSAGES, {"messages": said}, form)


def _question(says: str, data: JsonObject, form: Form) -> Question:
    answer = (
        f"Write 1 to {form.limits.drafts_most} drafts, one fact each, no two alike. Answer with one JSON object of "
        f"this schema and nothing else: {as_json(schema(form))}"
    )
    return Question(system=f"{_TASK} {says} {answer} {DATA}", user=as_json(data))


def schema(form: Form) -> JsonObject:
    """The JSON schema of an answer."""
    draft = {
        "type": "object",
        "properties": {
            name: {"type": "string", "minLength": 1, "maxLength": most} for name, most in form.fields.items()
        },
        "required": list(form.fields),
        "additionalProperties": False,
    }
    listed = {"type": "array", "items": draft, "minItems": 1, "maxItems": form.limits.drafts_most}
    return {
        "type": "object",
        "properties": {"memories": listed},
        "required": ["memories"],
        "additionalProperties": False,
    }


def parse(answer: str, form: Form) -> tuple[Proposed, ...] | BadAnswer:
    """The drafts of an answer, all of them or none."""
    found = object_in(answer)
    if isinstance(found, BadAnswer):
        return found
    listed = found.get("memories")
    if set(found) != {"memories"} or not isinstance(listed, list):
        return BadAnswer(reason="The object must have one field, memories, and that must be an array.")
    if not 1 <= len(listed) <= form.limits.drafts_most:
        return BadAnswer(reason=f"It has {len(listed)} drafts; there must be 1 to {form.limits.drafts_most}.")
    return _all_of(listed, form)


def _all_of(listed: Sequence[object], form: Form) -> tuple[Proposed, ...] | BadAnswer:
    drafts: list[Proposed] = []
    seen: set[str] = set()
    for number, given in enumerate(listed, start=1):
        draft = _one_of(given, form)
        if isinstance(draft, BadAnswer):
            return BadAnswer(reason=f"Draft {number}: {draft.reason}")
        words = words_of(text=draft.text, key=draft.key)
        if words in seen:
            return BadAnswer(reason=f"Draft {number} says what one before it says.")
        seen.add(words)
        drafts.append(draft)
    return tuple(drafts)


def _one_of(given: object, form: Form) -> Proposed | BadAnswer:
    if not isinstance(given, dict) or set(given) != set(form.fields):
        return BadAnswer(reason=f"it must be an object with exactly {' and '.join(form.fields)}.")
    for name, most in form.fields.items():
        if bad := unfit(name, given[name], most=most):
            return bad
    try:
        return _cleaned(given, form)
    except InputError as e:
        return BadAnswer(reason=e.message)


def _cleaned(given: dict[str, str], form: Form) -> Proposed:
    if form.keyed:
        key = clean_key(given["key"], limit=form.limits.key_characters)
        return Proposed(key=key, text=clean("value", given["value"].strip(), limit=form.limits.value_characters))
    return Proposed(text=clean("text", given["text"].strip(), limit=form.limits.memory_characters))

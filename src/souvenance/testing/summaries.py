"""What a dutiful summarising model answers, made of what it is shown: for tests and benches without a real one."""

from __future__ import annotations

import json
from collections.abc import Sequence

from souvenance.domain.json_object import JsonObject

_WORDS = 12


def summary_answer(messages: Sequence[JsonObject]) -> str | None:
    """The answer to a question of the summary's prompts, as JSON; None for any other request.

    A batch becomes one timeline line for each message, its first words. Items that are merged, folded, condensed or
    refreshed: every second one is kept, promises all. A reading for deeper memory finds nothing.
    """
    data = _data_of(messages)
    if data is None:
        return None
    if "memories" in data:
        return json.dumps({"add": [], "update": [], "forget": []})
    if "messages" in data:
        return json.dumps(_of_messages(data["messages"]))
    if "left" in data:
        return json.dumps(_refreshed(data))
    answer: dict[str, object] = {"keep": _kept(data["items"])}
    if "stays" not in data:
        answer |= {"promises": [], "references": [], "state": []}
    return json.dumps(answer | {"timeline": []})


def _data_of(messages: Sequence[JsonObject]) -> JsonObject | None:
    """The data of the question, the last thing that is said but for the reason why an answer was no good."""
    content = messages[-1].get("content") if messages else None
    if not isinstance(content, str) or not content.startswith("{"):
        return None
    try:
        data, _ = json.JSONDecoder().raw_decode(content)
    except ValueError:
        return None
    is_ours = isinstance(data, dict) and not {"messages", "items", "left"}.isdisjoint(data)
    return data if is_ours else None


def _of_messages(shown: Sequence[JsonObject]) -> JsonObject:
    lines = [
        {"text": _begun(one["text"]), "first": number, "last": number, "day": str(one.get("day", ""))}
        for number, one in enumerate(shown, 1)
    ]
    return {"promises": [], "references": [], "state": [], "timeline": lines, "rules": [], "taken_back": []}


def _kept(items: Sequence[JsonObject]) -> list[object]:
    return [one["number"] for place, one in enumerate(items) if place % 2 == 0 or one.get("part") == "promises"]


def _refreshed(data: JsonObject) -> JsonObject:
    parts: JsonObject = data["replaced"]
    numbers = range(1, len(data["left"]) + 1)
    filled: dict[str, list[object]] = {part: [] for part in parts}
    for part in list(filled)[:1]:
        texts = [_begun(one["text"]) for one in data["left"]]
        filled[part] = [_line(part, text, number) for text, number in zip(texts, numbers, strict=True)]
    return filled


def _line(part: str, text: str, number: int) -> JsonObject:
    more: dict[str, object] = {"promises": {"kept": False}, "state": {"about": ""}, "timeline": {"day": ""}}
    named = more.get(part, {})
    assert isinstance(named, dict)
    return {"text": text, "first": number, "last": number, **named}


def _begun(text: str) -> str:
    return " ".join(text.split()[:_WORDS]) or "-"

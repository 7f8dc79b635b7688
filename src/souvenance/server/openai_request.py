"""Read a chat request in the OpenAI form: what it says in this turn, what it re-sends, what goes on untouched (I3).

A request is split at its newest user message:

- `system`: the leading run of system and developer messages;
- `history`: the user and assistant messages before the newest user message that have text, as text. System messages
  and tool traffic inside the history are no part of a conversation (S12): our own window stands in the history's
  place, so they are not sent;
- `user_message`, and its `text`: text parts joined by newlines; a message of other parts only (an image) is recorded
  as their types in brackets;
- `tail`: everything after it, sent on as it came (a prefilled reply, tool calls and results, notes).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from souvenance.domain.conversation import Role
from souvenance.domain.json_object import JsonObject
from souvenance.errors import BadValue, InputError, UnusableText

NOT_REMEMBERED = "\n\n[Souvenance: memory was unavailable, so this was answered without it and is not remembered.]"
"""What ends a reply that memory had no part in (T6); it is no part of the conversation when a client sends it again."""

_SYSTEM = frozenset({"system", "developer"})
_ROLES = _SYSTEM | {"user", "assistant", "tool", "function"}
_OURS = frozenset({"model", "messages", "tools", "stream"})
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatBody:
    """A chat request, read; `fields` are the body's other fields, untouched."""

    model: str
    stream: bool
    wants_usage: bool
    messages: tuple[JsonObject, ...]
    system: tuple[JsonObject, ...]
    history: tuple[tuple[Role, str], ...]
    user_message: JsonObject
    text: str
    tail: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)


def parse_chat(data: bytes) -> ChatBody:
    """Raises InputError (malformed JSON, or a field that cannot be taken), naming the field."""
    body = _json_object(data)
    messages = _messages(body.get("messages"))
    newest = _newest_user(messages)
    leading = next((at for at, message in enumerate(messages) if message["role"] not in _SYSTEM), len(messages))
    options = body.get("stream_options")
    _one_choice(body.get("n"))
    return ChatBody(
        model=_name(body.get("model")),
        stream=_flag("stream", body.get("stream")),
        wants_usage=isinstance(options, dict) and options.get("include_usage") is True,
        messages=messages,
        system=messages[:leading],
        history=tuple(_history(messages[leading:newest])),
        user_message=messages[newest],
        text=text_of(messages[newest]) or _types_of(messages[newest]),
        tail=messages[newest + 1 :],
        tools=_objects("tools", body.get("tools")),
        fields={name: value for name, value in body.items() if name not in _OURS},
    )


def is_utility(task: str, body: ChatBody) -> bool:
    """Whether a client asks for a job of its own (a title, tags, follow-ups): answered plainly, nothing is stored.

    Open WebUI names such a task in `X-OpenWebUI-Task`, or sends one user message that quotes the chat.
    """
    alone = [message["role"] for message in body.messages if message["role"] not in _SYSTEM] == ["user"]
    return bool(task.strip()) or (alone and "<chat_history>" in body.text)


def text_of(message: JsonObject) -> str:
    """The text of a message whose content is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def _types_of(message: JsonObject) -> str:
    content = message.get("content")
    kinds = [str(part.get("type", "part")) for part in content] if isinstance(content, list) else []
    return f"[{', '.join(kinds)}]" if kinds and "text" not in kinds else ""


def _json_object(data: bytes) -> dict[str, Any]:
    try:
        body: object = json.loads(data, parse_constant=_no_constant)
    except RecursionError as e:
        raise InputError("The body is not JSON: it is nested too deeply.", field="body") from e
    except ValueError as e:
        raise InputError(f"The body is not JSON: {e}.", field="body") from e
    if not isinstance(body, dict):
        raise BadValue("body", value=body, expected="a JSON object")
    # A half of a pair can only come in as an escape; without one there is nothing to look for.
    for where, text in _texts("", body) if b"\\u" in data else ():
        if found := _SURROGATE.search(text):
            problem = f"half of a surrogate pair (U+{ord(found.group()):04X}) at position {found.start()}"
            raise UnusableText(where, problem=problem)
    return body


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _texts(where: str, value: object) -> Iterator[tuple[str, str]]:
    """Every text in a JSON value, keys included, with its place (`messages.3.content`)."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield f"{where} (a key)".strip(), key
            yield from _texts(f"{where}.{key}" if where else key, inner)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _texts(f"{where}.{at}", inner)


def _messages(value: object) -> tuple[JsonObject, ...]:
    messages = _objects("messages", value)
    for at, message in enumerate(messages):
        role = message.get("role")
        if role not in _ROLES:
            raise BadValue(f"messages.{at}.role", value=role, expected="one of " + ", ".join(sorted(_ROLES)))
        _check_content(f"messages.{at}.content", message.get("content"))
    return messages


def _check_content(where: str, content: object) -> None:
    if isinstance(content, list):
        _objects(where, content)
    elif not isinstance(content, str | None):
        raise BadValue(where, value=content, expected="text, or a list of parts")


def _newest_user(messages: Sequence[JsonObject]) -> int:
    newest = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=None)
    if newest is None:
        raise BadValue(
            "messages", value=[message["role"] for message in messages], expected="at least one message of the user"
        )
    return newest


def _history(messages: Sequence[JsonObject]) -> Iterator[tuple[Role, str]]:
    roles = {"user": Role.USER, "assistant": Role.BOT}
    for message in messages:
        role = roles.get(message["role"])
        text = text_of(message) or (_types_of(message) if role is Role.USER else "")
        if role is not None and text:
            yield role, text.removesuffix(NOT_REMEMBERED)


def _objects(where: str, value: object) -> tuple[JsonObject, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise BadValue(where, value=value, expected="a list of objects")
    for at, item in enumerate(value):
        if not isinstance(item, dict):
            raise BadValue(f"{where}.{at}", value=item, expected="an object")
    return tuple(value)


def _name(model: object) -> str:
    if not isinstance(model, str) or not model.strip():
        raise BadValue("model", value=model, expected="the name of a bot or model, or <model>@<bot>")
    return model


def _flag(where: str, value: object) -> bool:
    if not isinstance(value, bool | None):
        raise BadValue(where, value=value, expected="true or false")
    return bool(value)


def _one_choice(n: object) -> None:
    if n not in (None, 1):
        raise BadValue("n", value=n, expected="1: a conversation keeps one reply")

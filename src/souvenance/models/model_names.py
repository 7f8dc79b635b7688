"""Which provider a model's name means, and how each model is named where several providers are at hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from souvenance.ports.chat_model import ModelInfo

Lists = Mapping[str, Sequence[ModelInfo]]


@dataclass(frozen=True, slots=True)
class Route:
    """A provider, and the name that the model has there."""

    provider: str
    name: str


def named_apart(lists: Lists) -> tuple[ModelInfo, ...]:
    """All models, each under a name that means it alone: its own, or `provider/name` where two providers have it."""
    owners = Counter(info.name for infos in lists.values() for info in infos)
    return tuple(
        info if owners[info.name] == 1 else replace(info, name=f"{provider}/{info.name}")
        for provider, infos in lists.items()
        for info in infos
    )


def route(name: str, lists: Lists) -> Route | None:
    """Where a name leads. None when nobody has it, or when a bare name would mean several.

    `provider/name` leads to that provider even if it lists no such model, since not every provider lists all it serves;
    but a model that another provider lists under this very name (OpenRouter's `openai/gpt-5`) comes first. With one
    provider every name leads to it.
    """
    provider, slash, rest = name.partition("/")
    addressed = Route(provider, rest) if slash and rest and provider in lists else None
    if addressed is not None and any(info.name == rest for info in lists[provider]):
        return addressed
    owners = [owner for owner, infos in lists.items() if any(info.name == name for info in infos)]
    if len(owners) == 1:
        return Route(owners[0], name)
    if addressed is not None:
        return addressed
    return Route(next(iter(lists)), name) if len(lists) == 1 else None


def may_be_unlisted(name: str) -> bool:
    """Whether a provider without a full list is believed to have a model of this name.

    Not with an @ inside: `<model>@<bot>` is how a door's client names a bot (I3).
    """
    return bool(name) and "@" not in name[1:]


def renamed(body: bytes, asked: str, name: str) -> bytes:
    """A request body whose `model` is `name` instead of `asked`; every other byte stays, where that can be done."""
    if asked == name:
        return body
    for written in (json.dumps(asked, ensure_ascii=False), json.dumps(asked)):
        for colon in (":", ": "):
            old = f'"model"{colon}{written}'.encode()
            new = f'"model"{colon}{json.dumps(name, ensure_ascii=False)}'.encode()
            changed = body.replace(old, new, 1)
            if changed != body and json.loads(changed) == {**json.loads(body), "model": name}:
                return changed
    return json.dumps({**json.loads(body), "model": name}, ensure_ascii=False).encode()

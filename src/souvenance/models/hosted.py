"""Contexts of well-known hosted models, for providers that list models without them."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib import resources


def hosted_context(model: str) -> int | None:
    """Tokens; None for a model that the table does not name."""
    known = _table()
    return known.get(model) or known.get(re.sub(r"-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$", "", model))


@functools.cache
def _table() -> Mapping[str, int]:
    text = resources.files("souvenance.models").joinpath("hosted.toml").read_text(encoding="utf-8")
    contexts: Mapping[str, int] = tomllib.loads(text)["context"]
    return contexts

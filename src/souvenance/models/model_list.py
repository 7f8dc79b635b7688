"""Reading a list of models as servers write it, and what they say of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from souvenance.domain.json_object import JsonObject
from souvenance.ports.chat_model import ModelInfo

# vLLM; OpenRouter, Together; Groq; Mistral, LM Studio.
_CONTEXT_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length")


def read_models(listing: JsonObject, *, provider: str) -> tuple[ModelInfo, ...]:
    """The models of an OpenAI `GET /models` answer, by name, each once; entries without an id are left out."""
    found = {entry["id"]: entry for entry in entries(listing) if isinstance(entry.get("id"), str)}
    return tuple(
        ModelInfo(name=name, provider=provider, context=_context(entry), can_call_tools=_can_call_tools(entry))
        for name, entry in sorted(found.items())
    )


def entries(listing: JsonObject, field: str = "data") -> Sequence[JsonObject]:
    """The objects in a field that should be a list of them."""
    value = listing.get(field)
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def whole_number(value: object) -> int | None:
    """A positive whole number, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _context(entry: JsonObject) -> int | None:
    return next((size for field in _CONTEXT_FIELDS if (size := whole_number(entry.get(field)))), None)


def _can_call_tools(entry: JsonObject) -> bool:
    """False only where the server says so: OpenRouter by its parameters, Mistral by its capabilities."""
    parameters, capabilities = entry.get("supported_parameters"), entry.get("capabilities")
    if isinstance(parameters, list):
        return "tools" in parameters
    if isinstance(capabilities, Mapping) and "function_calling" in capabilities:
        return bool(capabilities["function_calling"])
    return True

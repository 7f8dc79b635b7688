"""What local servers say of their models on their own endpoints; the OpenAI list does not tell the real context."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from souvenance.domain.json_object import JsonObject
from souvenance.models.model_list import entries, whole_number
from souvenance.ports.chat_model import ModelInfo

# What Ollama gives a model that nobody has set a context for, on a machine with less than 24 GiB of video memory. It
# cuts longer prompts silently from the front, so the small figure is the safe one until the model is loaded.
OLLAMA_DEFAULT_CONTEXT = 4_096


def ollama_loaded(running: JsonObject) -> Mapping[str, int]:
    """From `GET /api/ps`: the context that each loaded model really has."""
    return {
        name: size
        for entry in entries(running, "models")
        if isinstance(name := entry.get("name"), str) and (size := whole_number(entry.get("context_length")))
    }


def ollama_model(info: ModelInfo, shown: JsonObject, *, loaded: int | None = None) -> ModelInfo:
    """From `POST /api/show`: the context in force (loaded, else set as `num_ctx`, else the default) and tools.

    Never more than the model was trained for.
    """
    about = shown.get("model_info")
    fields = about if isinstance(about, Mapping) else {}
    trained = next((whole_number(value) for key, value in fields.items() if key.endswith(".context_length")), None)
    stated = re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters") or ""), re.MULTILINE)
    in_force = loaded or (int(stated.group(1)) if stated else OLLAMA_DEFAULT_CONTEXT)
    capabilities = shown.get("capabilities")
    return replace(
        info,
        context=min(in_force, trained or in_force),
        can_call_tools="tools" in capabilities if isinstance(capabilities, list) else info.can_call_tools,
    )


def lmstudio_model(info: ModelInfo, listing: JsonObject) -> ModelInfo:
    """From `GET /api/v0/models`: the context it is loaded with, else the most it can have."""
    entry: JsonObject = next((found for found in entries(listing) if found.get("id") == info.name), {})
    capabilities = entry.get("capabilities")
    return replace(
        info,
        context=whole_number(entry.get("loaded_context_length"))
        or whole_number(entry.get("max_context_length"))
        or info.context,
        can_call_tools="tool_use" in capabilities if isinstance(capabilities, list) else info.can_call_tools,
    )


def llamacpp_model(info: ModelInfo, props: JsonObject) -> ModelInfo:
    """From `GET /props`: the context of one slot, which is what a request gets."""
    defaults = props.get("default_generation_settings")
    slot = whole_number(defaults.get("n_ctx")) if isinstance(defaults, Mapping) else None
    return replace(info, context=slot or whole_number(props.get("n_ctx")) or info.context)

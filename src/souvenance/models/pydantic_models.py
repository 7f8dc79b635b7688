"""pydantic-ai's models: making and describing them."""

from __future__ import annotations

from dataclasses import replace

from pydantic_ai import exceptions
from pydantic_ai.models import Model, infer_model, infer_model_profile, known_model_names
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class

from souvenance.errors import ModelUnreachable, UnknownModel
from souvenance.ports.chat_model import ModelInfo


def make_model(provider: str, name: str, api_key: str | None) -> Model:
    """Raises UnknownModel for a provider that pydantic-ai has not, ModelUnreachable when something is not set up."""
    full = f"{provider}:{name}"
    try:
        infer_provider_class(provider)
        return infer_model(full, lambda kind: _provider(kind, api_key))
    except ImportError as error:
        mend = f"the provider's library is missing: pip install 'souvenance[{provider}]'"
        raise ModelUnreachable(full, reason=mend) from error
    except ValueError as error:
        raise UnknownModel(full) from error
    except exceptions.UserError as error:
        raise ModelUnreachable(full, reason=error.message) from error


def known_models(provider: str) -> tuple[ModelInfo, ...]:
    """The provider's newest models, by name; not a full list, and no call to anyone."""
    names = (full.partition(":") for full in known_model_names())
    return tuple(describe(provider, name) for owner, _, name in sorted(names) if owner == provider)


def describe(provider: str, name: str) -> ModelInfo:
    """What pydantic-ai's tables say of a model; nothing without the provider's library, which its tables lean on."""
    known = ModelInfo(name=name, provider=provider)
    try:
        profile = infer_model_profile(f"{provider}:{name}")
    except ImportError:
        return known
    context, tools = profile.get("context_window"), profile.get("supports_tools", True)
    return replace(known, context=context, can_call_tools=tools)


def _provider(kind: str, api_key: str | None) -> Provider[object]:
    if not api_key:
        return infer_provider(kind)
    # Every provider's class takes a key by this name; their common base class has no constructor that says so.
    return infer_provider_class(kind)(api_key=api_key)  # type: ignore[call-arg]

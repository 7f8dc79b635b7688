"""Making providers: of an address a person wrote down, and of what was found on this machine."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from souvenance.models.base_url import normalise
from souvenance.models.detect import Found
from souvenance.models.openai_wire import IDLE_SECONDS, OpenAIWire
from souvenance.models.other_providers import OtherProvider
from souvenance.models.upstreams import Provider


def openai_provider(
    name: str,
    base_url: str,
    *,
    api_key: str = "",
    context: int | None = None,
    can_call_tools: bool | None = None,
    idle_seconds: float = IDLE_SECONDS,
) -> Provider:
    """An OpenAI-compatible upstream under a name of its owner's choice. Raises SettingError for a bad address."""
    base = normalise(base_url)
    wire = OpenAIWire(base, api_key=api_key or None, provider=name, idle_seconds=idle_seconds)
    return Provider(name=name, model=wire, base_url=base, context=context, can_call_tools=can_call_tools)


def found_providers(
    found: Found,
    environment: Mapping[str, str],
    *,
    taken: Collection[str] = (),
    idle_seconds: float = IDLE_SECONDS,
) -> tuple[Provider, ...]:
    """What was found, local servers first, ready to be asked.

    A name in `taken` (a configured upstream of that name) is left out; a second server of a kind gets its port's
    number after its name. A key whose library is not installed is left out.
    """
    providers: dict[str, Provider] = {}
    for server in found.servers:
        name = server.kind if server.kind not in providers else f"{server.kind}-{server.base_url.split(':')[2][:-3]}"
        model = OpenAIWire(server.base_url, provider=name, idle_seconds=idle_seconds)
        providers[name] = Provider(name=name, model=model, base_url=server.base_url, kind=server.kind)
    for key in found.keys:
        secret = environment.get(key.variable, "").strip()
        if key.base_url:
            providers[key.provider] = openai_provider(
                key.provider, key.base_url, api_key=secret, idle_seconds=idle_seconds
            )
        elif key.usable:
            other = OtherProvider(key.provider, api_key=secret, idle_seconds=idle_seconds)
            providers[key.provider] = Provider(name=key.provider, model=other)
    return tuple(provider for name, provider in providers.items() if name not in taken)

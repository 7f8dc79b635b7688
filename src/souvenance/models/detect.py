"""What models can be had here without any setting: servers on their usual local ports, keys in the environment."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from souvenance.models.local_servers import LocalServer, ServerKind

USUAL_PORTS = (11434, 1234, 8080, 8000)
PROBE_SECONDS = 0.3

_TITLES: Mapping[ServerKind, str] = {
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
    "llamacpp": "llama.cpp",
    "vllm": "vLLM",
    "other": "an OpenAI-compatible server",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyKind:
    """A provider and the environment variables its key is looked for in, the first one set counting.

    With a `base_url` it speaks the OpenAI form; without one it needs `library`, which the extra of its name installs.
    """

    provider: str
    variables: tuple[str, ...]
    base_url: str = ""
    base_url_variable: str = ""
    library: str = ""


KEY_KINDS = (
    KeyKind(
        provider="openai",
        variables=("OPENAI_API_KEY",),
        base_url="https://api.openai.com/v1",
        base_url_variable="OPENAI_BASE_URL",
    ),
    KeyKind(provider="anthropic", variables=("ANTHROPIC_API_KEY",), library="anthropic"),
    KeyKind(provider="google", variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"), library="google.genai"),
    KeyKind(provider="mistral", variables=("MISTRAL_API_KEY",), library="mistralai"),
    KeyKind(provider="openrouter", variables=("OPENROUTER_API_KEY",), base_url="https://openrouter.ai/api/v1"),
    KeyKind(provider="groq", variables=("GROQ_API_KEY",), base_url="https://api.groq.com/openai/v1"),
    KeyKind(provider="deepseek", variables=("DEEPSEEK_API_KEY",), base_url="https://api.deepseek.com/v1"),
    KeyKind(provider="xai", variables=("XAI_API_KEY",), base_url="https://api.x.ai/v1"),
    KeyKind(provider="together", variables=("TOGETHER_API_KEY",), base_url="https://api.together.xyz/v1"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServer:
    """A model server that answered; `models` may be empty (nothing pulled or loaded yet)."""

    kind: ServerKind
    base_url: str
    models: tuple[str, ...]

    @property
    def title(self) -> str:
        return _TITLES[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundKey:
    """A provider that can be asked. The key itself stays in the environment, under `variable` ("" needs none)."""

    provider: str
    variable: str
    base_url: str = ""
    usable: bool = True

    @property
    def wire(self) -> Literal["openai", "own"]:
        return "openai" if self.base_url else "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was looked for and found, and how to mend what is missing, one sentence each."""

    ports: tuple[int, ...]
    servers: tuple[FoundServer, ...] = ()
    keys: tuple[FoundKey, ...] = ()
    advice: tuple[str, ...] = field(default=())

    @property
    def anything(self) -> bool:
        """Whether a model can be asked."""
        return any(server.models for server in self.servers) or any(key.usable for key in self.keys)


def installed(library: str) -> bool:
    """Whether a module can be imported, without importing it."""
    try:
        return importlib.util.find_spec(library) is not None
    except ModuleNotFoundError:
        return False


async def detect(
    environment: Mapping[str, str],
    *,
    ports: Sequence[int] = USUAL_PORTS,
    has_library: Callable[[str], bool] = installed,
    seconds: float = PROBE_SECONDS,
) -> Found:
    """Ask every port of 127.0.0.1 at once, and read the environment it is given; nothing else is contacted."""
    servers = await find_servers(ports, seconds=seconds)
    keys = find_keys(environment, has_library=has_library)
    return Found(ports=tuple(ports), servers=servers, keys=keys, advice=_advice(ports, servers, keys))


async def find_servers(ports: Sequence[int], *, seconds: float = PROBE_SECONDS) -> tuple[FoundServer, ...]:
    """The model servers on these ports of 127.0.0.1, in the order of the ports; Souvenance itself is none."""
    origins = [f"http://127.0.0.1:{port}" for port in ports]
    seen = await asyncio.gather(*(LocalServer(origin, seconds).recognise() for origin in origins))
    return tuple(
        FoundServer(kind=found.kind, base_url=f"{origin}/v1", models=found.models)
        for origin, found in zip(origins, seen, strict=True)
        if found is not None
    )


def find_keys(
    environment: Mapping[str, str], *, has_library: Callable[[str], bool] = installed
) -> tuple[FoundKey, ...]:
    """The providers whose keys the environment holds; a variable that is set but blank counts as missing."""
    found = (_find_key(kind, environment, has_library) for kind in KEY_KINDS)
    return tuple(key for key in found if key is not None)


def _find_key(kind: KeyKind, environment: Mapping[str, str], has_library: Callable[[str], bool]) -> FoundKey | None:
    variable = next((name for name in kind.variables if environment.get(name, "").strip()), "")
    elsewhere = environment.get(kind.base_url_variable, "").strip() if kind.base_url_variable else ""
    if not variable and not elsewhere:
        return None
    usable = not kind.library or (has_library("pydantic_ai") and has_library(kind.library))
    return FoundKey(provider=kind.provider, variable=variable, base_url=elsewhere or kind.base_url, usable=usable)


def _advice(ports: Sequence[int], servers: Sequence[FoundServer], keys: Sequence[FoundKey]) -> tuple[str, ...]:
    lacking = [
        f"{key.variable} is set, but the library for {key.provider} is not installed: "
        f"pip install 'souvenance[{key.provider}]'."
        for key in keys
        if not key.usable
    ]
    empty = [
        f"{server.title} runs at {server.base_url} but has no model: {_how_to_get_one(server.kind)}."
        for server in servers
        if not server.models
    ]
    if any(server.models for server in servers) or any(key.usable for key in keys):
        return (*lacking, *empty)
    looked = ", ".join(map(str, ports)) or "none"
    nothing = (
        f"No model was found (local ports {looked}). Start Ollama, LM Studio, llama.cpp or vLLM, "
        f"or set one of {', '.join(kind.variables[0] for kind in KEY_KINDS[:4])}, …"
    )
    return (*lacking, *empty, nothing)


def _how_to_get_one(kind: ServerKind) -> str:
    return "ollama pull gemma3" if kind == "ollama" else "load one there"

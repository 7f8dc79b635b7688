from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pytest

from souvenance.models.detect import Found, FoundKey, detect, find_keys, find_servers
from souvenance.models.local_servers import ServerKind
from souvenance.testing import Fault, HtmlPage, ScriptedUpstream


@pytest.fixture
def server() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream(models=("gemma3",), owned_by="library") as running:
        yield running


def as_kind(server: ScriptedUpstream, kind: ServerKind) -> ScriptedUpstream:
    listed = {"object": "list", "data": [{"id": "gemma3", "owned_by": "vllm"}]}
    match kind:
        case "ollama":
            return server.page("GET", "/api/tags", {"models": [{"name": "gemma3"}]})
        case "lmstudio":
            return server.page("GET", "/api/v0/models", {"data": [{"id": "gemma3", "max_context_length": 8_192}]})
        case "llamacpp":
            return server.page("GET", "/props", {"default_generation_settings": {"n_ctx": 4_096}})
        case "vllm":
            return server.page("GET", "/v1/models", listed)
        case "other":
            return server


@pytest.mark.parametrize("kind", ["ollama", "lmstudio", "llamacpp", "vllm", "other"])
async def test_each_kind_of_server_is_known_by_what_it_answers(server: ScriptedUpstream, kind: ServerKind) -> None:
    (found,) = await find_servers([as_kind(server, kind).port])
    assert (found.kind, found.models, found.base_url) == (kind, ("gemma3",), server.url)


async def test_souvenance_itself_is_no_model_server() -> None:
    with ScriptedUpstream(models=("a bot",), owned_by="souvenance") as ours, ScriptedUpstream() as marked:
        listing = b'{"object":"list","data":[{"id":"gemma3"}]}'
        marked.page("GET", "/v1/models", Fault(status=200, body=listing, headers=(("X-Souvenance-Version", "0.1"),)))
        assert await find_servers([ours.port, marked.port]) == ()


@pytest.mark.parametrize(
    "page", [HtmlPage(), Fault(status=401), Fault(status=200, body=b"[]"), {"data": "x"}, {"data": []}]
)
async def test_what_lists_no_models_is_no_model_server(server: ScriptedUpstream, page: Fault | HtmlPage) -> None:
    server.page("GET", "/v1/models", page)
    assert await find_servers([server.port]) == ()


async def test_an_ollama_without_a_model_is_found_and_told_what_to_do(server: ScriptedUpstream) -> None:
    as_kind(server, "ollama").page("GET", "/v1/models", {"object": "list", "data": []})
    found = await detect({}, ports=[server.port])
    assert not found.anything
    assert any("ollama pull" in line for line in found.advice)


async def test_a_port_that_accepts_and_says_nothing_costs_the_limit_and_no_more() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute, ScriptedUpstream() as speaking:
        async with asyncio.timeout(30):  # without a limit it waits for ever
            found = await find_servers([mute.getsockname()[1], speaking.port], seconds=0.3)
    assert [server.base_url for server in found] == [speaking.url]


async def test_with_nothing_at_all_the_report_says_what_was_looked_for() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        found = await detect({"PATH": "/bin"}, ports=[port])
    assert found == Found(ports=(port,), advice=found.advice)
    (line,) = found.advice
    assert str(port) in line
    assert "OPENAI_API_KEY" in line


async def test_a_key_whose_library_is_missing_is_told_how_to_mend_it() -> None:
    found = await detect({"ANTHROPIC_API_KEY": "sk-ant-1"}, ports=[], has_library=lambda name: name == "pydantic_ai")
    assert not found.anything
    assert any("pip install 'souvenance[anthropic]'" in line for line in found.advice)
    assert "sk-ant-1" not in repr(found)


def test_keys_are_found_with_the_address_they_belong_to() -> None:
    environment = {"OPENAI_API_KEY": "a", "GROQ_API_KEY": "b", "GOOGLE_API_KEY": "c", "MISTRAL_API_KEY": "  "}
    keys = find_keys(environment, has_library=lambda name: True)
    assert keys == (
        FoundKey(provider="openai", variable="OPENAI_API_KEY", base_url="https://api.openai.com/v1"),
        FoundKey(provider="google", variable="GOOGLE_API_KEY"),
        FoundKey(provider="groq", variable="GROQ_API_KEY", base_url="https://api.groq.com/openai/v1"),
    )


def test_another_base_url_counts_with_and_without_a_key() -> None:
    (key,) = find_keys({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    assert (key.provider, key.variable, key.base_url) == ("openai", "", "http://127.0.0.1:9/v1")


def test_the_first_variable_that_is_set_counts() -> None:
    (key,) = find_keys({"GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b"}, has_library=lambda name: True)
    assert key.variable == "GEMINI_API_KEY"

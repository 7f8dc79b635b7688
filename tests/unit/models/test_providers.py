from __future__ import annotations

from souvenance.models.detect import Found, FoundKey, FoundServer
from souvenance.models.openai_wire import OpenAIWire
from souvenance.models.other_providers import OtherProvider
from souvenance.models.providers import found_providers, openai_provider
from souvenance.models.upstreams import Upstreams
from souvenance.testing import FrozenClock, ScriptedUpstream

OLLAMA = FoundServer(kind="ollama", base_url="http://127.0.0.1:11434/v1", models=("gemma3",))
SECOND = FoundServer(kind="ollama", base_url="http://127.0.0.1:8080/v1", models=("gemma3",))
OPENAI = FoundKey(provider="openai", variable="OPENAI_API_KEY", base_url="https://api.openai.com/v1")
CLAUDE = FoundKey(provider="anthropic", variable="ANTHROPIC_API_KEY")
ENVIRONMENT = {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2"}


def test_what_was_found_can_be_asked_local_servers_first() -> None:
    found = Found(ports=(), servers=(OLLAMA,), keys=(OPENAI, CLAUDE))
    ollama, openai, anthropic = found_providers(found, ENVIRONMENT)
    assert [provider.name for provider in (ollama, openai, anthropic)] == ["ollama", "openai", "anthropic"]
    assert ollama.is_local
    assert not openai.is_local
    assert isinstance(openai.model, OpenAIWire)
    assert isinstance(anthropic.model, OtherProvider)
    assert "sk-" not in repr((openai, anthropic))


def test_two_servers_of_a_kind_are_told_apart() -> None:
    providers = found_providers(Found(ports=(), servers=(OLLAMA, SECOND)), {})
    assert [provider.name for provider in providers] == ["ollama", "ollama-8080"]


def test_a_configured_name_comes_before_a_found_one() -> None:
    assert found_providers(Found(ports=(), servers=(OLLAMA,)), {}, taken={"ollama"}) == ()


def test_a_key_without_its_library_is_left_out() -> None:
    key = FoundKey(provider="anthropic", variable="ANTHROPIC_API_KEY", usable=False)
    assert found_providers(Found(ports=(), keys=(key,)), ENVIRONMENT) == ()


async def test_an_address_that_was_written_down_is_asked_with_its_key() -> None:
    with ScriptedUpstream(models=("a",)) as server:
        upstreams = Upstreams([openai_provider("mine", server.origin, api_key="sk-3")], clock=FrozenClock())
        assert [info.name for info in await upstreams.models()] == ["a"]
        await upstreams.close()
    assert server.everything[0].header("authorization") == "Bearer sk-3"

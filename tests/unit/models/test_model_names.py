from __future__ import annotations

import json

import pytest

from souvenance.models.model_names import Lists, Route, named_apart, renamed, route
from souvenance.ports.chat_model import ModelInfo


def lists(**names: str) -> Lists:
    return {owner: [ModelInfo(name=name, provider=owner) for name in listed.split()] for owner, listed in names.items()}


TWO = lists(ollama="gemma3 qwen3", openai="gpt-5 gemma3")


def test_a_model_of_one_provider_keeps_its_own_name() -> None:
    assert [info.name for info in named_apart(TWO)] == ["ollama/gemma3", "qwen3", "gpt-5", "openai/gemma3"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qwen3", Route("ollama", "qwen3")),
        ("ollama/gemma3", Route("ollama", "gemma3")),
        ("openai/gemma3", Route("openai", "gemma3")),
        ("openai/not-listed", Route("openai", "not-listed")),
        ("gemma3", None),
        ("nobody", None),
        ("nobody/gpt-5", None),
        ("openai/", None),
        ("", None),
    ],
)
def test_a_name_leads_to_the_provider_that_it_means(name: str, expected: Route | None) -> None:
    assert route(name, TWO) == expected


def test_every_name_that_is_listed_leads_back_to_its_model() -> None:
    led = [route(info.name, TWO) for info in named_apart(TWO)]
    assert led == [Route(owner, info.name) for owner, infos in TWO.items() for info in infos]


def test_a_listed_name_with_a_slash_comes_before_a_provider_of_that_name() -> None:
    both = lists(openai="gpt-5", openrouter="openai/gpt-oss openai/gpt-5")
    assert route("openai/gpt-oss", both) == Route("openrouter", "openai/gpt-oss")
    assert route("openai/gpt-5", both) == Route("openai", "gpt-5")


def test_with_one_provider_every_name_leads_to_it() -> None:
    assert route("anything", lists(vllm="")) == Route("vllm", "anything")


def test_without_a_provider_no_name_leads_anywhere() -> None:
    assert route("gpt-5", {}) is None


@pytest.mark.parametrize("space", ["", " "])
def test_only_the_model_of_a_body_is_changed(space: str) -> None:
    body = f'{{"model":{space}"ollama/gemma3","n":1e0,"messages":[{{"content":"\\u00e9é"}}]}}'.encode()
    assert renamed(body, "ollama/gemma3", "gemma3") == body.replace(b"ollama/gemma3", b"gemma3")


def test_a_model_written_elsewhere_in_the_body_stays() -> None:
    body = b'{"x":{"model":"a/b"},"model":"a/b","messages":[{"content":"\\"model\\":\\"a/b\\""}]}'
    assert json.loads(renamed(body, "a/b", "b")) == {**json.loads(body), "model": "b"}
    assert json.loads(renamed(body, "a/b", "b"))["x"] == {"model": "a/b"}


def test_a_body_under_its_own_name_is_the_very_same() -> None:
    body = b"not even { JSON"
    assert renamed(body, "gemma3", "gemma3") is body

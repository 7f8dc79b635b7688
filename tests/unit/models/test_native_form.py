from __future__ import annotations

from typing import Any

import pytest

from souvenance.models.hosted import hosted_context
from souvenance.models.native_form import (
    OLLAMA_DEFAULT_CONTEXT,
    llamacpp_model,
    lmstudio_model,
    ollama_loaded,
    ollama_model,
)
from souvenance.ports.chat_model import ModelInfo

GEMMA = ModelInfo(name="gemma3", provider="ollama")
TRAINED = {"general.architecture": "gemma3", "gemma3.context_length": 131_072}


def ollama(parameters: str = "", *, loaded: int | None = None, **more: Any) -> ModelInfo:
    return ollama_model(GEMMA, {"model_info": TRAINED, "parameters": parameters, **more}, loaded=loaded)


def test_ollama_without_a_stated_context_has_its_small_default() -> None:
    assert ollama("temperature 1").context == OLLAMA_DEFAULT_CONTEXT


def test_ollamas_num_ctx_is_the_context_in_force() -> None:
    assert ollama('stop                           "<end>"\nnum_ctx                        16384').context == 16_384


def test_the_context_a_model_is_loaded_with_comes_before_num_ctx() -> None:
    assert ollama("num_ctx 16384", loaded=32_768).context == 32_768


def test_no_model_has_more_context_than_it_was_trained_for() -> None:
    shown = {"model_info": {"bert.context_length": 512}, "parameters": "num_ctx 9000"}
    assert ollama_model(GEMMA, shown).context == 512


@pytest.mark.parametrize(("capabilities", "tools"), [(["completion", "tools"], True), (["completion"], False)])
def test_ollama_says_whether_a_model_calls_tools(capabilities: list[str], tools: bool) -> None:
    assert ollama(capabilities=capabilities).can_call_tools is tools


def test_an_old_ollama_that_tells_no_capabilities_is_given_the_benefit() -> None:
    assert ollama().can_call_tools


def test_loaded_models_are_read_with_their_context() -> None:
    running = {"models": [{"name": "gemma3", "context_length": 8_192}, {"name": "old"}, {"context_length": 1}, None]}
    assert ollama_loaded(running) == {"gemma3": 8_192}


def test_lm_studio_prefers_the_context_a_model_is_loaded_with() -> None:
    entry = {"id": "gemma3", "max_context_length": 131_072, "capabilities": ["tool_use"]}
    assert lmstudio_model(GEMMA, {"data": [entry]}).context == 131_072
    assert lmstudio_model(GEMMA, {"data": [{**entry, "loaded_context_length": 4_096}]}).context == 4_096


def test_lm_studio_says_whether_a_model_calls_tools() -> None:
    assert not lmstudio_model(GEMMA, {"data": [{"id": "gemma3", "capabilities": []}]}).can_call_tools


def test_llama_cpp_counts_the_context_of_one_slot() -> None:
    props = {"default_generation_settings": {"n_ctx": 4_096}, "total_slots": 4}
    assert llamacpp_model(GEMMA, props).context == 4_096


@pytest.mark.parametrize("answer", [{}, {"model_info": None}, {"data": "x"}, {"default_generation_settings": []}])
def test_an_answer_of_another_form_changes_nothing_that_was_known(answer: dict[str, Any]) -> None:
    known = ModelInfo(name="m", context=2_048)
    assert lmstudio_model(known, answer) == known
    assert llamacpp_model(known, answer) == known


@pytest.mark.parametrize(
    ("model", "context"),
    [("gpt-4o", 128_000), ("gpt-4o-2024-08-06", 128_000), ("gpt-4o-audio", None), ("nobody", None)],
)
def test_only_hosted_models_that_are_named_have_a_known_context(model: str, context: int | None) -> None:
    assert hosted_context(model) == context

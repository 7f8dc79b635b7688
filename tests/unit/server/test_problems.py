from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from souvenance import errors
from souvenance.errors import ModelRefused, NotFound, SouvenanceError, StaleEdit, TextTooLong, UnknownModel
from souvenance.server.problems import OPENAI_STATUSES, STATUSES, answer, encoded, speaks_openai


def tree(kind: type[SouvenanceError]) -> Iterator[type[SouvenanceError]]:
    yield kind
    for inner in kind.__subclasses__():
        if inner.__module__.startswith(f"{errors.__name__}."):
            yield from tree(inner)


@pytest.mark.parametrize("kind", [kind for kind in tree(SouvenanceError) if kind.code != "error"])
def test_every_situation_has_a_status_of_its_own_kind(kind: type[SouvenanceError]) -> None:
    for statuses in (STATUSES, OPENAI_STATUSES):
        nearest = next(each for each in kind.__mro__ if each in statuses)
        assert nearest is not SouvenanceError


@pytest.mark.parametrize("path", ["/v1", "/v1/models", "/chat/completions", "/models/a/b"])
def test_openai_clients_are_told_by_their_paths(path: str) -> None:
    assert speaks_openai(path)


@pytest.mark.parametrize("path", ["/api/v1/models", "/v11", "/", "/health/live"])
def test_every_other_path_gets_problems(path: str) -> None:
    assert not speaks_openai(path)


def test_a_problem_names_field_size_and_limit() -> None:
    response = answer("/api/v1/memories", TextTooLong("text", size=501, limit=500))
    assert response.status_code == 422
    assert response.media_type == "application/problem+json"
    problem = json.loads(bytes(response.body))
    assert problem["code"] == "text_too_long"
    assert problem["status"] == 422
    assert problem["details"] == {"field": "text", "size": 501, "limit": 500, "unit": "characters"}
    assert "501" in problem["detail"]
    assert "500" in problem["detail"]


def test_an_openai_error_names_field_and_figures_too() -> None:
    response = answer("/v1/chat/completions", TextTooLong("text", size=501, limit=500))
    assert response.status_code == 400
    error = json.loads(bytes(response.body))["error"]
    assert error["param"] == "text"
    assert error["type"] == "invalid_request_error"
    assert "501" in error["message"]


def test_an_unknown_model_has_the_code_that_clients_know() -> None:
    response = answer("/v1/chat/completions", UnknownModel("gpt-9"))
    assert response.status_code == 404
    assert json.loads(bytes(response.body))["error"]["code"] == "model_not_found"


def test_an_upstreams_refusal_passes_the_openai_door_as_it_came() -> None:
    body = b'{"error": {"message": "slow down"}}'
    refused = ModelRefused("gpt", status=429, body=body, content_type="application/json", retry_after="7")
    response = answer("/v1/chat/completions", refused)
    assert (response.status_code, response.body) == (429, body)
    assert response.headers["Retry-After"] == "7"


def test_an_upstreams_refusal_is_a_bad_gateway_on_the_rest_door() -> None:
    response = answer("/api/v1/turns", ModelRefused("gpt", status=429, body=b"{}", retry_after="7"))
    assert response.status_code == 502
    assert json.loads(bytes(response.body))["details"]["status"] == 429
    assert response.headers["Retry-After"] == "7"


def test_a_stale_edit_brings_both_texts() -> None:
    stale = StaleEdit("memory", "mem_1", seen=1, current=2, theirs="tea", yours="coffee")
    details = json.loads(bytes(answer("/api/v1/memories/mem_1", stale).body))["details"]
    assert (details["theirs"], details["yours"]) == ("tea", "coffee")


def test_half_a_surrogate_pair_in_an_error_is_still_json() -> None:
    body = bytes(answer("/api/v1/bots/x", NotFound("bot", "a\ud800")).body)
    assert json.loads(body)["details"]["id"] == "a\ud800"
    assert json.loads(encoded({"é": "\udfff"})) == {"é": "\udfff"}

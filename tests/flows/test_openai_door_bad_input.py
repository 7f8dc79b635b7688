"""Issue 2's bad input at the OpenAI door: an OpenAI error object that names field and figures, nothing half stored."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.flows.serving import Served


async def post(server: Served, data: bytes, **headers: str) -> httpx2.Response:
    given = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx2.AsyncClient(timeout=30.0) as client:
        return await client.post(f"{server.address}/v1/chat/completions", content=data, headers=given)


async def ask(server: Served, content: Any, **more: Any) -> httpx2.Response:
    body = {"model": "Mira", "messages": [{"role": "user", "content": content}], **more}
    return await post(server, json.dumps(body).encode())


def error(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """An OpenAI error object that is as it should be."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body: dict[str, Any] = answer.json()["error"]
    assert set(body) == {"message", "type", "param", "code"}
    assert body["code"] == code, body
    return body


async def nothing_is_stored(server: Served) -> None:
    assert (await server.rest.get("/conversations")).json()["items"] == []


@pytest.mark.parametrize("content", ["", "  ", "\n", [], None])
async def test_an_empty_message_is_refused(server: Served, content: Any) -> None:
    await server.bot("Mira")
    assert error(await ask(server, content), 400, "empty_text")["param"] == "text"
    await nothing_is_stored(server)


async def test_a_megabyte_of_text_is_refused_with_both_figures(both: Served) -> None:
    await both.bot("Mira")
    for stream in (True, False):
        told = error(await ask(both, "a" * 1_000_000, stream=stream), 400, "text_too_long")
        assert "1000000" in told["message"]
        assert "400000" in told["message"]
    await nothing_is_stored(both)


@pytest.mark.parametrize("text", [r"a\u0000b", r"a\ud800b"])
async def test_text_that_no_database_can_hold_is_refused(both: Served, text: str) -> None:
    await both.bot("Mira")
    for stream in ("true", "false"):
        body = f'{{"model": "Mira", "stream": {stream}, "messages": [{{"role": "user", "content": "{text}"}}]}}'
        error(await post(both, body.encode()), 400, "unusable_text")
    await nothing_is_stored(both)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b'{"model": NaN}'])
async def test_malformed_json_is_said_to_be_so(server: Served, data: bytes) -> None:
    told = error(await post(server, data), 400, "invalid_input")
    assert told["param"] == "body"
    assert "not JSON" in told["message"]


async def test_a_wrong_content_type_is_refused(server: Served) -> None:
    error(await post(server, b"{}", Content_Type="text/plain"), 415, "wrong_content_type")


async def test_a_body_that_is_too_large_is_refused_with_both_figures(server: Served) -> None:
    told = error(await post(server, b'{"model": "' + b"a" * 8_000_000 + b'"}'), 413, "body_too_large")
    assert "8000013" in told["message"]
    assert "8000000" in told["message"]


async def test_a_message_that_no_model_could_take_is_refused_with_both_sizes(server: Served) -> None:
    await server.bot("Mira")
    told = error(await ask(server, "hello " * 60_000), 400, "context_length_exceeded")
    assert "8192" in told["message"]
    await nothing_is_stored(server)


@pytest.mark.parametrize("name", ["x" * 201, "tab\there"])
async def test_a_conversations_name_is_bounded(server: Served, name: str) -> None:
    await server.bot("Mira")
    body = json.dumps({"model": "Mira", "messages": [{"role": "user", "content": "hi"}]}).encode()
    told = error(await post(server, body, X_Souvenance_Conversation=name), 400, "bad_value")
    assert told["param"] == "X-Souvenance-Conversation"
    assert "200" in told["message"]
    await nothing_is_stored(server)


async def test_paths_and_methods_that_do_not_exist_are_openai_errors_too(server: Served) -> None:
    async with httpx2.AsyncClient() as client:
        error(await client.get(f"{server.address}/v1/embeddings"), 404, "no_such_path")
        error(await client.get(f"{server.address}/v1/chat/completions"), 405, "method_not_allowed")


async def test_a_page_of_another_site_is_not_answered(server: Served) -> None:
    await server.bot("Mira")
    body = json.dumps({"model": "Mira", "messages": [{"role": "user", "content": "hi"}]}).encode()
    error(await post(server, body, Origin="https://evil.example"), 403, "origin_not_allowed")
    await nothing_is_stored(server)

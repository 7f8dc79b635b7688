"""Issue 2's bad input at the REST door: a clear problem that names field and figures, and nothing half stored."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.flows.serving import Served

STRANGE_IDS = ["*", "a.b", "mem_none", "..%2F..%2Fx", "%00", "mem_%F0%9F%92%A5", "x" * 300, "bot_1'--"]


def problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """The details of an RFC 9457 problem that is as it should be."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert {"type", "title", "status", "detail", "code", "details"} == set(body)
    assert (body["status"], body["code"]) == (status, code), body
    details: dict[str, Any] = body["details"]
    return details


async def nothing_is_stored(server: Served) -> None:
    for resource in ("/memories", "/conversations", "/bots"):
        assert (await server.rest.get(resource)).json()["items"] == []


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b"])
async def test_an_empty_text_is_refused(server: Served, text: str) -> None:
    details = problem(await server.rest.post("/memories", json={"text": text}), 422, "empty_text")
    assert details["field"] == "text"
    await nothing_is_stored(server)


async def test_a_memory_that_is_too_long_is_refused_with_both_figures(both: Served) -> None:
    details = problem(await both.rest.post("/memories", json={"text": "é" * 501}), 422, "text_too_long")
    assert details == {"field": "text", "size": 501, "limit": 500, "unit": "characters"}
    await nothing_is_stored(both)


async def test_a_megabyte_of_text_is_refused_with_both_figures(server: Served) -> None:
    details = problem(await server.rest.post("/memories", json={"text": "a" * 1_000_000}), 422, "text_too_long")
    assert (details["size"], details["limit"]) == (1_000_000, 500)
    await server.bot("Mira")
    turn = await server.rest.post("/turns", json={"bot": "Mira", "text": "a" * 1_000_000})
    assert problem(turn, 422, "text_too_long")["limit"] == 400_000
    assert (await server.rest.get("/conversations")).json()["items"] == []


async def test_a_body_that_is_too_large_is_refused_with_both_figures(server: Served) -> None:
    data = json.dumps({"text": "a" * 8_000_000}).encode()
    answer = await server.rest.post("/memories", content=data, headers={"Content-Type": "application/json"})
    details = problem(answer, 413, "body_too_large")
    assert (details["size"], details["limit"]) == (len(data), 8_000_000)


@pytest.mark.parametrize("text", [r"a\u0000b", r"a\ud800b", r"\udfff"])
async def test_text_that_no_database_can_hold_is_refused(both: Served, text: str) -> None:
    await both.bot("Mira")
    for url, body in (
        ("/memories", f'{{"text": "{text}"}}'),
        ("/memories", f'{{"text": "fine", "subject": "{text}"}}'),
        ("/turns", f'{{"bot": "Mira", "text": "{text}"}}'),
        ("/bots", f'{{"name": "{text}"}}'),
        ("/bots", f'{{"name": "Ada", "system_prompt": "{text}"}}'),
        ("/memories/query", f'{{"text": "{text}"}}'),
    ):
        answer = await both.rest.post(url, content=body.encode(), headers={"Content-Type": "application/json"})
        assert problem(answer, 422, "unusable_text")["field"] in body
    assert (await both.rest.get("/memories")).json()["items"] == []
    assert len((await both.rest.get("/bots")).json()["items"]) == 1


@pytest.mark.parametrize("data", [b"{", b"", b'{"text": }', b"\xff\xfe{}", b"[" * 100_000, b'{"text": "a"'])
async def test_malformed_json_is_said_to_be_so(server: Served, data: bytes) -> None:
    answer = await server.rest.post("/memories", content=data, headers={"Content-Type": "application/json"})
    if data:
        assert problem(answer, 400, "malformed_json")["field"] == "body"
    else:
        assert problem(answer, 422, "invalid_input")["field"] == "body"


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json; charset=utf-16", ""],
)
async def test_a_wrong_content_type_is_refused(server: Served, kind: str) -> None:
    answer = await server.rest.post("/memories", content=b'{"text": "a"}', headers={"Content-Type": kind})
    assert problem(answer, 415, "wrong_content_type")["field"] == "Content-Type"
    await nothing_is_stored(server)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": 7}, "text"),
        ({"text": None}, "text"),
        ({"text": "a", "pinned": "yes"}, "pinned"),
        ({"text": "a", "colour": "red"}, "colour"),
        ([], "body"),
        ("text", "body"),
    ],
)
async def test_a_field_that_cannot_be_taken_is_named(server: Served, body: Any, field: str) -> None:
    details = problem(await server.rest.post("/memories", json=body), 422, "invalid_input")
    assert details["field"] == field
    await nothing_is_stored(server)


@pytest.mark.parametrize("scope", ["", "bot", "everyone", "organisation", "conversation", "account:x"])
async def test_a_scope_that_does_not_exist_is_refused(server: Served, scope: str) -> None:
    assert problem(await server.rest.post("/memories", json={"text": "a", "scope": scope}), 422, "bad_value")
    assert problem(await server.rest.get("/memories", params={"scope": scope}), 422, "bad_value")["field"] == "scope"


@pytest.mark.parametrize(
    "scope", ["bot:*", "bot:", "bot:bot_none", "bot:../../x", "conversation:", "conversation:cnv_1"]
)
async def test_the_scope_of_an_unknown_bot_or_conversation_is_not_found(both: Served, scope: str) -> None:
    problem(await both.rest.post("/memories", json={"text": "a", "scope": scope}), 404, "not_found")
    await nothing_is_stored(both)


@pytest.mark.parametrize("raw", STRANGE_IDS)
async def test_a_strange_id_is_not_found_on_every_resource(server: Served, raw: str) -> None:
    for method, url, body in (
        ("GET", f"/memories/{raw}", None),
        ("PATCH", f"/memories/{raw}", {"seen": 1, "text": "a"}),
        ("DELETE", f"/memories/{raw}", None),
        ("PUT", f"/memories/{raw}/pin", {"pinned": True}),
        ("GET", f"/memories/{raw}/history", None),
        ("POST", f"/erasures/{raw}/undo", None),
        ("GET", f"/bots/{raw}", None),
        ("PUT", f"/bots/{raw}/level", {"level": "balanced"}),
        ("GET", f"/conversations/{raw}", None),
        ("POST", f"/conversations/{raw}/turns", {"text": "hi"}),
        ("GET", f"/conversations/{raw}/messages", None),
        ("GET", f"/turns/{raw}", None),
        ("GET", f"/messages/{raw}/prompts", None),
        ("GET", f"/prompts/{raw}/body", None),
        ("PUT", f"/notifications/{raw}/read", None),
        ("DELETE", f"/personas/{raw}", None),
    ):
        answer = await server.rest.request(method, url, json=body)
        assert answer.status_code == 404, f"{method} {url}: {answer.text}"
        assert answer.json()["code"] in ("not_found", "no_such_path")


async def test_an_empty_id_is_no_path(server: Served) -> None:
    problem(await server.rest.get("/memories/"), 404, "no_such_path")


async def test_an_unknown_bot_or_model_opens_no_conversation(both: Served) -> None:
    for body in ({"bot": "Nobody", "text": "hi"}, {"bot": "*", "text": "hi"}, {"bot": "", "text": "hi"}):
        problem(await both.rest.post("/turns", json=body), 404, "not_found")
    await both.bot("Mira")
    problem(await both.rest.post("/turns", json={"bot": "Mira", "text": "hi", "model": "gpt-9"}), 404, "unknown_model")
    assert (await both.rest.get("/conversations")).json()["items"] == []


@pytest.mark.parametrize("limit", ["0", "-1", "201", "ten"])
async def test_the_size_of_a_page_is_bounded(server: Served, limit: str) -> None:
    answer = await server.rest.get("/memories", params={"limit": limit})
    assert answer.status_code == 422
    assert answer.json()["details"]["field"] == "limit"
    if limit != "ten":
        assert "200" in answer.json()["detail"]


@pytest.mark.parametrize("cursor", ["", "x", "*", "AAAA", "é"])
async def test_a_cursor_that_no_page_gave_is_refused(server: Served, cursor: str) -> None:
    for resource in ("/memories", "/bots", "/conversations", "/notifications"):
        answer = await server.rest.get(resource, params={"cursor": cursor})
        assert problem(answer, 422, "bad_value")["field"] == "cursor"


async def test_a_path_or_method_that_does_not_exist_is_a_problem_too(server: Served) -> None:
    problem(await server.rest.get("/nothing"), 404, "no_such_path")
    refused = await server.rest.put("/memories", json={})
    problem(refused, 405, "method_not_allowed")
    assert refused.headers["Allow"]


async def test_a_bots_name_is_unique(server: Served) -> None:
    await server.bot("Mira")
    details = problem(await server.rest.post("/bots", json={"name": "Mira"}), 409, "name_taken")
    assert details["field"] == "name"


async def test_a_time_zone_that_does_not_exist_is_refused(server: Served) -> None:
    await server.bot("Mira")
    body = {"bot": "Mira", "text": "hi", "time_zone": "Mars/Olympus"}
    assert problem(await server.rest.post("/turns", json=body), 422, "bad_value")["field"] == "time_zone"


async def test_a_page_of_another_site_changes_nothing(server: Served) -> None:
    headers = {"Origin": "https://evil.example"}
    answer = await server.rest.post("/memories", json={"text": "a"}, headers=headers)
    problem(answer, 403, "origin_not_allowed")
    answer = await server.rest.get("/memories", headers={"Host": "evil.example"})
    problem(answer, 403, "host_not_allowed")
    await nothing_is_stored(server)

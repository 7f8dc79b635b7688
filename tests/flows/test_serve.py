from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import httpx2
import pytest

from souvenance.errors import PortBusy, SettingError
from souvenance.server.guard import Access
from souvenance.server.pace import Pace
from souvenance.server.serve import serve
from souvenance.testing import FrozenClock, Hang, ScriptedUpstream
from souvenance.wiring import open_house
from tests.flows.serving import Served, served, settings_for


async def test_a_busy_port_gets_a_clear_message_and_another_one(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with await open_house(settings_for(tmp_path)) as house:
            with pytest.raises(PortBusy, match=f"--port {port + 1}"):
                await serve(house, port=port)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org"])
async def test_an_address_that_others_reach_needs_plain_words(tmp_path: Path, host: str) -> None:
    async with await open_house(settings_for(tmp_path)) as house:
        with pytest.raises(SettingError, match="--allow-public-without-login"):
            await serve(house, host=host, port=0)


async def test_an_address_of_another_machine_cannot_be_listened_on(tmp_path: Path) -> None:
    async with await open_house(settings_for(tmp_path)) as house:
        with pytest.raises(SettingError, match="cannot listen on"):
            await serve(house, host="192.0.2.7", port=0, allow_public_without_login=True)


async def test_a_name_that_was_allowed_is_answered(tmp_path: Path) -> None:
    async with served(settings_for(tmp_path), access=Access(hosts=frozenset({"memory.home.arpa"}))) as server:
        named = await server.rest.get("/version", headers={"Host": "memory.home.arpa:7411"})
        assert named.status_code == 200


async def test_a_page_of_an_allowed_origin_may_read_the_answers(tmp_path: Path) -> None:
    access = Access(origins=frozenset({"https://chat.example"}))
    async with served(settings_for(tmp_path), access=access) as server:
        asked = {"Origin": "https://chat.example", "Access-Control-Request-Method": "POST"}
        allowed = await server.rest.options("/memories", headers=asked)
        assert allowed.headers["Access-Control-Allow-Origin"] == "https://chat.example"
        answer = await server.rest.post("/memories", json={"text": "a"}, headers={"Origin": "https://chat.example"})
        assert answer.status_code == 201


async def test_a_reply_that_is_being_written_when_the_server_stops_is_kept(
    tmp_path: Path, upstream: ScriptedUpstream
) -> None:
    upstream.script(Hang(after=("Once upon", " a time")))
    settings = settings_for(tmp_path, upstream=upstream)
    async with served(settings, grace_seconds=0) as server:
        await server.bot("Mira")
        async with server.rest.stream("POST", "/turns", json={"bot": "Mira", "text": "Tell me"}) as answer:
            async for line in answer.aiter_lines():
                if " a time" in line:
                    break
            server.stop.set()
            assert await upstream.left() == 1
    async with served(settings) as again:
        (conversation,) = (await again.rest.get("/conversations")).json()["items"]
        listed = (await again.rest.get(f"/conversations/{conversation['id']}/messages")).json()["items"]
        assert [(each["state"], each["text"]) for each in listed] == [
            ("cut_off", "Once upon a time"),
            ("whole", "Tell me"),
        ]


async def test_a_reply_that_ends_within_the_grace_is_kept_whole(tmp_path: Path, upstream: ScriptedUpstream) -> None:
    upstream.script(Hang(after=("Once upon", " a time")))
    async with served(settings_for(tmp_path, upstream=upstream)) as server:
        await server.bot("Mira")
        async with server.rest.stream("POST", "/turns", json={"bot": "Mira", "text": "Tell me"}) as answer:
            lines = answer.aiter_lines()
            async for line in lines:
                if " a time" in line:
                    break
            server.stop.set()
            upstream.release()
            rest = [line async for line in lines]
        assert "event: done" in rest


async def test_what_was_erased_is_purged_by_the_running_server(tmp_path: Path) -> None:
    clock = FrozenClock()
    async with served(settings_for(tmp_path), clock=clock, pace=Pace(purge=0.01)) as server:
        memory = (await server.rest.post("/memories", json={"text": "Allergic to walnuts"})).json()["memory"]
        erasure = (await server.rest.delete(f"/memories/{memory['id']}")).json()
        clock.advance(seconds=11)
        while (answer := await server.rest.post(f"/erasures/{erasure['id']}/undo")).status_code != 404:
            assert answer.status_code == 410


async def test_a_notification_stream_ends_when_the_server_stops(tmp_path: Path) -> None:
    async with served(settings_for(tmp_path)) as server, server.rest.stream("GET", "/notifications/stream") as answer:
        assert answer.status_code == 200
        server.stop.set()
        assert [line async for line in answer.aiter_lines() if line.startswith("event:")] == []


async def test_the_installation_tells_about_itself(server: Served) -> None:
    version = (await server.rest.get("/version")).json()
    assert version["name"] == "souvenance"
    limits = {each["name"]: each for each in (await server.rest.get("/limits")).json()["items"]}
    assert (limits["memory_characters"]["value"], limits["memory_characters"]["rule"]) == (500, "M3")
    models = (await server.rest.get("/models")).json()
    assert ([each["name"] for each in models["items"]], models["default"]) == (["scripted"], "scripted")
    assert (await server.rest.get("/health/ready")).json() == {"status": "ready"}
    async with httpx2.AsyncClient(base_url=server.address) as client:
        assert (await client.get("/health/live")).json() == {"status": "live"}
        assert (await client.get("/")).json()["openai_base_url"] == "/v1"


async def test_the_doors_describe_themselves_without_the_network(server: Served) -> None:
    described = (await server.rest.get("/openapi.json")).json()
    assert "/api/v1/memories/{memory_id}" in described["paths"]
    assert "/v1/chat/completions" in described["paths"]
    async with httpx2.AsyncClient(base_url=server.address) as client:
        assert (await client.get("/docs")).status_code == 404


async def test_the_report_of_doctor_is_what_was_handed_in(tmp_path: Path) -> None:
    async def report() -> dict[str, object]:
        return {"sound": True}

    async with served(settings_for(tmp_path), report=report) as server:
        assert (await server.rest.get("/doctor")).json() == {"sound": True}
    async with served(settings_for(tmp_path)) as server:
        assert (await server.rest.get("/doctor")).status_code == 404


async def test_many_requests_at_once_are_all_answered(server: Served) -> None:
    answers = await asyncio.gather(
        *(server.rest.post("/memories", json={"text": "Likes tea"}) for _ in range(10)),
        *(server.rest.get("/memories") for _ in range(10)),
    )
    assert {answer.status_code for answer in answers} <= {200, 201}
    assert len((await server.rest.get("/memories")).json()["items"]) == 1

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import openai
import pytest

from souvenance.ports.chat_model import Usage
from souvenance.testing import Call, Fault, Hang, RecordedRequest, ScriptedUpstream, Text, ToolCalls, say


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream(models=("small", "large")) as running:
        yield running


@pytest.fixture
def client(upstream: ScriptedUpstream) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=upstream.url, api_key="sk-1", max_retries=0) as client:
        yield client


def talk(client: openai.OpenAI, text: str = "hello") -> str:
    stream = client.chat.completions.create(model="small", messages=[{"role": "user", "content": text}], stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def test_the_openai_client_can_talk_to_it(client: openai.OpenAI) -> None:
    assert talk(client, "one two") == "You said: one two"
    assert [model.id for model in client.models.list()] == ["small", "large"]


def test_the_openai_client_reads_whole_replies_with_tool_calls_and_usage(
    client: openai.OpenAI, upstream: ScriptedUpstream
) -> None:
    upstream.script(ToolCalls(calls=(Call(name="f", arguments='{"a":1}'),), usage=Usage(tokens_in=7, tokens_out=3)))
    reply = client.chat.completions.create(model="small", messages=[{"role": "user", "content": "x"}])
    assert reply.choices[0].message.tool_calls
    assert reply.choices[0].finish_reason == "tool_calls"
    assert reply.usage
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (7, 3)


def test_the_openai_client_meets_a_scripted_refusal(client: openai.OpenAI, upstream: ScriptedUpstream) -> None:
    upstream.script(Fault(status=429, body=b'{"error":{"message":"slow down"}}'))
    with pytest.raises(openai.RateLimitError, match="slow down"):
        talk(client)


def test_requests_are_kept_byte_for_byte_in_their_order(upstream: ScriptedUpstream) -> None:
    bodies = [b'{"n": 1 ,\n"x":"\xc3\xa9"}', b"not JSON \xff", b""]
    with httpx2.Client(base_url=upstream.origin) as client:
        for body in bodies:
            client.post("/v1/chat/completions", content=body, headers={"X-Odd": "Kept"})
        client.get("/v1/models")
    assert [request.body for request in upstream.requests] == bodies
    assert [request.number for request in upstream.everything] == [1, 2, 3, 4]
    assert upstream.requests[0].header("x-odd") == "Kept"
    assert {request.connection for request in upstream.everything} == {1}


def test_a_body_sent_in_http_chunks_is_put_together(upstream: ScriptedUpstream) -> None:
    httpx2.post(upstream.url + "/chat/completions", content=iter([b'{"a"', b":1}"]))
    assert upstream.requests[0].body == b'{"a":1}'


def test_large_bodies_arrive_whole(upstream: ScriptedUpstream) -> None:
    body = b"x" * 3_000_000
    httpx2.post(upstream.url + "/chat/completions", content=body)
    assert upstream.requests[0].body == body


def test_a_responder_answers_when_the_queue_is_empty(client: openai.OpenAI, upstream: ScriptedUpstream) -> None:
    def count(request: RecordedRequest) -> Text:
        return say(str(len(json.loads(request.body)["messages"])))

    upstream.script(say("queued")).respond_with(count)
    assert [talk(client), talk(client)] == ["queued", "1"]


def test_a_hanging_reply_ends_when_it_is_released(client: openai.OpenAI, upstream: ScriptedUpstream) -> None:
    upstream.script(Hang(after=("Once", " upon")))
    with ThreadPoolExecutor(1) as pool:
        talking = pool.submit(talk, client)
        upstream.wait_for_requests(1)
        assert not talking.done()
        upstream.release()
        assert talking.result(timeout=5) == "Once upon"
    assert upstream.disconnects == 0


def test_a_client_that_leaves_is_noticed(upstream: ScriptedUpstream) -> None:
    upstream.script(Hang())
    with socket.create_connection(("127.0.0.1", upstream.port)) as client:
        client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
        upstream.wait_for_requests(1)
    assert upstream.wait_for_disconnects(1) == 1


def test_waiting_for_what_does_not_come_ends_with_an_error(upstream: ScriptedUpstream) -> None:
    with pytest.raises(TimeoutError, match="requests"):
        upstream.wait_for_requests(1, timeout=0.01)


def test_a_taken_port_is_an_error_and_a_stopped_one_is_free_again(upstream: ScriptedUpstream) -> None:
    with pytest.raises(OSError, match="in use"):
        ScriptedUpstream(port=upstream.port).start()
    upstream.stop()
    with ScriptedUpstream(port=upstream.port) as again:
        assert again.port == upstream.port


def test_what_is_no_http_ends_the_connection_and_nothing_else(upstream: ScriptedUpstream) -> None:
    with socket.create_connection(("127.0.0.1", upstream.port)) as client:
        client.sendall(b"POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n")
        assert client.recv(100) == b""
    assert httpx2.get(upstream.url + "/models").status_code == 200


def test_it_runs_as_a_process_of_its_own() -> None:
    command = [sys.executable, "-W", "error", "-m", "souvenance.testing.upstream", "--chunks", "3", "--model", "m"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            with openai.OpenAI(base_url=process.stdout.readline().strip(), api_key="x") as client:
                assert talk(client) == "word0 word1 word2 "
                assert [model.id for model in client.models.list()] == ["m"]
        finally:
            process.terminate()
    assert process.returncode == 0

"""The hostile servers send what their cases say, byte for byte, and end when a test forgets them."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cases import BANNER, CASES, ERRORS_AT_START, EVIL, FLOOD, FLOOD_LINE, HTML, LISTS, REPLIES
from hostile_http import serve_http
from hostile_script import Script

PATIENCE = 20
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
WHOLE = [name for name in [*REPLIES, *LISTS] if CASES[name].dies_after is None]


def request(method: str, request_id: Any = 7, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


CALL = request("tools/call", name="echo", arguments={})
CANCEL = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}


def lines(*messages: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def start(name: str, *words: str) -> subprocess.Popen[bytes]:
    program = Path(__file__).with_name("hostile.py")
    return subprocess.Popen(
        [sys.executable, str(program), "--case", name, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def converse(name: str, *messages: dict[str, Any], words: tuple[str, ...] = ()) -> tuple[bytes, bytes, int]:
    """Sends messages, ends stdin, and gives all of stdout and stderr and the exit code."""
    process = start(name, *words)
    out, err = process.communicate(lines(*messages), PATIENCE)
    return out, err, process.returncode


@pytest.mark.slow
@pytest.mark.parametrize("name", ["good", "crlf", "invalid-utf8", "broken-line", *LISTS])
def test_over_stdio_the_answer_is_what_the_case_says(name: str) -> None:
    case = CASES[name]
    asked = CALL if case.at == "tools/call" else request("tools/list")
    out, _, code = converse(name, request("initialize", 1, **INITIALIZE), asked)
    assert out.partition(b"\n")[2] == case.sent(7, "stdio")
    assert code == 0


class Site:
    """An HTTP server in this process for one case."""

    def __init__(self, name: str, form: str, count: int = 3, status: int = 0) -> None:
        case = CASES[name]
        self.listener = serve_http(Script(case, case.at, count), 0, form, status, "http://127.0.0.2:9/mcp")
        self.thread = threading.Thread(target=self.listener.serve_forever, args=(0.01,))
        self.thread.start()

    def post(self, message: dict[str, Any]) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.listener.server_address[1], timeout=PATIENCE)
        connection.request("POST", "/mcp", json.dumps(message).encode())
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response, body

    def close(self) -> None:
        self.listener.shutdown()
        self.listener.server_close()
        self.thread.join()


@pytest.fixture
def site() -> Iterator[Any]:
    sites: list[Site] = []

    def make(*how: Any, **more: Any) -> Site:
        sites.append(Site(*how, **more))
        return sites[-1]

    yield make
    for each in sites:
        each.close()


@pytest.mark.parametrize("name", [name for name in WHOLE if "json" in CASES[name].forms])
@pytest.mark.parametrize("form", ["json", "sse"])
def test_over_http_the_answer_is_what_the_case_says(site: Any, name: str, form: str) -> None:
    case = CASES[name]
    here = site(name, form)
    assert json.loads(here.post(request("ping"))[1])["result"] == {}
    response, body = here.post(request(case.at, name="echo"))
    assert body == case.sent(7, form)
    assert response.headers["Content-Type"] == ("application/json" if form == "json" else "text/event-stream")


@pytest.mark.parametrize("request_id", [0, -5, "x", 'a"b', "@ID@"])
def test_ids_are_put_into_the_answer_as_json(request_id: Any) -> None:
    (message,) = CASES["good"].messages(request_id)
    assert json.loads(message)["id"] == request_id


def test_cases_are_as_hostile_as_their_names_say() -> None:
    def first(name: str) -> bytes:
        return CASES[name].messages(7)[0]

    for name in ("broken-line", "long-integer", "deep", "nul", "bom", "text-and-answer"):
        with pytest.raises((ValueError, RecursionError)):
            json.loads(first(name).decode())
    with pytest.raises(UnicodeDecodeError):
        first("invalid-utf8").decode()
    with pytest.raises(UnicodeEncodeError):
        json.loads(first("lone-surrogate"))["result"]["content"][0]["text"].encode()
    assert len(first("huge")) > 20_000_000
    assert first("duplicate-keys").count(b'"content"') == 2
    assert len(first("separators").decode().splitlines()) == 4
    assert json.loads(first("big-integers"))["result"]["structuredContent"]["over"] == 2**63
    assert json.loads(CASES["string-id"].messages(7)[0])["id"] == "7"
    assert isinstance(json.loads(first("batch")), list)


@pytest.mark.slow
def test_death_comes_in_the_middle_of_the_answer() -> None:
    case = CASES["dies-mid-reply"]
    out, _, code = converse(case.name, CALL)
    assert (out, code) == (case.sent(7, "stdio"), 5)
    assert out == case.whole(7, "stdio")[:90]


@pytest.mark.slow
def test_a_banner_comes_before_everything() -> None:
    out, _, _ = converse("banner", CALL)
    assert out == BANNER + CASES["banner"].sent(7, "stdio")


@pytest.mark.slow
def test_the_silent_one_says_nothing_and_ends_with_stdin() -> None:
    assert converse("silent", request("initialize", 1, **INITIALIZE), CALL) == (b"", b"", 0)


@pytest.mark.slow
def test_the_dead_one_complains_and_ends_with_three() -> None:
    assert converse("dead-at-start") == (b"", ERRORS_AT_START, 3)


@pytest.mark.slow
def test_the_one_that_exits_answers_initialize_first() -> None:
    out, _, code = converse("exits-after-initialize", request("initialize", 1, **INITIALIZE), CALL)
    assert (json.loads(out)["id"], code) == (1, 4)


@pytest.mark.slow
def test_floods_have_the_size_asked_for_and_then_the_answer(site: Any) -> None:
    out, _, _ = converse("flood-stdout", CALL, words=("--count", "3"))
    assert out == b"".join(FLOOD % n + b"\n" for n in (1, 2, 3)) + CASES["flood-stdout"].sent(7, "stdio")
    out, err, _ = converse("flood-stderr", CALL, words=("--count", "3"))
    assert (out, err) == (CASES["flood-stderr"].sent(7, "stdio"), b"".join(FLOOD_LINE % n for n in (1, 2, 3)))
    _, body = site("flood-stdout", "sse").post(CALL)
    assert body.count(b"flood") == 3
    assert body.endswith(CASES["flood-stdout"].sent(7, "sse"))


@pytest.mark.slow
def test_the_late_one_answers_what_was_cancelled(site: Any) -> None:
    out, _, _ = converse("late", CALL, request("ping", 8), CANCEL)
    assert [json.loads(line)["id"] for line in out.splitlines()] == [8, 7]
    here, bodies = site("late", "json"), []
    waiting = threading.Thread(target=lambda: bodies.append(here.post(CALL)[1]))
    waiting.start()
    assert here.post(CANCEL)[0].status == 202
    waiting.join()
    assert bodies == [CASES["late"].sent(7, "json")]


@pytest.mark.slow
def test_pairs_are_answered_in_reverse(site: Any) -> None:
    out, _, _ = converse("out-of-order", CALL, CALL | {"id": 8})
    assert [json.loads(line)["id"] for line in out.splitlines()] == [8, 7]
    here, bodies = site("out-of-order", "json"), []
    waiting = threading.Thread(target=lambda: bodies.append(here.post(CALL)[1]))
    waiting.start()
    assert json.loads(here.post(CALL | {"id": 8})[1])["id"] == 8
    waiting.join()
    assert json.loads(bodies[0])["id"] == 7


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--http", "0"), ("--http", "0", "--form", "sse")])
def test_the_endless_one_goes_on_until_the_client_leaves(words: tuple[str, ...]) -> None:
    process = start("endless", *words)
    assert process.stdin
    assert process.stdout
    assert process.stderr
    if words:
        port = int(process.stderr.readline().decode().split(":")[-1].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("POST", "/mcp", json.dumps(CALL).encode())
        response = connection.getresponse()
        assert len(response.read(1_000_000)) == 1_000_000
        response.close()
        connection.close()
        process.terminate()
    else:
        process.stdin.write(lines(CALL))
        process.stdin.flush()
        assert len(process.stdout.read(1_000_000)) == 1_000_000
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()
    process.wait(PATIENCE)


@pytest.mark.slow
def test_the_stubborn_one_outlives_stdin_and_sigterm_but_not_its_time() -> None:
    process = start("stubborn", "--linger", "0.5")
    assert process.stdin
    assert process.stdout
    process.stdin.write(lines(CALL))
    process.stdin.close()
    assert process.stdout.readline() == CASES["stubborn"].sent(7, "stdio")
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 9
    process.stdout.close()
    assert process.stderr
    process.stderr.close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirections_lead_elsewhere(site: Any, status: int) -> None:
    response, _ = site("redirect", "json", status=status).post(CALL)
    assert (response.status, response.headers["Location"]) == (status, "http://127.0.0.2:9/mcp")


@pytest.mark.parametrize("status", [400, 401, 404, 500, 503])
def test_errors_come_as_a_page(site: Any, status: int) -> None:
    response, body = site("html-error", "json", status=status).post(CALL)
    assert (response.status, body) == (status, HTML)
    assert response.headers["Content-Type"].startswith("text/html")


@pytest.mark.slow
def test_escapes_are_in_every_text_of_the_server() -> None:
    asked = ["initialize", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "prompts/get"]
    calls = [request("tools/call", 90, name="x"), request("tools/call", 91, name="error")]
    out, err, _ = converse("escapes", *[request(method, n) for n, method in enumerate(asked)], *calls)
    answers = [json.loads(line) for line in out.splitlines()]
    assert all(EVIL in list(texts_in(answer)) for answer in answers)
    assert any(answer.get("method") == "notifications/message" for answer in answers)
    assert any("error" in answer for answer in answers)
    assert err == (EVIL.encode() + b"\n") * 2


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)

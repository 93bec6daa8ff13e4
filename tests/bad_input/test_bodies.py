"""Problems of HTTP bodies: streams in every form, bodies that are not responses, endpoints on other origins."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from cases import CASES, STREAMS

from inspector.check.judge.judge import Judge
from inspector.cli.open_recording import whole_journal
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.target_arguments import parse_target
from inspector.errors import RequestCancelled
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from tests.bad_input.conftest import PATIENCE, Run, Serve, is_one_sentence

BODIES = {
    (
        "html-page",
        "json",
    ): "answered 200 OK to tools/call, but the body (text/html) cannot be read as JSON: Error Something broke",
    ("html-page", "http+sse"): "",
    ("empty-body", "json"): "answered 200 OK with an empty body to tools/call, which expects an answer",
    ("empty-body", "http+sse"): "",
    ("only-accepted", "json"): "answered 202 Accepted with an empty body to tools/call, which expects an answer",
    ("only-accepted", "http+sse"): "",
    ("stream-ends", "sse"): "ended before the answer to tools/call",
    ("stream-ends", "http+sse"): "closed its event stream",
}
"""What is told of each; empty: nothing, for with HTTP+SSE any success takes the message, and the answer comes."""


def without_log(err: str) -> str:
    """The notes, without the server's log messages."""
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith("info: "))


@pytest.mark.parametrize("form", ["sse", "http+sse"])
@pytest.mark.parametrize("name", STREAMS)
def test_an_answer_is_read_however_its_stream_is_written(
    run: Run, serve: Serve, recording: Path, name: str, form: str
) -> None:
    ran = run("call", "echo", "--record", str(recording), *serve(name, form))
    assert (ran.code, ran.out, ran.err) == (0, "hello\n", "")
    with whole_journal(recording) as journal:
        call = next(event for event in journal.events() if '"tools/call"' in event.text)
        came = [event for event in journal.events(call.n + 1) if event.kind is Kind.RPC and event.dir is Dir.RECV]
        assert [event.bytes for event in came] == CASES[name].messages(call.message["id"])
        Judge(journal).run_all()
        assert [found.message for found in journal.findings.all()] == []


@pytest.mark.parametrize(("name", "form"), BODIES)
def test_a_body_that_is_not_an_answer(run: Run, serve: Serve, recording: Path, name: str, form: str) -> None:
    ran = run("call", "echo", "--record", str(recording), *serve(name, form))
    words = BODIES[name, form]
    if words:
        assert (ran.code, ran.out) == (4, "")
        told = without_log(ran.err)
        assert words in next(line for line in told.splitlines() if line.startswith("error: "))
        assert is_one_sentence(told)
    else:
        assert (ran.code, ran.out, ran.err) == (0, "hello\n", "")


@pytest.mark.parametrize("form", ["sse", "http+sse"])
async def test_a_stream_without_the_answer_can_be_waited_for_and_left(serve: Serve, recording: Path, form: str) -> None:
    *_, url = serve("stream-holds", form)
    target = parse_target([url], transport="sse" if form == "http+sse" else "auto")
    session = Session(target, Journal.create(recording, {}), Options())
    await session.open()
    call = session.call_tool("echo")
    async with asyncio.timeout(PATIENCE):
        while b"flood" not in recording.read_bytes():
            await asyncio.sleep(0.005)
        call.cancel()
        with pytest.raises(RequestCancelled):
            await call.result()
        assert session.journal.index.state(call.n) is State.CANCELLED
        assert await session.ping() > 0
        await session.close()
    session.journal.release()
    assert "notifications/cancelled" in recording.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["sse", "http+sse"])
def test_a_stream_without_the_answer_is_given_up_in_time(run: Run, serve: Serve, form: str) -> None:
    ran = run("call", "echo", "--timeout", "1", *serve("stream-holds", form))
    assert (ran.code, ran.out) == (4, "")
    assert without_log(ran.err).startswith("error: No response to tools/call echo within 1 s.\n")


@pytest.mark.parametrize("name", ["html-page", "empty-body", "only-accepted"])
def test_a_website_is_no_server(run: Run, serve: Serve, name: str) -> None:
    ran = run("tools", *serve(name, "json", at="*"))
    assert (ran.code, ran.out) == (4, "")
    assert is_one_sentence(ran.err)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 429, 500, 503])
def test_a_page_of_errors_at_the_endpoint_is_reported_in_one_sentence(run: Run, serve: Serve, status: int) -> None:
    ran = run("call", "echo", *serve("html-error", "http+sse", status=status))
    assert (ran.code, ran.out) == (3 if status in (401, 403) else 4, "")
    first, *_ = ran.err.splitlines()
    assert str(status) in first
    assert first.endswith("Error Something broke")
    assert "<" not in first
    assert is_one_sentence(ran.err)


@pytest.mark.parametrize("status", [301, 307])
def test_a_redirection_of_the_endpoint_is_named_and_not_followed(run: Run, serve: Serve, status: int) -> None:
    ran = run("call", "echo", *serve("redirect", "http+sse", status=status))
    assert (ran.code, ran.out) == (4, "")
    assert f"redirects to another origin, http://127.0.0.2:9 (status {status})" in ran.err
    assert is_one_sentence(ran.err)


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        ("http://127.0.0.2:9/messages", "names an endpoint of another origin, http://127.0.0.2:9"),
        ("javascript:alert(1)", "“javascript:alert(1)”: it does not start with"),
        ("http://\x1b]0;x\u202e/", "“http://␛]0;x‹202E›/”: "),
        ("/" + "a" * 1_000_000, "names an endpoint of 1,000,001 characters"),
    ],
)
def test_an_endpoint_that_leads_elsewhere_is_named_and_not_used(
    run: Run, serve: Serve, recording: Path, endpoint: str, words: str
) -> None:
    """C-SSE-04."""
    ran = run("tools", "--record", str(recording), *serve("good", "http+sse", endpoint=endpoint))
    assert (ran.code, ran.out) == (4, "")
    assert words in ran.err
    assert len(ran.err) < 2000
    assert is_one_sentence(ran.err)
    with whole_journal(recording) as journal:
        assert [event.fields["method"] for event in journal.events() if "method" in event.fields] == ["GET"]


def test_a_server_without_an_event_stream_is_no_server_of_http_and_sse(run: Run, serve: Serve) -> None:
    ran = run("tools", "--transport", "sse", *serve("good", "json"))
    assert (ran.code, ran.out) == (4, "")
    assert "answered 405 Method Not Allowed to GET" in ran.err
    assert is_one_sentence(ran.err)


def test_a_server_of_http_and_sse_is_found_out(run: Run, serve: Serve) -> None:
    """C-SSE-03."""
    *_, url = serve("good", "http+sse")
    ran = run("info", "--json", url)
    assert ran.code == 0
    assert json.loads(ran.out)["transport"] == "sse"


def test_the_session_id_of_http_and_sse_is_in_no_recording(run: Run, serve: Serve, recording: Path) -> None:
    assert run("call", "echo", "--record", str(recording), *serve("good", "http+sse")).code == 0
    assert b"hostile-session-1" not in recording.read_bytes()
    assert "‹redacted ".encode() in recording.read_bytes()

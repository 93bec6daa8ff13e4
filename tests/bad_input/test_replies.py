"""Every hostile answer, over stdio and HTTP: kept byte for byte, judged with its cause, and never a hang."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cases import CASES, REPLIES, STREAMED

from inspector.check.judge.judge import Judge
from inspector.cli.open_recording import whole_journal
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.target_arguments import parse_target
from inspector.errors import RequestCancelled
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from tests.bad_input.conftest import PATIENCE, Run, Running, Serve, is_one_sentence

pytestmark = pytest.mark.slow

STUCK = ("long-integer", "nul", "text-and-answer", "no-result", "string-id", "null-id")
"""Responses without a request. On a shared stream a better one may follow, so the calls continue."""
SHARED = ("stdio", "http+sse")
JUDGED = {
    "good": None,
    "broken-line": "a string is not closed at character 35",
    "huge": "larger than 4 MiB",
    "dies-mid-reply": "the stream ended inside it",
    "invalid-utf8": "not valid UTF-8",
    "lone-surrogate": r"\udc00 is half a surrogate pair at /result/content/0/text",
    "batch": "2025-11-25 has no batches",
    "big-integers": "9223372036854775808 is beyond 2^53",
    "long-integer": "an integer of more than 4,300 digits",
    "huge-exponent": "1E400 is too large for a double",
    "nan": "NaN is not a JSON number",
    "duplicate-keys": "the object has this key already",
    "crlf": None,
    "separators": "U+2028 in a string",
    "nul": "a control character is in a string at character 70",
    "bom": "byte order mark",
    "blank-lines": None,
    "deep": "nested 100,002 levels deep",
    "banner": "Text on stdout: “Hostile Server 1.0 listening",
    "text-and-answer": "a value is missing at character 1",
    "null-result": "/result: expected object, got null",
    "no-result": "it has no method, result or error",
    "result-and-error": "both a result and an error",
    "error-text": "not an object",
    "error-of-wrong-types": "not an integer",
    "wrong-content": "/result/content: expected array",
    "no-version": '"jsonrpc" is missing',
    "answers-twice": "already has a response",
    "unknown-id": "The response has the id 987654321, but no request has this id",
    "string-id": "has another type than the id of request 1",
    "null-id": "The response has no id",
    "strange-messages": "No request has the progress token",
}
"""What the judge says of each case; None: nothing."""
JUDGED_ELSEWHERE = {
    ("crlf", "stdio"): "ends with CR LF",
    ("blank-lines", "stdio"): "an empty line",
    ("text-and-answer", "stdio"): "Text on stdout: “DEBUG answering",
    ("broken-line", "json"): "a control character is in a string at character 39",
    ("answers-twice", "json"): "more text follows the value",
    ("unknown-id", "json"): "more text follows the value",
    ("strange-messages", "json"): "more text follows the value",
}
"""The same where it depends on the form: two messages are no body in JSON, and lines are nothing there."""
SHOWN = {
    "invalid-utf8": "caf\ufffd",
    "lone-surrogate": "‹D83D› half ‹DC00›",
    "huge": "0123456789abcdef" * 100,
    "big-integers": '"long": 123456789012345678901234567890123456789,',
    "huge-exponent": '"big": 1E400,\n  "small": 1e-400',
    "nan": '"a": NaN',
    "duplicate-keys": "two",
    "separators": "a‹2028›b‹2029›c‹85›d",
    "deep": "[\n  [\n    [",
    "null-result": "null",
    "wrong-content": '"type": []',
    "no-version": "",
}
"""What is printed of the answer, where that is not “hello”."""
FAILS = {
    "dies-mid-reply": (4, "ended with exit code 5"),
    "result-and-error": (1, "with error -1: both"),
    "error-text": (1, "with error: no"),
    "error-of-wrong-types": (1, "with error -1: no message"),
}
FAILS_ELSEWHERE = {
    ("dies-mid-reply", "json"): (4, "is incomplete"),
    ("dies-mid-reply", "sse"): (4, "is incomplete"),
    ("dies-mid-reply", "http+sse"): (4, "is incomplete"),
    ("null-id", "json"): (1, "with error -1: no"),
    ("broken-line", "json"): (4, "cannot be read as JSON"),
    ("answers-twice", "json"): (4, "cannot be read as JSON"),
    ("unknown-id", "json"): (4, "cannot be read as JSON"),
    ("strange-messages", "json"): (4, "cannot be read as JSON"),
    ("no-result", "json"): (4, "has no response to request 1"),
    ("string-id", "json"): (4, "has no response to request 1"),
    **{(name, "json"): (4, "cannot be read as JSON") for name in ("long-integer", "nul", "text-and-answer")},
    **{(name, "sse"): (4, "ended before the answer to tools/call") for name in STUCK},
}
"""Exit code and words on stderr where the call fails; HTTP knows when an answer is over, stdio does not."""
FORMS = [(name, form) for name in REPLIES for form in CASES[name].forms]
ENDS = [each for each in FORMS if each[1] not in SHARED or each[0] not in STUCK]


def answered(journal: Journal) -> tuple[int, list[Event]]:
    """The id of the call, and what came after it, or came before everything."""
    call = next(event for event in journal.events() if '"tools/call"' in event.text and event.dir is Dir.SEND)
    came = (Kind.RPC, Kind.INVALID, Kind.SSE)
    return call.message["id"], [e for e in journal.events(call.n + 1) if e.dir is Dir.RECV and e.kind in came]


def sent_messages(name: str, request_id: int, form: str) -> list[bytes]:
    """The expected text of each recorded event of the response."""
    case = CASES[name]
    whole = case.sent(request_id, form)
    if form == "stdio":
        return whole.removesuffix(b"\n").split(b"\n")
    if form in STREAMED and case.dies_after is not None:
        return [whole.partition(b"data: ")[2]]
    return case.messages(request_id) if form in STREAMED else [whole]


def judged(name: str, form: str, recording: Path) -> None:
    """The recording has the bytes that were sent, and the judge says what is wrong with them."""
    with whole_journal(recording) as journal:
        request_id, came = answered(journal)
        assert [event.bytes for event in came] == sent_messages(name, request_id, form)
        Judge(journal).run_all()
        said = " ".join(found.message for found in journal.findings.all())
        cause = JUDGED_ELSEWHERE.get((name, form), JUDGED[name])
        assert said == "" if cause is None else cause in said


@pytest.mark.parametrize(("name", "form"), ENDS)
def test_an_answer_is_kept_judged_and_shown(run: Run, serve: Serve, recording: Path, name: str, form: str) -> None:
    server = serve(name, form, apart=form != "stdio" and CASES[name].dies_after is not None)
    ran = run("call", "echo", "--record", str(recording), *server)
    code, words = FAILS_ELSEWHERE.get((name, form), FAILS.get(name, (0, "")))
    assert ran.code == code
    if code:
        assert ran.out == ""
        (error,) = [line for line in ran.err.splitlines() if line.startswith("error: ")]
        assert words in error
        assert code == 1 or is_one_sentence(ran.err)
    else:
        assert SHOWN.get(name, "hello") in ran.out
    judged(name, form, recording)


@pytest.mark.parametrize("name", STUCK)
def test_an_answer_that_cannot_be_used_is_reported_at_once_and_the_call_can_be_interrupted(
    start: Callable[..., Running], serve: Serve, recording: Path, name: str
) -> None:
    running = start("call", "echo", "--record", str(recording), *serve(name))
    told = running.line()
    assert re.match(r"note: (?:Message \d+|The server printed) ", told)
    ran = running.interrupt()
    assert (ran.code, ran.out, ran.err) == (130, "", "")
    judged(name, "stdio", recording)
    with whole_journal(recording) as journal:
        request_id, _ = answered(journal)
        assert journal.ended is not None
        cancelled = [event for event in journal.events() if "notifications/cancelled" in event.text]
        assert [event.message["params"]["requestId"] for event in cancelled] == [request_id]


@pytest.mark.parametrize("form", SHARED)
async def test_a_call_whose_answer_cannot_be_used_is_cancelled_without_ending_the_session(
    serve: Serve, recording: Path, form: str
) -> None:
    *_, url = words = serve("nul", form)
    target = parse_target(words[1:], command=True) if form == "stdio" else parse_target([url], transport="sse")
    session = Session(target, Journal.create(recording, {}), Options())
    await session.open()
    call = session.call_tool("echo")
    async with asyncio.timeout(PATIENCE):
        while not session.journal.index.invalid:
            await asyncio.sleep(0.005)
    assert call.fate == "pending"
    call.cancel()
    with pytest.raises(RequestCancelled):
        await call.result()
    assert session.journal.index.state(call.n) is State.CANCELLED
    assert await session.ping() > 0
    await session.close()
    session.journal.release()


@pytest.mark.parametrize("form", ["stdio", "json", "sse", "http+sse"])
@pytest.mark.parametrize("name", ["big-integers", "huge-exponent", "separators", "lone-surrogate", "duplicate-keys"])
def test_json_is_printed_as_it_was_sent(run: Run, serve: Serve, name: str, form: str) -> None:
    ran = run("call", "echo", "--json", *serve(name, form))
    assert ran.code == 0
    sent = CASES[name].messages(1)[0].decode()
    # Characters that a terminal may act on are written as escapes: the value is the same, and the rest as it was sent.
    sent = "".join(f"\\u{ord(char):04x}" if char in "\u2028\u2029\u0085" else char for char in sent)
    assert '"result":' + ran.out.strip() in sent


def test_what_is_not_json_is_printed_as_json_and_said(run: Run, serve: Serve) -> None:
    ran = run("call", "echo", "--json", *serve("nan"))
    assert ran.code == 0
    assert json.loads(ran.out)["structuredContent"] == {"a": None, "b": float("inf"), "c": float("-inf")}
    assert "NaN or Infinity" in ran.err

"""Files as the other tools write them, damaged ones, and files that are none."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.calls.collection import read_flow
from inspector.calls.variables import Variables, names_used
from inspector.check.judge.judge import Judge
from inspector.errors import UsageError
from inspector.formats import READABLE, Imported, import_file
from inspector.formats import source as sources
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from tests.bad_input.test_damaged_documents import damaged_text
from tests.formats.journals import exported, opened

ASK = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {"n": 2**70}}}
ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
SECRET = "s3cr3t-0123456789abcdef"
STARTED = "2026-03-04T05:06:07.000Z"


def imported(
    folder: Path, content: str | bytes, format: str | None = None, **options: bool
) -> tuple[Imported, Journal]:
    file, out = folder / "their.file", folder / "ours.mcp.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    made = import_file(file, out, format, **options)
    return made, opened(out)


def of(journal: Journal, *kinds: Kind) -> list[Event]:
    return [event for event in journal.events() if event.kind in kinds]


def snoop(seq: int, direction: str, **fields: Any) -> str:
    about = {
        "session_id": "a", "server_label": "files", "seq": seq, "ts": f"2026-03-04T05:06:0{seq}.123456789Z",
        "direction": direction, "transport": "stdio",
    }  # fmt: skip
    return json.dumps({**about, **fields}) + "\n"


LOG = (
    snoop(1, "meta", raw={"command": ["srv", "--token", SECRET], "cwd": "/tmp"})
    + snoop(2, "c2s", raw=ASK)
    + snoop(3, "stderr", text="listening")
    + snoop(4, "s2c", raw=ANSWER)
    + snoop(5, "s2c", text="no json")
)


DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize(("name", "messages", "empty"), [("stdio", 17, 0), ("http", 13, 2)])
def test_a_log_that_mcpsnoop_has_written(name: str, messages: int, empty: int, tmp_path: Path) -> None:
    """Written by mcpsnoop 0.18 in front of our demo: a handshake, calls, a question, progress, noise; both eras."""
    made, journal = imported(tmp_path, (DATA / f"mcpsnoop-{name}.jsonl").read_bytes())
    assert (made.format, made.messages, len(of(journal, Kind.RPC, Kind.INVALID))) == ("mcpsnoop", messages, messages)
    assert [event.fields["status"] for event in of(journal, Kind.HTTP)] == [202, 204][:empty]
    judge = Judge(journal)
    judge.run_all()
    assert [(finding.rule, finding.level) for finding in journal.findings.all()] == (
        [("BASE-05", "note")] if name == "stdio" else []
    )


def test_a_log_of_mcpsnoop(tmp_path: Path) -> None:
    made, journal = imported(tmp_path, LOG)
    assert made.format == "mcpsnoop"
    assert journal.header["started"] == "2026-03-04T05:06:01.123456Z"
    assert journal.header["target"]["label"] == "files"
    assert journal.header["target"]["argv"][0] == "srv"
    assert "import of mcpsnoop" in journal.header["tool"]
    assert [(event.kind, event.t, event.text) for event in journal.events()][:4] == [
        (Kind.RPC, 1_000_000, json.dumps(ASK)),
        (Kind.STDERR, 2_000_000, "listening"),
        (Kind.RPC, 3_000_000, json.dumps(ANSWER)),
        (Kind.INVALID, 4_000_000, "no json"),
    ]
    assert journal.index.pair(1) == 3
    assert SECRET not in (tmp_path / "ours.mcp.jsonl").read_text()
    assert [event.fields["text"] for event in of(journal, Kind.NOTE)] == made.notes


def test_damaged_lines_are_reported_with_their_place_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = LOG.splitlines(keepends=True)
    made, journal = imported(
        tmp_path, "".join([*lines[:2], "{broken\n", '{"direction": "up"}\n', *lines[2:], lines[3][:50]])
    )
    assert made.messages == 3
    assert [note for note in made.notes if "cannot be read" in note] == [
        "Line 3 cannot be read: it is not a JSON object.",
        "Line 4 cannot be read: it has an unknown direction.",
        "Line 8 cannot be read: it is not a JSON object.",
    ]
    assert len(of(journal, Kind.STDERR)) == 1


def test_of_many_damaged_lines_some_are_named_and_all_counted(tmp_path: Path) -> None:
    made, _ = imported(tmp_path, LOG + "{\n" * 1000)
    assert sum("cannot be read: " in note for note in made.notes) == 20
    assert "980 more places cannot be read." in made.notes


def test_a_line_that_is_too_long_is_omitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_LINE", 600)
    made, _ = imported(
        tmp_path, LOG + snoop(6, "s2c", raw={"jsonrpc": "2.0", "method": "x" * 5000}) + snoop(7, "s2c", raw=ANSWER)
    )
    assert "Line 6 cannot be read: it is too long." in made.notes
    assert made.messages == 4


def test_another_session_in_the_same_log_is_omitted_and_that_is_reported(tmp_path: Path) -> None:
    made, _ = imported(tmp_path, LOG + LOG.replace('"session_id": "a"', '"session_id": "b"'))
    assert made.messages == 3
    assert "Lines of other sessions in the same log (5) are skipped." in made.notes


def cassette(*messages: dict[str, Any], **head: Any) -> dict[str, Any]:
    return {"format_version": 3, "recorded_at": STARTED, "transport": "stdio", **head, "messages": list(messages)}


def test_a_cassette_set_over_several_lines_has_messages_on_one_each(tmp_path: Path) -> None:
    file = cassette(
        {"t_offset_ms": 5, "sender": "client", "kind": "request", "payload": ASK},
        {"t_offset_ms": 7, "sender": "server", "kind": "response", "payload": ANSWER, "redacted": True},
        {"t_offset_ms": 9, "sender": "server", "kind": "raw", "payload": "oops"},
    )
    _, journal = imported(tmp_path, json.dumps(file, indent=2))
    first, second, third = list(journal.events())[:3]
    assert first.text == json.dumps(ASK, separators=(",", ":"))
    assert (first.t, second.t, third.t) == (5000, 7000, 9000)
    assert second.fields["redacted"] is True
    assert (third.kind, third.text) == (Kind.INVALID, "oops")


def test_of_a_torn_cassette_what_is_whole_is_read(tmp_path: Path) -> None:
    text = json.dumps(cassette(*[{"t_offset_ms": at, "sender": "client", "payload": ASK} for at in range(9)]))
    made, _ = imported(tmp_path, text[: text.rindex('"sender"') + 3])
    assert made.messages == 8
    assert any("The part after message 8 cannot be read" in note for note in made.notes)


def test_a_newer_cassette_is_read_with_a_word_about_it(tmp_path: Path) -> None:
    made, _ = imported(tmp_path, json.dumps(cassette({"sender": "client", "payload": ASK}, format_version=9)))
    assert "The cassette has format version 9; this Inspector supports 3." in made.notes


def test_a_document_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_DOCUMENT", 100)
    with pytest.raises(UsageError, match="one document is 100"):
        imported(tmp_path, json.dumps(cassette({"sender": "client", "payload": ASK})))
    assert not (tmp_path / "ours.mcp.jsonl").exists()


def test_a_message_nested_deeper_than_any_parser_goes_is_taken_as_it_stands(tmp_path: Path) -> None:
    deep = '{"jsonrpc":"2.0","method":"deep","params":' + "[" * 5000 + "]" * 5000 + "}"
    text = '{"format_version":3,"messages":[{"sender":"server","payload":' + deep + "}]}"
    _, journal = imported(tmp_path, text)
    assert journal.event(1).text == deep


def test_mcporters_own_member_is_taken_out_and_the_messages_stay(tmp_path: Path) -> None:
    meta = '"_meta":{"dir":"%s","server":"linear","ts":"2026-03-04T05:06:07.%sZ"}'
    lines = [
        '{"jsonrpc":"2.0","method":"$transport/start",' + meta % ("lifecycle", "000") + "}",
        '{"jsonrpc":"2.0","id":0,"method":"x","params":{"_meta":{"a":"}"}},' + meta % ("send", "100") + "}",
        "{" + meta % ("recv", "200") + ',"jsonrpc":"2.0","id":0,"result":{}}',
        "{ " + meta % ("recv", "300") + " }",
    ]
    _, journal = imported(tmp_path, "\n".join(lines))
    assert [(event.dir, event.t, event.text) for event in of(journal, Kind.RPC)] == [
        (Dir.SEND, 100_000, '{"jsonrpc":"2.0","id":0,"method":"x","params":{"_meta":{"a":"}"}}}'),
        (Dir.RECV, 200_000, '{"jsonrpc":"2.0","id":0,"result":{}}'),
        (Dir.RECV, 300_000, "{}"),
    ]
    assert journal.header["target"]["label"] == "linear"


def entry(method: str, url: str, sent: Any = None, body: str = "", media: str = "application/json", **more: Any) -> Any:
    """An entry as a browser writes it."""
    return {
        "startedDateTime": more.pop("at", STARTED), "time": more.pop("time", 20),
        "request": {
            "method": method, "url": url, "httpVersion": "h2", "cookies": [{"name": "sid", "value": SECRET}],
            "headers": [
                {"name": ":authority", "value": "host"}, {"name": "authorization", "value": f"Bearer {SECRET}"},
                {"name": "accept", "value": "text/event-stream"},
            ],
            **({"postData": {"mimeType": "application/json", "text": json.dumps(sent)}} if sent is not None else {}),
        },
        "response": {
            "status": 200, "statusText": "", "httpVersion": "h2",
            "headers": [{"name": "content-type", "value": media}],
            "content": {"size": len(body), "mimeType": media, "text": body, **more.pop("content", {})},
        },
        "timings": {"blocked": 1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 9, "receive": 10},
        **more,
    }  # fmt: skip


def archive(*entries: Any) -> str:
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "WebInspector"}, "entries": entries}}, indent=1)


MCP = "https://host.example/mcp"


def test_of_a_browsers_archive_only_mcp_is_taken_and_no_secret(tmp_path: Path) -> None:
    made, journal = imported(
        tmp_path,
        archive(
            entry("GET", "https://host.example/app.js", body="x()", media="text/javascript"),
            entry("POST", "https://host.example/track", sent={"event": "click"}, body="{}"),
            entry("POST", MCP + f"?token={SECRET}", sent=ASK, body=json.dumps(ANSWER)),
            entry("POST", MCP, sent=ASK, body=base64.b64encode(b'{"jsonrpc":"2.0","id":1,"result":{"a":"\xff"}}').decode(),
                  content={"encoding": "base64"}),
            entry("OPTIONS", MCP),
        ),
    )  # fmt: skip
    assert made.format == "har"
    assert "Of its 5 requests, 3 are not MCP requests and are skipped." in made.notes
    assert journal.header["target"]["url"] == MCP
    assert [event.t for event in journal.events() if event.kind is not Kind.NOTE][:4] == [0, 0, 0, 0]
    assert b"\xff" in of(journal, Kind.RPC)[-1].bytes
    text = (tmp_path / "ours.mcp.jsonl").read_text(encoding="utf-8")
    assert SECRET not in text
    assert ":authority" not in text
    assert "Bearer ‹redacted" in text


def test_an_archive_without_the_bodies_of_requests_has_their_answers(tmp_path: Path) -> None:
    made, journal = imported(
        tmp_path,
        archive(
            entry("POST", MCP, body=json.dumps(ANSWER)),
            entry("POST", MCP, body=f"data: {json.dumps(ANSWER)}\n\n", media="text/event-stream"),
            entry("POST", "https://host.example/track", body="{}"),
        ),
    )
    assert of(journal, Kind.INVALID) == []
    assert [event.dir for event in of(journal, Kind.RPC)] == [Dir.RECV, Dir.RECV]
    assert "It does not contain the bodies of 2 requests." in made.notes


def test_an_archive_without_any_body_keeps_the_requests_that_name_mcp(tmp_path: Path) -> None:
    one = entry("POST", MCP)
    del one["response"]["content"]
    one["request"]["headers"].append({"name": "MCP-Protocol-Version", "value": "2025-06-18"})
    made, journal = imported(tmp_path, archive(one))
    assert (made.messages, of(journal, Kind.INVALID)) == (0, [])
    assert [event.dir for event in of(journal, Kind.HTTP)] == [Dir.SEND, Dir.RECV]
    one["request"]["headers"].pop()
    with pytest.raises(UsageError, match="the bodies of 1 POST request: save the archive with content"):
        imported(tmp_path, archive(one), force=True)


def test_a_stream_of_a_post_ends_with_its_answer(tmp_path: Path) -> None:
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    body = f": hello\n\nid: 1\nevent: message\ndata: {json.dumps(progress)}\n\nid: 2\ndata: {json.dumps(ANSWER)}\n\n"
    _, journal = imported(tmp_path, archive(entry("POST", MCP, sent=ASK, body=body, media="text/event-stream")))
    rpc = of(journal, Kind.RPC)
    assert [(event.t, event.fields.get("sse")) for event in rpc] == [
        (0, None), (10_000, {"event": "message", "id": "1"}), (20_000, {"id": "2"}),
    ]  # fmt: skip
    assert [event.text for event in of(journal, Kind.SSE)] == [": hello"]
    assert journal.index.pair(rpc[0].n) == rpc[2].n


def test_the_stream_of_http_and_sse_answers_after_the_posts(tmp_path: Path) -> None:
    stream = f"event: endpoint\ndata: /messages?session=1\n\ndata: {json.dumps(ANSWER)}\n\n"
    _, journal = imported(
        tmp_path,
        archive(
            entry("GET", "http://host.example/sse", body=stream, media="text/event-stream", time=9000),
            entry("POST", "http://host.example/messages?session=1", sent=ASK, body="Accepted", media="text/plain",
                  at="2026-03-04T05:06:08.000Z"),
        ),
    )  # fmt: skip
    rpc = of(journal, Kind.RPC)
    assert [(event.dir, event.t) for event in rpc] == [(Dir.SEND, 1_000_000), (Dir.RECV, 1_000_001)]
    assert journal.index.pair(rpc[0].n) == rpc[1].n
    assert of(journal, Kind.SSE)[0].fields["event"] == "endpoint"
    assert journal.header["target"]["transport"] == "sse"


def test_an_archive_without_mcp_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none of its 1 requests is an MCP request"):
        imported(tmp_path, archive(entry("GET", "https://host.example/")))
    assert not (tmp_path / "ours.mcp.jsonl").exists()


def test_the_protocol_tab_of_the_official_inspector(tmp_path: Path) -> None:
    entries = [
        {"id": "2", "timestamp": "2026-03-04T05:06:09.000Z", "direction": "request", "origin": "server",
         "message": {"jsonrpc": "2.0", "id": 0, "method": "ping"}, "response": {"jsonrpc": "2.0", "id": 0, "result": {}},
         "duration": 3},
        {"id": "1", "timestamp": "2026-03-04T05:06:07.000Z", "direction": "request", "message": ASK, "response": ANSWER,
         "duration": 4000},
    ]  # fmt: skip
    made, journal = imported(tmp_path, json.dumps(entries, indent=2))
    assert made.format == "inspector"
    assert [(event.dir, event.t, event.message.get("method")) for event in of(journal, Kind.RPC)] == [
        (Dir.SEND, 0, "tools/call"), (Dir.RECV, 2_000_000, "ping"), (Dir.SEND, 2_003_000, None),
        (Dir.RECV, 4_000_000, None),
    ]  # fmt: skip
    assert "\n" not in journal.event(1).text


def test_the_network_tab_of_the_official_inspector_with_its_login(tmp_path: Path) -> None:
    login = {
        "id": "a", "timestamp": "2026-03-04T05:06:06.000Z", "method": "POST", "url": "https://as.example/token",
        "requestHeaders": {"content-type": "application/x-www-form-urlencoded"},
        "requestBody": f"grant_type=authorization_code&code={SECRET}", "responseStatus": 200, "category": "auth",
        "responseHeaders": {}, "responseBody": json.dumps({"access_token": SECRET, "token_type": "Bearer"}),
    }  # fmt: skip
    post = {
        "id": "b", "timestamp": "2026-03-04T05:06:07.000Z", "method": "POST", "url": MCP, "category": "transport",
        "requestHeaders": {"authorization": f"Bearer {SECRET}"}, "requestBody": json.dumps(ASK), "responseStatus": 200,
        "responseHeaders": {"content-type": "application/json"}, "responseBody": json.dumps(ANSWER), "duration": 12,
    }  # fmt: skip
    _, journal = imported(tmp_path, json.dumps([post, login]))
    assert journal.event(1).kind is Kind.AUTH
    assert [event.t for event in of(journal, Kind.RPC)] == [1_000_000, 1_012_000]
    assert SECRET not in (tmp_path / "ours.mcp.jsonl").read_text()
    assert journal.header["target"]["url"] == MCP


LIVE = "x/{{token}} env:HOME file:~/.vault-token"
"""A text that would be a variable, and the place of a secret, in a file of ours."""
SAID = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": LIVE, "arguments": {LIVE: LIVE}}}
OTHER = {"jsonrpc": "2.0", "id": 2, "method": LIVE, "params": {"a": LIVE}}
META = {"server": LIVE, "ts": STARTED}
FOREIGN = {
    "har": archive(entry("POST", f"{MCP}?{LIVE}", SAID, json.dumps(ANSWER)), entry("POST", MCP, OTHER, json.dumps({**ANSWER, "id": 2}))),
    "inspector": json.dumps(
        [{"id": str(asked["id"]), "timestamp": STARTED, "direction": "request", "message": asked,
          "response": {**ANSWER, "id": asked["id"]}, "duration": 1} for asked in (SAID, OTHER)]
    ),
    "mcpsnoop": snoop(1, "meta", raw={"command": ["@github", LIVE], "cwd": "/tmp"})
    + "".join(snoop(n, dir, raw=message) for n, (dir, message) in enumerate(
        (("c2s", SAID), ("s2c", ANSWER), ("c2s", OTHER), ("s2c", {**ANSWER, "id": 2})), 2)),
    "mcp-cassette": json.dumps(cassette(
        *({"t_offset_ms": n, "sender": sender, "payload": message} for n, (sender, message) in enumerate(
            (("client", SAID), ("server", ANSWER), ("client", OTHER), ("server", {**ANSWER, "id": 2})))))),
    "mcporter": "\n".join(
        json.dumps({**message, "_meta": {"dir": dir, **META}})
        for dir, message in (("send", SAID), ("recv", ANSWER), ("send", OTHER), ("recv", {**ANSWER, "id": 2}))
    ),
    "jsonl": "\n".join(map(json.dumps, (SAID, ANSWER, OTHER, {**ANSWER, "id": 2}))),
}  # fmt: skip


@pytest.mark.parametrize("format", FOREIGN)
def test_a_flow_from_a_foreign_file_inserts_nothing(tmp_path: Path, format: str) -> None:
    _, journal = imported(tmp_path, FOREIGN[format], format)
    flow = read_flow(tmp_path / "flow.yaml", exported(journal, "calls").encode())
    assert names_used(flow) == set()
    assert not flow.model.server.startswith("@")
    inserted = Variables({}).insert(flow.located.value["steps"])
    assert inserted[0] == {"call": LIVE, "args": {LIVE: LIVE}}
    assert inserted[1] == {"request": LIVE, "params": {"a": LIVE}}


def test_the_console_tab_of_the_official_inspector(tmp_path: Path) -> None:
    _, journal = imported(tmp_path, json.dumps([{"timestamp": STARTED, "message": "one\ntwo"}]))
    assert [event.text for event in of(journal, Kind.STDERR)] == ["one", "two"]


@pytest.mark.slow
@pytest.mark.parametrize("content", ["{}", "[]", "hello", '{"a":1}\n', '[{"a":1}]', "\0\1\2", "null", "[" * 100_000])
def test_what_is_of_no_known_format_is_refused_with_what_was_searched(content: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        imported(tmp_path, content)
    assert all(f"{name}:" in refused.value.message for name in READABLE)


def test_what_is_a_recording_already_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a recording already"):
        imported(tmp_path, '{"format":"mcp-recording","version":1}\n')


def test_an_empty_file_a_folder_and_one_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text(" \n")
    for name, problem in (("empty", "is empty"), (".", "cannot be read|is not a file"), ("none", "cannot be read")):
        with pytest.raises(UsageError, match=problem):
            import_file(tmp_path / name, tmp_path / "out")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "ours.mcp.jsonl").write_text("precious")
    with pytest.raises(UsageError, match="already exists"):
        imported(tmp_path, LOG)
    assert (tmp_path / "ours.mcp.jsonl").read_text() == "precious"


def test_a_folder_that_does_not_exist_is_reported_with_the_name_that_was_given(tmp_path: Path) -> None:
    (tmp_path / "their.file").write_text(LOG)
    out = tmp_path / "none" / "ours.mcp.jsonl"
    with pytest.raises(UsageError) as caught:
        import_file(tmp_path / "their.file", out)
    assert caught.value.message.startswith(f"{out} cannot be written: ")


JUNK: tuple[Any, ...] = (None, True, 0, -1, 1e308, 2**70, "x", "\ud800", [], [[]], {}, {"a": {"b": []}})
KEYS = (
    "session_id", "seq", "direction", "ts", "raw", "text", "format_version", "messages", "recorded_at", "sender", "payload",
    "t_offset_ms", "exchange", "channel", "metadata", "interactions", "request", "response", "latency_ms", "type",
    "_meta", "jsonrpc", "id", "method", "log", "entries", "startedDateTime", "time", "timings", "timestamp", "message",
    "requestHeaders", "url", "duration", "origin", "server_url", "http_path", "category", "status", "transport",
)  # fmt: skip


@pytest.mark.parametrize("format", FOREIGN)
@given(st.data())
def test_a_damaged_file_is_read_or_refused(format: str, data: st.DataObject) -> None:
    text = data.draw(damaged_text(FOREIGN[format].encode()))
    claimed = data.draw(st.sampled_from([format, None]))
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, "theirs"), Path(folder, "ours.mcp.jsonl")
        file.write_bytes(text)
        with suppress(UsageError):
            assert import_file(file, out, claimed).events
        assert {path.name for path in Path(folder).iterdir()} <= {"theirs", "ours.mcp.jsonl"}


@pytest.mark.parametrize("format", READABLE)
@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_wrong_types_everywhere_end_in_a_recording_or_in_a_refusal(format: str, junk: Any, tmp_path: Path) -> None:
    item = dict.fromkeys(KEYS, junk) | {"direction": "c2s", "sender": "client", "timestamp": STARTED, "message": junk}
    item |= {"startedDateTime": STARTED, "_meta": {"dir": "send", "ts": junk, "server": junk}, "jsonrpc": "2.0"}
    log = {"creator": junk, "entries": [item, junk]}
    whole = dict.fromkeys(KEYS, junk) | {"messages": [item, junk], "interactions": [item, junk], "log": log}
    for number, content in enumerate((json.dumps(item), json.dumps(whole), json.dumps([item, junk]), json.dumps(junk))):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            made, journal = imported(folder, content, format)
        except UsageError:
            assert not (folder / "ours.mcp.jsonl").exists()
        else:
            assert made.events == len(journal)


@pytest.mark.parametrize("format", [None, "har", "jsonl"])
def test_a_pipe_is_refused_at_once(tmp_path: Path, format: str | None) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not a regular file"):
        import_file(tmp_path / "pipe", tmp_path / "out.mcp.jsonl", format)
    with pytest.raises(UsageError, match="not a regular file"):
        import_file(Path("/dev/zero"), tmp_path / "out.mcp.jsonl", format)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe"]


def test_a_recording_has_its_limit_and_says_what_did_not_fit(tmp_path: Path) -> None:
    source, out = tmp_path / "messages.log", tmp_path / "ours.mcp.jsonl"
    log = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": '"' * 500}})
    source.write_text(f"{log}\n" * 200)
    made = import_file(source, out, limit=50_000)
    assert made.messages == 200
    assert any(note.startswith("The recording is not complete: recording full: ") for note in made.notes)
    assert 40_000 < out.stat().st_size <= 50_500


def test_force_replaces_what_was_imported_before_and_only_when_all_went_well(tmp_path: Path) -> None:
    source, out = tmp_path / "messages.log", tmp_path / "ours.mcp.jsonl"
    out.write_text("old")
    out.chmod(0o666)
    source.write_text("contains no MCP messages\n")
    with pytest.raises(UsageError, match="contains no MCP messages"):
        import_file(source, out, "jsonl", force=True)
    assert out.read_text() == "old"
    source.write_text('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    import_file(source, out, "jsonl", force=True)
    assert out.read_text().startswith('{"format":"mcp-recording"')
    assert out.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["messages.log", "ours.mcp.jsonl"]

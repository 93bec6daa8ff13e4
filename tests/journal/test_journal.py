"""The file has the exact bytes of the wire, and they are read back unchanged."""

import gc
import json
import os
import tracemalloc
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.errors import RecordingError
from inspector.journal import recording as recording_module
from inspector.journal import storage as storage_module
from inspector.journal.findings import Finding
from inspector.journal.format import Dir, Kind, escape, escape_parsed, header_line
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Codec, NotJson, Shape

HOSTILE = [
    b'{"jsonrpc":"2.0","id":1,"result":{}}',
    b'{"jsonrpc": "2.0" ,  "id": 1, "result": {"a": 1.0e2}}\r',
    b'{"a":1,"a":2}',
    b'{"a":NaN}',
    b'{"a":1E400}',
    b'{"a":12345678901234567890123}',
    b'{"a":"\\ud800"}',
    '{"a":"\u2028\u2029\u0085"}'.encode(),
    b'{"a":"\xff\xfe"}',
    b'\xef\xbb\xbf{"a":1}',
    b"[1,2,3]",
    b"Starting server...",
    b"",
    b'{"broken":',
    b"\x1b[31mred\x1b[0m",
    b"\x00\x01",
]


@pytest.fixture
def journal(tmp_path):
    made = Journal.create(tmp_path / "a.mcp.jsonl", {"kind": "stdio"})
    yield made
    made.release()


def reopen(journal):
    opened = Journal.open(journal.path)
    while opened.refresh():
        pass
    return opened


def note(text="x"):
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": text}}).encode()


def columns(journal):
    index = journal.index
    return [
        list(column[: index.count])
        for column in (
            index.views.offsets,
            index.views.times,
            index.views.sizes,
            index.views.codes,
            index.views.states,
            index.views.ids,
            index.views.pairs,
            index.views.parents,
        )
    ] + [[index.method(n) for n in range(1, len(journal) + 1)]]


def test_recorded_bytes_are_the_sent_bytes(journal):
    journal.record_received("stdio", HOSTILE)
    assert [journal.event(n).bytes for n in range(1, len(journal) + 1)] == HOSTILE


@given(st.lists(st.binary(max_size=80), min_size=1, max_size=8))
@settings(max_examples=2 * settings.default.max_examples)
def test_any_bytes_survive_the_file(messages):
    journal = Journal.unnamed({})
    journal.record_received("stdio", messages)
    assert [event.bytes for event in journal.events()] == messages
    journal.release()


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=12), st.data())
def test_events_that_are_read_together_are_those_that_are_read_alone(messages, data):
    journal = Journal.unnamed({})
    journal.record_received("stdio", messages)
    numbers = sorted(data.draw(st.sets(st.integers(1, len(messages)))))
    with mock.patch.object(recording_module, "_NEAR", 400):
        assert [(event.n, event.bytes) for event in journal.events_of(numbers)] == [
            (n, messages[n - 1]) for n in numbers
        ]
    journal.release()


def test_the_file_is_json_lines_that_any_reader_can_read(journal):
    journal.record_received("stdio", HOSTILE)
    journal.close()
    lines = journal.path.read_bytes().split(b"\n")
    header, *events, end, empty = lines
    assert json.loads(header)["format"] == "mcp-recording"
    assert [json.loads(line)["n"] for line in events] == list(range(1, len(HOSTILE) + 1))
    assert json.loads(end)["kind"] == "end"
    assert json.loads(end)["events"] == len(HOSTILE)
    assert empty == b""


@pytest.mark.slow
def test_bodies_stay_in_the_file(journal):
    body = b'{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"%b"}}'
    tracemalloc.start()
    for number in range(200):
        journal.record_received("stdio", [body % (b"%06d" % number * 20_000)])
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert journal.path.stat().st_size > 20_000_000
    assert kept < 3_000_000
    assert journal.event(3).text.count("000002") == 20_000


def test_recordings_are_private(journal):
    assert journal.path.stat().st_mode & 0o777 == 0o600


def test_what_was_recorded_live_is_indexed_the_same_later(journal):
    journal.record_life("stdio", "spawn", argv=["x"])
    journal.record_sent(
        "stdio",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"t"}}}',
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": {"progressToken": "t"}}},
    )
    journal.record_stderr("stderr", [b"one", b"\xff"])
    journal.record_received(
        "stdio",
        [
            b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}',
            b'{"jsonrpc":"2.0","id":9,"method":"roots/list"}',
            *HOSTILE,
        ],
    )
    journal.record_http("post-1", Dir.SEND, method="POST", url="http://x/?code=1", headers=[("A", "b")])
    journal.record_sse("post-1", "", id="3")
    journal.record_life("", "timeout", **{"for": 2})
    journal.record_note("a repeated cursor", Finding(3, "C-PAG-03", "must", "a repeated cursor"))
    journal.close()
    opened = reopen(journal)
    assert columns(opened) == columns(journal)
    assert [f.rule for f in opened.findings.of(3)] == ["C-PAG-03"]
    assert not opened.end_is_missing
    assert not opened.torn


def test_frames_carry_what_was_parsed_once(journal):
    frames = journal.record_received("stdio", [b"noise", b'{"jsonrpc":"2.0","id":1,"method":"ping"}'])
    assert [(frame.n, frame.shape, frame.message["method"]) for frame in frames] == [(2, Shape.REQUEST, "ping")]


def test_one_read_is_one_write(journal, monkeypatch):
    writes = []
    real = storage_module.files.append
    monkeypatch.setattr(storage_module.files, "append", lambda fd, data: writes.append(1) or real(fd, data))
    journal.record_received("stdio", [note()] * 50)
    assert len(writes) == 1


def test_a_message_that_broke_off_is_kept_and_marked(journal):
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":1,"res'], cut=True)
    assert journal.event(1).fields["cut"] is True
    assert journal.index.state(1) is State.INVALID


def test_bytes_that_are_not_utf8_are_still_a_message(journal):
    frames = journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":1,"result":{"a":"\xff"}}'])
    assert frames[0].shape is Shape.RESULT
    assert journal.event(1).fields["encoding"] == "not UTF-8"


def test_a_hand_made_message_that_is_not_json_is_recorded_as_such(journal):
    journal.record_sent("stdio", b"{nonsense \xff", None)
    assert journal.index.kind(1) is Kind.INVALID
    assert journal.event(1).bytes == b"{nonsense \xff"


# Files as they are found


def test_a_torn_last_line_is_no_error(journal):
    journal.record_received("stdio", [note()] * 3)
    size = journal.path.stat().st_size
    os.truncate(journal.path, size - 10)
    opened = reopen(journal)
    assert len(opened) == 2
    assert opened.torn
    assert opened.end_is_missing


def test_a_missing_end_is_reported(journal):
    journal.record_received("stdio", [note()])
    assert reopen(journal).end_is_missing


def test_a_growing_file_is_followed(journal):
    opened = Journal.open(journal.path)
    assert not opened.refresh()
    journal.record_received("stdio", [note("first")])
    opened.refresh()
    assert len(opened) == 1
    assert opened.event(1).message["params"]["data"] == "first"
    journal.record_received("stdio", [note("second")])
    opened.refresh()
    assert opened.event(2).message["params"]["data"] == "second"


def test_indexing_can_be_done_in_portions(journal):
    journal.record_received("stdio", [note(str(i)) for i in range(100)])
    opened = Journal.open(journal.path)
    portions = 0
    while opened.refresh(limit=7):
        portions += 1
    assert len(opened) == 100
    assert portions >= 14
    assert opened.event(100).message["params"]["data"] == "99"


def test_a_line_longer_than_the_read_block(journal):
    journal.record_received("stdio", [note("x" * 5_000_000), note("after")])
    opened = reopen(journal)
    assert len(opened.event(1).message["params"]["data"]) == 5_000_000
    assert opened.event(2).message["params"]["data"] == "after"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"\x7fELF\x00\x01", "not a recording"),
        (b'{"format":"other"}\n', "not a recording"),
        (b"[1]\n", "not a recording"),
    ],
)
def test_what_is_not_a_recording_is_refused_in_words(tmp_path, content, words):
    path = tmp_path / "x.mcp.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=words):
        Journal.open(path)


def test_a_missing_file_and_a_folder_are_refused_in_words(tmp_path):
    with pytest.raises(RecordingError, match="cannot be read"):
        Journal.open(tmp_path / "none")
    with pytest.raises(RecordingError, match=r"."):
        Journal.open(tmp_path)


def test_a_newer_version_is_shown_raw_with_a_notice(tmp_path):
    path = tmp_path / "x.mcp.jsonl"
    path.write_bytes(b'{"format":"mcp-recording","version":9}\n{"whatever":1}\n')
    opened = Journal.open(path)
    opened.refresh()
    assert "version 9" in opened.notices[0]
    assert opened.event(1).raw == '{"whatever":1}'


def test_unknown_kinds_keys_and_broken_lines_are_shown(tmp_path):
    path = tmp_path / "x.mcp.jsonl"
    path.write_text(
        '{"format":"mcp-recording","version":1,"started":"2026-11-21T10:00:00Z"}\n'
        '{"n":1,"t":5,"dir":"recv","kind":"telepathy","ch":"x","raw":"hm","more":[1]}\n'
        "this is broken\n"
        '{"n":"one","t":{},"dir":["recv"],"kind":7,"ch":null,"raw":4,"b64":"***"}\n'
        '{"n":3,"t":9,"dir":"recv","kind":"rpc","ch":"stdio","raw":"{broken"}\n',
        newline="",
    )
    opened = Journal.open(path)
    opened.refresh()
    assert len(opened) == 4
    assert opened.event(1).kind_name == "telepathy"
    assert opened.event(1).fields == {"more": [1]}
    (notice,) = opened.notices
    assert "the kinds “telepathy”, “other”, which this Inspector does not know" in notice
    assert opened.event(2).bytes == b"this is broken"
    assert opened.index.state(4) is State.INVALID
    assert [event.n for event in opened.events()] == [1, 2, 3, 4]


def test_an_existing_recording_is_never_overwritten(journal):
    with pytest.raises(RecordingError, match="already exists"):
        Journal.create(journal.path, {})


def test_a_device_is_written_only_if_it_is_named_itself(tmp_path):
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(os.devnull)
    os.mkfifo(pipe)
    for path in (link, pipe):
        with pytest.raises(RecordingError, match="already exists"):
            Journal.create(path, {"kind": "stdio"})
    Journal.create(Path(os.devnull), {"kind": "stdio"}).release()


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(RecordingError, match="cannot be written"):
        Journal.create(tmp_path / "no" / "such" / "x", {})


def test_an_event_outside_the_recording_is_an_index_error(journal):
    with pytest.raises(IndexError):
        journal.event(0)
    with pytest.raises(IndexError):
        journal.event(1)


def test_a_header_with_a_wild_date_still_opens(tmp_path):
    path = tmp_path / "x.mcp.jsonl"
    path.write_text('{"format":"mcp-recording","version":1,"started":["?"]}\n')
    opened = Journal.open(path)
    assert opened.started.year == 1970
    assert opened.clock(10**18).year == 1970


# A disk that refuses


class FullDisk:
    def __init__(self):
        self.full = False
        self.real = storage_module.files.append

    def append(self, fd, data):
        if self.full:
            raise OSError(28, "No space left on device")
        return self.real(fd, data)


@pytest.fixture
def disk(monkeypatch):
    disk = FullDisk()
    monkeypatch.setattr(storage_module.files, "append", disk.append)
    monkeypatch.setattr(storage_module, "RETRY_AFTER", 0.0)
    return disk


def test_on_a_full_disk_the_session_goes_on_from_memory(journal, disk):
    journal.record_received("stdio", [note("before")])
    disk.full = True
    journal.record_received("stdio", [note("during")])
    assert "No space left" in journal.storage.problem
    assert journal.event(2).message["params"]["data"] == "during"
    assert journal.event(1).message["params"]["data"] == "before"


def test_what_the_disk_refused_is_written_once_there_is_room(journal, disk):
    disk.full = True
    journal.record_received("stdio", [note("kept")])
    disk.full = False
    journal.record_received("stdio", [note("after")])
    assert journal.storage.problem == ""
    assert [event.message["params"]["data"] for event in reopen(journal).events()] == ["kept", "after"]


def test_beyond_the_bound_bodies_are_not_kept_and_counted(journal, disk, monkeypatch):
    monkeypatch.setattr(storage_module, "TAIL_LIMIT", 1000)
    disk.full = True
    journal.record_received("stdio", [note("x" * 400)])
    journal.record_received("stdio", [note("y" * 900)])
    assert journal.storage.dropped > 900
    assert len(journal) == 2
    assert journal.event(1).message["params"]["data"] == "x" * 400
    assert journal.event(2).raw is None


def test_a_real_full_disk(tmp_path):
    """/dev/full refuses every write as a full disk does."""
    if os.path.exists("/dev/full"):
        fd = os.open("/dev/full", os.O_RDWR)
        made = Journal(storage_module.Storage(fd, None, writable=True), {})
        made.record_received("stdio", [note("kept")])
        assert made.storage.problem
        assert made.event(1).message["params"]["data"] == "kept"
        made.release()


# Secrets


def test_secrets_that_we_hold_never_reach_the_file(tmp_path):
    secret = 'p"ss wörd/42'
    quoted = json.dumps(secret)[1:-1]
    journal = Journal.create(tmp_path / "a.mcp.jsonl", {"argv": ["run", secret]}, [secret])
    text = json.dumps({"jsonrpc": "2.0", "method": "m", "params": {"token": secret}})
    journal.record_sent("stdio", text.encode(), json.loads(text))
    journal.record_received(
        "stdio", [json.dumps({"echo": secret}, ensure_ascii=False).encode(), b"\xff " + secret.encode()]
    )
    for body in (b'{"a":1}', b"no JSON", f'{{"a":"{quoted}"}}'.encode()):
        journal.record_received("post-1", [body], f',"sse":{{"event":"{quoted}","id":"{quoted}"}}')
    journal.record_stderr("stderr", [f"using {secret}".encode()])
    journal.record_life("stdio", "spawn", argv=[secret])
    journal.record_http("post-1", Dir.SEND, url="https://u:pw@h/x?access_token=abc", headers=[("X-Key", secret)])
    journal.record_sse("get-1", f"/messages?session={secret}", event="endpoint")
    journal.close()
    content = journal.path.read_text(encoding="utf-8")
    for form in (secret, json.dumps(secret)[1:-1], "p%22ss", "u:pw", "access_token=abc"):
        assert form not in content
    assert content.count("‹redacted ") >= 15
    assert content.count('"sse":{"event":"‹redacted ') == 3
    assert max(line.count('"redacted":true') for line in content.splitlines()) == 1
    for n in (1, 2, 4, 5, 6):
        assert journal.event(n).fields["redacted"] is True


def test_equal_secrets_stay_recognisable_within_one_recording_only(tmp_path):
    marks = set()
    for name in "ab":
        journal = Journal.create(tmp_path / name, {})
        for _ in range(2):
            journal.record_http("p", Dir.SEND, headers=[("Authorization", "Bearer s3cret")])
        first, second = (dict(journal.event(n).fields["headers"])["Authorization"] for n in (1, 2))
        assert first == second
        assert first.startswith("Bearer ‹redacted ")
        marks.add(first)
    assert len(marks) == 2


json_texts = st.builds(
    json.dumps,
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=12,
    ),
    ensure_ascii=st.booleans(),
    indent=st.sampled_from([None, 1, "\t"]),
)


@given(json_texts)
def test_a_parsed_message_is_escaped_as_a_json_encoder_would(text):
    raw = text.encode("utf-8", "surrogatepass")
    assert escape_parsed(raw).decode("utf-8", "surrogatepass") == escape(text)[1:-1]


@pytest.mark.parametrize("fast", [True, False])
def test_nothing_that_needs_another_escape_is_read_as_json(fast):
    codec = Codec()
    if fast:
        codec.warm_up()
    for code in set(range(32)) - {9, 10, 13}:
        for raw in (b'{"a":%c1}', b'{"a":"x%cy"}', b'{"x%cy":"\\u0041\xc3\xa9"}', b"%c[1]", b"[1]%c"):
            with pytest.raises(NotJson):
                codec.parse(raw % code)


@pytest.mark.parametrize("space", [b"\t", b"\n", b"\r", b"\r\n\t ", b""])
@pytest.mark.parametrize("size", [1, 100_000])
def test_white_space_within_a_message_is_kept(journal, space, size):
    raw = b'{%b"method": "x","params": {"a": "\\u001b \\n \\\\ \\" \xc3\xa9%b"}}' % (space, b"x" * size)
    journal.record_received("post-1", [raw])
    assert journal.event(1).bytes == raw
    assert reopen(journal).event(1).bytes == raw


def test_a_long_message_that_is_not_utf8_is_kept_byte_for_byte(journal):
    raw = b'{"a":"' + b"x" * 100_000 + b'\xff"}'
    journal.record_received("stdio", [raw])
    assert journal.event(1).bytes == raw
    assert journal.event(1).fields["encoding"] == "not UTF-8"


def test_unhandled_notifications_are_recorded_and_not_passed_on(journal):
    progress = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{}}'
    answer = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    frames = journal.record_received(
        "stdio", [note(), progress, b"noise", answer, note()], heeded={"notifications/progress"}
    )
    assert [frame.n for frame in frames] == [2, 4]
    assert len(journal) == 5
    assert journal.event(5).message["method"] == "notifications/message"


def test_what_is_in_the_index_is_in_the_file_already(journal, monkeypatch):
    counts = []
    append = journal.storage.append

    def watched(data, **how):
        counts.append(len(journal))
        return append(data, **how)

    monkeypatch.setattr(journal.storage, "append", watched)
    journal.record_received("stdio", [note(), note()])
    journal.record_sent("stdio", b'{"jsonrpc":"2.0","id":1,"method":"ping"}', {"id": 1, "method": "ping"})
    journal.record_stderr("stderr", [b"one", b"two"])
    journal.record_life("stdio", "exit", status=0)
    journal.record_http("post-1", Dir.SEND, method="POST")
    assert counts == [0, 2, 3, 5, 6]
    assert [journal.event(n).n for n in range(1, 8)] == list(range(1, 8))


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RecordingError, match="is not a file"):
        Journal.open(tmp_path / "pipe")


def test_a_journal_that_is_dropped_closes_its_file() -> None:
    journal = Journal.unnamed({})
    descriptor = journal.storage.fd
    os.fstat(descriptor)
    del journal
    gc.collect()
    with pytest.raises(OSError, match=r"Bad file descriptor|Invalid handle"):
        os.fstat(descriptor)


def long_lines():
    rows = [{"id": at, "name": "row", "price": at / 7, "method": "x"} for at in range(20_000)]
    tail = {"content": [{"type": "text", "text": "a" * (1 << 20)}], "rows": rows}
    yield {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"_meta": {"progressToken": "t"}, **tail}}
    yield {"jsonrpc": "2.0", "method": "notifications/progress", "params": {**tail, "progressToken": "t"}}
    yield {"result": {**tail, "isError": True}, "id": 7, "jsonrpc": "2.0"}
    yield {"jsonrpc": "2.0", "id": "x", "error": {"code": -32000, "message": "no", "data": tail}}
    yield {"jsonrpc": "2.0", "id": 12345678901, "method": "ping", "params": {"text": "é\u2028" * (1 << 20)}}
    yield [{"jsonrpc": "2.0", "id": 12345678901, "result": tail}, 3]
    yield {"nothing": tail}


@pytest.mark.slow
def test_long_lines_are_indexed_as_short_ones(tmp_path, monkeypatch):
    """Of a long message only an outline is parsed: everything that the index knows is the same."""
    path = tmp_path / "long.mcp.jsonl"
    journal = Journal.create(path, {})
    for at, message in enumerate(long_lines()):
        data = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
        if at in (0, 4):
            journal.record_sent("stdio", data, message)
        else:
            journal.record_received("stdio", [data])
    journal.record_received("stdio", [b'{"jsonrpc":' + b" " * (1 << 21)])
    journal.close()
    with monkeypatch.context() as patch:
        patch.setattr("inspector.journal.recording.read_outline", refuse)
        expected = columns(reopen(journal))
    assert columns(reopen(journal)) == columns(journal) == expected
    assert reopen(journal).event(3).message["result"]["isError"] is True


def refuse(text):
    raise ValueError


def test_an_end_line_before_the_last_event_is_no_part_of_the_event_before_it(tmp_path):
    """As in two recordings that were joined, or lines that were put in another order."""
    path = tmp_path / "x.mcp.jsonl"
    lines = [{"n": n, "t": n, "dir": "recv", "kind": "rpc", "ch": "stdio", "raw": '{"id":1}'} for n in (1, 2)]
    lines.insert(1, {"kind": "end", "events": 1})
    path.write_bytes(header_line({}) + b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    journal = Journal.open(path)
    journal.refresh()
    assert [event.message for event in journal.events()] == [{"id": 1}] * 2
    assert [journal.event(n).message for n in (1, 2)] == [{"id": 1}] * 2
    journal.release()

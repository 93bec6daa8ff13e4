"""Where recordings go, which are kept, and what is known of them without reading them."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from inspector.client.new_recording import new_journal
from inspector.client.recordings_folder import HEAD, is_growing, list_recordings, prune, read_info
from inspector.config.settings import Settings
from inspector.config.targets import StdioTarget
from inspector.errors import RecordingError
from inspector.journal.journal import Journal
from inspector.replay.player import ActivityProfile

TARGET = StdioTarget(("npx", "-y", "@scope/server-everything@2", "--token=s3cret-value"))
SETTINGS = Settings()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "recordings"


def test_a_session_is_kept_in_the_state_folder_for_its_user_only(state: Path) -> None:
    journal = new_journal(TARGET, settings=SETTINGS)
    path = journal.path
    assert path is not None
    assert path.parent == state
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    moment, rest = path.name[:20], path.name[20:]
    assert datetime.strptime(moment, "%Y-%m-%dT%H-%M-%SZ").year >= 2024
    assert rest.startswith("-server-everything-")
    assert rest.endswith(".mcp.jsonl")
    assert "s3cret" not in path.read_text()
    journal.release()


@pytest.mark.parametrize("label", ["@../../etc/passwd", "a b\x1b\n", "…", "." * 50, "x" * 500])
def test_a_label_of_any_kind_makes_a_plain_file_name(state: Path, label: str) -> None:
    journal = new_journal(StdioTarget(("x",), name=label), settings=SETTINGS)
    assert journal.path is not None
    assert journal.path.parent == state
    assert journal.path.name.isascii()
    assert len(journal.path.name) < 90
    journal.release()


def test_a_folder_that_is_named_gets_a_file_for_each_session(tmp_path: Path, state: Path) -> None:
    never = Settings(keep_recordings=0)
    made = [new_journal(TARGET, settings=never, record=tmp_path, label="shop") for _ in range(3)]
    paths = {journal.path for journal in made}
    assert len(paths) == 3
    assert all(path is not None and path.parent == tmp_path and "-shop-" in path.name for path in paths)
    assert not state.exists()
    for journal in made:
        journal.close()
        journal.release()


def test_a_named_file_is_used_as_it_is_named_and_never_overwritten(tmp_path: Path, state: Path) -> None:
    journal = new_journal(TARGET, record=tmp_path / "mine.mcp.jsonl", settings=SETTINGS)
    assert journal.path == tmp_path / "mine.mcp.jsonl"
    assert not state.exists()
    with pytest.raises(RecordingError, match="already exists"):
        new_journal(TARGET, record=tmp_path / "mine.mcp.jsonl", settings=SETTINGS)
    with pytest.raises(RecordingError, match="cannot be written"):
        new_journal(TARGET, record=tmp_path / "no" / "mine.mcp.jsonl", settings=SETTINGS)
    journal.release()


@pytest.mark.parametrize(
    ("keep", "settings"),
    [(False, SETTINGS), (True, Settings(keep_recordings=0)), (True, Settings(keep_recordings_bytes=0))],
)
def test_what_is_not_to_be_kept_leaves_nothing(state: Path, keep: bool, settings: Settings) -> None:
    journal = new_journal(TARGET, keep=keep, settings=settings)
    journal.record_note("hello")
    assert journal.path is None
    assert not state.exists()
    journal.release()


def test_a_state_folder_that_cannot_be_made_is_a_notice_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    journal = new_journal(TARGET, settings=SETTINGS)
    assert journal.path is None
    assert "not recorded" in journal.notices[0]
    assert journal.record_note("works") == 1
    journal.release()


def keep(folder: Path, name: str, size: int = 10) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.mcp.jsonl"
    path.write_bytes(b"x" * size)
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".mcp.jsonl") for path in folder.iterdir())


def test_the_oldest_go_first_beyond_the_count(state: Path) -> None:
    for n in range(6):
        keep(state, f"2026-01-0{n}")
    prune(state, 2, 10**9)
    assert names(state) == ["2026-01-04", "2026-01-05"]


def test_the_oldest_go_first_beyond_the_size_and_the_newest_stays(state: Path) -> None:
    for n in range(4):
        keep(state, f"2026-01-0{n}", 100)
    prune(state, 100, 250)
    assert names(state) == ["2026-01-02", "2026-01-03"]
    prune(state, 100, 1)
    assert names(state) == ["2026-01-03"]


def test_other_files_links_and_folders_are_not_touched(state: Path, tmp_path: Path) -> None:
    for n in range(3):
        keep(state, f"2026-01-0{n}")
    (state / "notes.txt").write_text("mine")
    (state / "folder.mcp.jsonl").mkdir()
    (state / "0-link.mcp.jsonl").symlink_to(keep(tmp_path, "outside"))
    prune(state, 1, 10**9)
    assert names(state) == ["0-link", "2026-01-02", "folder", "notes.txt"]
    assert (tmp_path / "outside.mcp.jsonl").exists()


def test_what_a_living_process_writes_is_never_deleted(state: Path) -> None:
    oldest = keep(state, "2026-01-00")
    for n in range(1, 4):
        keep(state, f"2026-01-0{n}")
    with open(oldest, "rb") as writer:
        fcntl.flock(writer.fileno(), fcntl.LOCK_EX)
        prune(state, 1, 10**9)
        assert names(state) == ["2026-01-00", "2026-01-03"]
    prune(state, 1, 10**9)
    assert names(state) == ["2026-01-03"]


def test_a_new_session_makes_room_for_itself(state: Path) -> None:
    for n in range(5):
        keep(state, f"2020-01-0{n}")
    journal = new_journal(TARGET, settings=Settings(keep_recordings=2))
    assert len(names(state)) == 2
    journal.release()


def finished(path: Path, *, end: bool = True) -> Journal:
    journal = Journal.create(path, TARGET.as_header())
    journal.record_sent("stdio", b'{"jsonrpc":"2.0","id":0,"method":"x"}', {"id": 0, "method": "x", "jsonrpc": "2.0"})
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"m"}}'])
    journal.record_life("", "ready", revision="2025-11-25", era="legacy", transport="stdio")
    if end:
        journal.close("closed")
    return journal


def test_a_finished_recording_says_what_it_is(tmp_path: Path) -> None:
    finished(tmp_path / "a.mcp.jsonl").release()
    (info,) = list_recordings(tmp_path)
    assert (info.label, info.revision, info.events, info.failures) == ("server-everything", "2025-11-25", 3, 1)
    assert info.target.startswith("npx -y @scope/server-everything@2")
    assert info.ended
    assert not info.growing
    assert info.started is not None
    assert abs(info.started.timestamp() - time.time()) < 60
    assert info.duration is not None
    assert info.size == (tmp_path / "a.mcp.jsonl").stat().st_size


@pytest.mark.parametrize("purpose", ["check", ""])
def test_a_recording_says_what_it_was_made_for(tmp_path: Path, purpose: str) -> None:
    new_journal(TARGET, settings=SETTINGS, record=tmp_path, purpose=purpose).release()
    assert [info.purpose for info in list_recordings(tmp_path)] == [purpose]


OFFER = '{"protocolVersion":"2025-11-25","capabilities":{}}'
META = '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}'


@pytest.mark.parametrize(
    ("method", "params", "answer", "revision"),
    [
        ("initialize", OFFER, '"result":{"protocolVersion":"2025-06-18","capabilities":{}}', "2025-06-18"),
        ("server/discover", META, '"result":{"resultType":"complete","capabilities":{}}', "2026-07-28"),
        ("tools/list", META, '"result":{"resultType":"complete","tools":[]}', "2026-07-28"),
        ("server/discover", META, '"error":{"code":-32601,"message":"Method not found"}', ""),
        ("initialize", OFFER, "", ""),
    ],
)
@pytest.mark.parametrize("purpose", ["tap", "rerun", ""])
def test_the_session_of_another_client_was_connected_if_its_server_said_so(
    tmp_path: Path, purpose: str, method: str, params: str, answer: str, revision: str
) -> None:
    journal = new_journal(TARGET, settings=SETTINGS, record=tmp_path / "a.mcp.jsonl", purpose=purpose)
    request = f'{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}'
    journal.record_sent("stdio", request.encode(), json.loads(request))
    if answer:
        journal.record_received("stdio", [f'{{"jsonrpc":"2.0","id":1,{answer}}}'.encode()])
    journal.close("closed")
    assert read_info(tmp_path / "a.mcp.jsonl").revision == (revision if purpose else "")


def test_a_tap_of_a_client_that_tried_the_modern_era_first_has_the_revision_of_the_handshake(tmp_path: Path) -> None:
    journal = new_journal(TARGET, settings=SETTINGS, record=tmp_path / "a.mcp.jsonl", purpose="tap")
    for id, (method, params, answer) in enumerate(
        [
            ("server/discover", META, '"error":{"code":-32601,"message":"Method not found"}'),
            ("initialize", OFFER, '"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"shop"}}'),
            ("tools/call", "{}", '"result":{"content":[{"type":"text","text":"protocolVersion"}]}'),
        ]
    ):
        request = f'{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}'
        journal.record_sent("stdio", request.encode(), json.loads(request))
        journal.record_received("stdio", [f'{{"jsonrpc":"2.0","id":{id},{answer}}}'.encode()])
    journal.close("closed")
    info = read_info(tmp_path / "a.mcp.jsonl")
    assert (info.revision, info.server) == ("2025-06-18", "shop")


@pytest.mark.parametrize(("method", "failures"), [("server/discover", 0), ("initialize", 1), ("ping", 1)])
def test_that_a_server_is_of_the_older_era_is_not_a_failure(tmp_path: Path, method: str, failures: int) -> None:
    journal = Journal.create(tmp_path / "a.mcp.jsonl", TARGET.as_header())
    request = {"id": "d1", "method": method, "jsonrpc": "2.0"}
    journal.record_sent("stdio", json.dumps(request).encode(), request)
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":"d1","error":{"code":-32601,"message":"Not found"}}'])
    journal.record_life("", "ready", revision="2025-11-25", era="legacy", transport="stdio")
    journal.close("closed")
    journal.release()
    (info,) = list_recordings(tmp_path)
    assert (info.failures, info.revision) == (failures, "2025-11-25")


def test_the_list_counts_the_errors_that_the_replay_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.mcp.jsonl"
    journal = Journal.create(path, TARGET.as_header())
    answers = [
        '"error":{"code":-32601,"message":"m"}', '"error":{"code":1,"message":"m"}', '"result":{"isError":true}', "",
    ]  # fmt: skip
    for id, (method, answer) in enumerate(zip(["server/discover", *["tools/call"] * 3], answers, strict=True)):
        request = {"jsonrpc": "2.0", "id": id, "method": method}
        sent = journal.record_sent("stdio", json.dumps(request).encode(), request)
        if answer:
            journal.record_received("stdio", [f'{{"jsonrpc":"2.0","id":{id},{answer}}}'.encode()])
    journal.record_life("", "timeout", **{"for": sent})
    journal.record_received("stdio", [b"not JSON", b'{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"late"}}'])
    profile = ActivityProfile(journal, 0)
    profile.advance()
    journal.close("closed")
    journal.release()
    assert read_info(path).failures == profile.errors == 4
    lines = path.read_text().splitlines()
    lines[-1] = lines[-1].replace(',"failures":4', "")
    path.write_text("\n".join([*lines, ""]))
    assert read_info(path).failures == 3, "an earlier version counted responses alone"


def test_one_without_an_end_is_reported_from_one_that_grows(tmp_path: Path) -> None:
    path = tmp_path / "a.mcp.jsonl"
    finished(path, end=False).release()
    info = read_info(path)
    assert (info.ended, info.growing, info.events, info.failures) == (False, False, 3, None)
    journal = new_journal(TARGET, record=tmp_path / "b.mcp.jsonl", settings=SETTINGS)
    assert is_growing(tmp_path / "b.mcp.jsonl")
    info = read_info(tmp_path / "b.mcp.jsonl")
    assert (info.ended, info.growing, info.events, info.duration, info.revision) == (False, True, 0, 0, "")
    journal.close()
    assert not read_info(tmp_path / "b.mcp.jsonl").growing
    journal.release()


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.mcp.jsonl"
    finished(path, end=False).release()
    with open(path, "ab") as file:
        file.write(b'{"n":4,"t":99999999,"dir":"recv","ki')
    assert read_info(path).events == 3


def test_only_the_ends_of_a_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.mcp.jsonl"
    journal = finished(path, end=False)
    journal.record_received("stdio", [b'"' + b"x" * (3 * HEAD) + b'"'])
    journal.release()
    info = read_info(path)
    assert (info.events, info.revision, info.label) == (None, "2025-11-25", "server-everything")
    journal = Journal.open(path)
    journal.release()


HEADER = {"format": "mcp-recording", "version": 1}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is not a recording"),
        (b"\0\xff" * 100, "is not a recording"),
        (b"{}\n", "is not a recording"),
        (b"[1]\n", "is not a recording"),
        (json.dumps(HEADER).encode(), "is not a recording"),
        (json.dumps(HEADER).encode() + b"\n", ""),
        (json.dumps({**HEADER, "started": 5, "target": [1]}).encode() + b'\n[]\n{"n":"x","t":{}}\n', ""),
        (json.dumps({**HEADER, "started": "2026-01-01T00:00:00"}).encode() + b'\n{"kind":"end","t":-1}\n', ""),
        (json.dumps({**HEADER, "target": {"label": 1, "argv": [1, "x"]}}).encode() + b"\n" + b"[" * 50000 + b"\n", ""),
    ],
)
def test_files_of_any_content_are_listed_without_failing(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "a.mcp.jsonl"
    path.write_bytes(content)
    (info,) = list_recordings(tmp_path)
    assert info.problem == problem
    assert info.started is None or info.started == datetime(2026, 1, 1, tzinfo=UTC)


def test_what_cannot_be_opened_is_reported_to_be_so(tmp_path: Path) -> None:
    assert read_info(tmp_path / "none.mcp.jsonl").problem == "cannot be read"
    os.mkfifo(tmp_path / "pipe.mcp.jsonl")
    assert read_info(tmp_path / "pipe.mcp.jsonl").problem == "cannot be read"


def test_the_newest_stands_first_and_no_folder_is_an_empty_list(state: Path) -> None:
    assert list_recordings() == []
    for name in ("2026-02-01", "2026-03-01", "2025-01-01"):
        keep(state, name)
    assert [info.path.name[:10] for info in list_recordings()] == ["2026-03-01", "2026-02-01", "2025-01-01"]

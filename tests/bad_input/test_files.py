"""Files that cannot be written or read: full disks, folders that are files, broken recordings, broken config files."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli.open_recording import whole_journal
from tests.bad_input.conftest import PATIENCE, Run, Serve
from tests.processes import INSPECTOR, environment

VERBS = [["export", "--to", "json"], ["export", "--to", "md"], ["replay"], ["info"], ["tools"]]


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_a_full_disk_does_not_stop_a_call_and_is_reported_in_any_case(run: Run, serve: Serve, quiet: list[str]) -> None:
    ran = run("call", "echo", *quiet, "--record", "/dev/full", *serve("good"))
    assert (ran.code, ran.out) == (0, "hello\n")
    assert ran.err == "warning: The recording is incomplete: not on disk: No space left on device (/dev/full)\n"


def limited(home: Path, kilobytes: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs `inspector WORDS` with a limit on the file size: the last write is cut, and later ones fail."""
    shell = ["sh", "-c", f'ulimit -f {kilobytes * 2}; exec "$@"', "sh", *INSPECTOR, *words]
    return subprocess.run(shell, capture_output=True, text=True, env=environment(home), timeout=PATIENCE)


@pytest.mark.slow
def test_a_disk_that_fills_up_leaves_a_recording_that_can_be_read(home: Path, serve: Serve, recording: Path) -> None:
    server = serve("flood-stderr", "stdio", "--count", "2000")
    ran = limited(home, 40, "call", "echo", "--record", str(recording), *server)
    assert (ran.returncode, ran.stdout) == (0, "hello\n")
    assert ran.stderr.startswith("warning: The recording is incomplete: not on disk: File too large")
    assert 0 < recording.stat().st_size <= 80 * 1024
    with whole_journal(recording) as journal:
        assert journal.end_is_missing
        lines = [event.text for event in journal.events() if "flood line" in event.text]
        assert lines[:100] == [f"hostile: flood line {number}" for number in range(1, 101)]


@pytest.mark.slow
def test_a_tool_result_that_cannot_be_saved(run: Run, serve: Serve) -> None:
    ran = run("call", "echo", "-o", "/no/such/folder/file", *serve("good"))
    assert ran.code == 2
    assert "/no/such/folder/file cannot be written" in ran.err
    assert "\nhint: " in ran.err


def test_a_recording_that_cannot_be_written_where_it_was_requested(run: Run, serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    ran = run("call", "echo", "--record", str(file / "below"), *serve("good"))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: The recording {file / 'below'} cannot be written: Not a directory.\nhint: ")


@pytest.mark.slow
def test_a_state_folder_that_cannot_be_written_is_reported_and_does_not_stop_a_call(
    run: Run, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_its_place = tmp_path / "state"
    in_its_place.write_text("not a folder")
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(in_its_place))
    ran = run("call", "echo", *serve("good"))
    assert (ran.code, ran.out) == (0, "hello\n")
    assert ran.err.startswith(f"note: This session is not recorded: The folder {in_its_place}")
    assert in_its_place.read_text() == "not a folder"
    assert run("recordings").code == 0


@pytest.fixture
def kept(run: Run, serve: Serve, recording: Path) -> Path:
    """A recording of a call."""
    assert run("call", "echo", "--record", str(recording), *serve("good")).code == 0
    return recording


def rewritten(path: Path, change: Callable[[bytes], bytes]) -> str:
    """The recording, changed."""
    path.write_bytes(change(path.read_bytes()))
    return str(path)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: "-".join(verb))
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty, so it is not a recording."),
        (b"\x00\xff\xfe\x80binary" * 1000, "is not a recording: “mcp-recording” is missing in its first line."),
        (b'{"some":"json"}\n', "is not a recording: “mcp-recording” is missing in its first line."),
        (b"\x1b[31m\x1b]0;x\x07\n", "is not a recording: “mcp-recording” is missing in its first line."),
        (b"[" * 100_000, "is not a recording: “mcp-recording” is missing in its first line."),
    ],
    ids=["empty", "binary", "json", "escapes", "deep"],
)
def test_a_file_that_is_no_recording(run: Run, recording: Path, verb: list[str], content: bytes, told: str) -> None:
    recording.write_bytes(content)
    ran = run(verb[0], str(recording), *verb[1:])
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {recording} {told}\nhint: ")


@pytest.mark.parametrize("verb", VERBS[:3], ids=lambda verb: "-".join(verb))
def test_a_recording_that_is_not_there(run: Run, verb: list[str]) -> None:
    ran = run(verb[0], "nowhere.mcp.jsonl", *verb[1:])
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: The recording ")
    assert "nowhere.mcp.jsonl cannot be read: No such file or directory.\nhint: " in ran.err


@pytest.mark.slow
def test_a_torn_recording_is_exported_as_far_as_it_goes_and_its_missing_end_is_reported(run: Run, kept: Path) -> None:
    torn = rewritten(kept, lambda data: data[:-100])
    ran = run("export", torn, "--to", "json")
    assert ran.code == 0
    assert ran.json["events"][-1]["method"] == "tools/call"
    assert ran.err == "note: The end of the recording is missing: its writer was killed, or is still writing.\n"
    assert "The end of the recording is missing" in run("info", torn).err
    with whole_journal(kept) as journal:
        assert journal.torn
        assert journal.end_is_missing


@pytest.mark.slow
def test_a_recording_of_a_newer_version_is_shown_line_by_line_with_a_notice(run: Run, kept: Path) -> None:
    newer = rewritten(kept, lambda data: data.replace(b'"version":1', b'"version":7', 1))
    for words in (["export", newer, "--to", "md"], ["info", newer], ["tools", newer]):
        ran = run(*words)
        assert ran.code == 0
        assert "note: This recording has format version 7; this Inspector supports version 1." in ran.err
    ran = run("export", newer, "--to", "json")
    assert {event["kind"] for event in ran.json["events"]} == {"other"}


@pytest.mark.slow
def test_a_line_of_rubbish_in_a_recording_hides_no_other(run: Run, kept: Path) -> None:
    before = len(run("export", str(kept), "--to", "json").json["events"])
    rubbish = b'\x00\xff\n{"n":1e999,"kind":[],"dir":{},"raw":7}\n[]\n"x"\n\n' + b"[" * 50_000 + b"\n"
    mixed = rewritten(kept, lambda data: data.replace(b"\n", b"\n" + rubbish, 1))
    ran = run("export", mixed, "--to", "json")
    assert ran.code == 0
    assert len(ran.json["events"]) == before + 5
    assert run("export", mixed, "--to", "md").code == 0


@pytest.mark.slow
def test_a_broken_config_file_is_named_and_the_others_are_shown(run: Run, home: Path) -> None:
    (home / ".mcp.json").write_text('{"mcpServers": {"lost": ')
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": {"found": {"command": "true"}}}))
    (home / ".vscode").mkdir()
    (home / ".vscode" / "mcp.json").write_bytes(b"\xff\xfe\x00binary")
    ran = run("servers")
    assert ran.code == 0
    assert "@found" in ran.out
    assert ".mcp.json" in ran.err
    assert ".vscode/mcp.json" in ran.err
    ran = run("servers", "--json")
    assert [server["name"] for server in ran.json["servers"]] == ["found"]
    assert sorted(Path(problem["path"]).parts[-1] for problem in ran.json["problems"]) == [".mcp.json", "mcp.json"]
    ran = run("tools", "@lost")
    assert ran.code == 2
    assert run("call", "x", "@found").code == 4  # it is found and started, and ends at once


def test_broken_settings_are_reported_before_anything_is_started(run: Run, serve: Serve, home: Path) -> None:
    (home / "settings.json").write_text('{"timeout": ')
    ran = run("tools", *serve("good"))
    assert (ran.code, ran.out) == (2, "")
    assert "settings.json" in ran.err


def test_an_argument_file_that_cannot_be_read(run: Run, serve: Serve, tmp_path: Path) -> None:
    broken = tmp_path / "args.json"
    broken.write_bytes(b'{"a": \xff')
    for words in (["--args", f"@{broken}"], ["--args", "@nowhere.json"], ["--args", "[" * 100_000]):
        ran = run("call", "echo", *words, *serve("good"))
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("error: ")
        assert len(ran.err) < 1000

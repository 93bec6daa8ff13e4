"""`export`, `replay`, `recordings`, `servers`: what is on the disk."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from inspector.config.server_memory import ServerMemory
from inspector.config.servers import find_servers
from inspector.journal.journal import Journal
from tests.cli.conftest import Run, Script
from tests.test_addresses import BECOMES, DISGUISED, LOOKALIKE, MIXES, REQUESTED

SESSION = Path(__file__).parents[1] / "formats" / "golden" / "session.mcp.jsonl"


def test_export_goes_to_stdout_or_to_a_file(run: Run, tmp_path: Path) -> None:
    printed = run("export", str(SESSION), "--to", "md")
    assert printed.code == 0
    assert re.search("events of the kind .hologram.", printed.err)
    assert printed.out.startswith("# MCP session: `everything`\n")
    written = run("export", str(SESSION), "--to", "md", "-o", str(tmp_path / "out.md"))
    assert (written.code, written.out) == (0, "")
    assert (tmp_path / "out.md").read_text(encoding="utf-8") == printed.out
    assert (tmp_path / "out.md").stat().st_mode & 0o777 == 0o600
    assert "out.md" in written.err
    as_json = run("export", str(SESSION), "--to", "md", "--json")
    assert (as_json.err, as_json.json["format"], as_json.json["content"]) == (printed.err, "md", printed.out)
    assert "log" in run("export", str(SESSION), "--to", "har", "--json").json


@pytest.mark.slow
@pytest.mark.parametrize("format", ["md", "json"])
def test_what_the_judge_says_stands_in_the_export_and_not_in_the_recording(
    run: Run, script: Script, tmp_path: Path, format: str
) -> None:
    kept = tmp_path / "kept.mcp.jsonl"
    tool = {"name": "a tool", "inputSchema": {"type": "object"}}
    run("tools", "--record", str(kept), *script(tools__list={"result": {"tools": [tool]}}))
    before = kept.read_bytes()
    ran = run("export", str(kept), "--to", format)
    assert (ran.code, ran.err) == (0, "")
    if format == "json":
        assert [finding["rule"] for finding in ran.json["findings"]] == ["TOOL-04"]
    else:
        assert "## Findings (1)" in ran.out
        assert "`TOOL-04`" in ran.out
    assert kept.read_bytes() == before


@pytest.mark.parametrize(
    ("events", "numbers"), [("3", [3]), ("1-3,2-4", [1, 2, 3, 4]), ("19-", [19, 20]), (" 20 , 5-6 ,5", [5, 6, 20])]
)
def test_events_are_chosen_by_number(run: Run, events: str, numbers: list[int]) -> None:
    ran = run("export", str(SESSION), "--to", "json", "--events", events)
    assert [event["n"] for event in ran.json["events"]] == numbers


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([str(SESSION)], "needs --to"),
        ([str(SESSION), "--to", "md", "--events", "21-"], "20 events"),
        ([str(SESSION), "--to", "md", "--events", "0"], "is not a range"),
        ([str(SESSION), "--to", "md", "-o", "/no/such/folder/x"], "cannot be written"),
        ([str(SESSION), "--to", "md", "-o", str(SESSION)], "is the input recording"),
        (["/dev/null", "--to", "md"], "is not a file"),
        ([__file__, "--to", "md"], "is not a recording"),
    ],
)
def test_what_cannot_be_exported_is_reported(run: Run, words: list[str], message: str) -> None:
    before = SESSION.read_bytes()
    ran = run("export", *words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert SESSION.read_bytes() == before


def test_a_place_that_cannot_be_written_comes_with_a_hint(run: Run) -> None:
    ran = run("export", str(SESSION), "--to", "md", "-o", "/no/such/folder/x", "--json")
    assert ran.code == 2
    assert ran.error["hint"] == "Choose another name."


def test_a_missing_end_is_reported_and_no_error(run: Run, tmp_path: Path) -> None:
    torn = tmp_path / "torn.mcp.jsonl"
    torn.write_bytes(SESSION.read_bytes()[:-200])
    ran = run("export", str(torn), "--to", "json")
    assert ran.code == 0
    assert "end of the recording is missing" in ran.err
    assert ran.json["end"] is None


def test_replay_needs_a_terminal_and_a_recording(run: Run) -> None:
    ran = run("replay", str(SESSION))
    assert ran.code == 2
    assert "needs a terminal" in ran.err
    assert "inspector export" in ran.err
    assert "is not a recording" in run("replay", __file__).err


@pytest.mark.slow
def test_every_session_is_listed_with_what_came_of_it(run: Run, script: Script) -> None:
    assert run("recordings").err.startswith("No recordings in ")
    run("tools", *script(tools__list={"result": {"tools": []}}))
    run("tools", "--no-record", *script(tools__list={"result": {"tools": []}}))
    run("tools", *script(initialize={"exit": 1}))
    ran = run("recordings")
    assert ran.code == 0
    assert ran.err.startswith("2 recordings, ")
    assert ran.out.count("scripted_server.py") == 4
    assert ran.out.count("never connected") == 1
    recordings = run("recordings", "--json").json["recordings"]
    assert {entry["revision"] for entry in recordings} == {"2025-11-25", ""}
    assert all(entry["ended"] and not entry["growing"] and entry["events"] > 2 for entry in recordings)
    assert {Path(entry["path"]).parent.name for entry in recordings} == {"recordings"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sessions"),
    [
        (("tools",), 1),
        (("check", "--only", "lifecycle", "--revision", "2025-11-25"), 1),
        (("doctor",), 1),
        (("diff", "{}"), 2),
        (("pin",), 1),
        (("run", "flow.yaml"), 1),
    ],
)
def test_each_session_of_a_command_is_kept_in_a_folder(
    run: Run, script: Script, home: Path, words: tuple[str, ...], sessions: int
) -> None:
    (home / "flow.yaml").write_text("inspector: 1\nsteps: [{request: ping}]\n")
    server = script(tools__list={"result": {"tools": []}})
    for times in (1, 2):
        run(*(word.format(shlex.join(server[1:])) for word in words), "--keep", "kept", "--force", *server)
        kept = list((home / "kept").glob("*.mcp.jsonl"))
        assert len(kept) == times * sessions
        for path in kept:
            Journal.open(path).release()
    assert (home / "kept").stat().st_mode & 0o777 == 0o700
    assert not run("recordings").out


@pytest.mark.slow
def test_on_a_narrow_terminal_the_name_of_a_recording_is_whole(
    run: Run, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("tools", *script(tools__list={"result": {"tools": []}})).code == 0
    name = Path(run("recordings", "--json").json["recordings"][0]["path"]).name.removesuffix(".mcp.jsonl")
    monkeypatch.setenv("COLUMNS", "80")
    (line,) = run("recordings").out.splitlines()
    assert line.startswith(f"{name}  ")
    assert " events " in line
    assert len(line) <= 80
    monkeypatch.setenv("COLUMNS", "20")
    assert run("recordings").out == f"{name}\n", "it is there to be copied"


@pytest.mark.slow
def test_every_verb_takes_the_name_that_recordings_prints(run: Run, script: Script, tmp_path: Path) -> None:
    assert run("tools", *script(tools__list={"result": {"tools": []}})).code == 0
    name = Path(run("recordings", "--json").json["recordings"][0]["path"]).name
    assert name in run("recordings").out
    for word in (name, name.removesuffix(".mcp.jsonl")):
        for words in (
            ("export", "--to", "md", word),
            ("info", word),
            ("tools", word),
            ("check", word),
            ("diff", word, word),
            ("doctor", word),
            ("redact", "--check", word),
        ):
            ran = run(*words)
            assert ran.code in (0, 5), (words, ran.err)
            assert "no recording" not in ran.err
        # Tests have no terminal: the recording was found.
        assert "needs a terminal" in run("replay", word).err


@pytest.mark.slow
def test_a_file_in_the_folder_precedes_a_kept_recording(run: Run, script: Script, home: Path) -> None:
    run("tools", *script(tools__list={"result": {"tools": []}}))
    name = Path(run("recordings", "--json").json["recordings"][0]["path"]).name
    (home / name).write_text("{}\n")
    assert run("export", "--to", "md", name).code == 2


def test_what_is_not_a_recording_is_listed_as_that(run: Run, home: Path) -> None:
    folder = home / "recordings"
    folder.mkdir()
    (folder / "a\x1b.mcp.jsonl").write_bytes(b"\0")
    ran = run("recordings")
    assert "a␛.mcp.jsonl  is not a recording" in ran.out


@pytest.mark.slow
def test_a_state_folder_that_cannot_be_written_is_a_note(run: Run, script: Script, home: Path) -> None:
    (home / "recordings").write_text("in the way")
    ran = run("tools", "--json", *script(tools__list={"result": {"tools": []}}))
    assert (ran.code, ran.json) == (0, {"tools": []})
    assert ran.err.startswith("note: This session is not recorded: ")


def test_servers_of_every_file_are_listed_and_none_is_started(run: Run, home: Path) -> None:
    """C-STDIO-10."""
    assert "No config file names a server" in run("servers").err
    shop = {"command": "touch", "args": [str(home / "started"), "--token", "s3cret-token"]}
    (home / "inspector.json").write_text(
        json.dumps({"mcpServers": {"shop": shop, "we\x1bb": {"url": "https://h/mcp"}}})
    )
    (home / ".mcp.json").write_text("{broken")
    ran = run("servers")
    assert ran.code == 0
    assert "@shop" in ran.out
    assert "@we␛b" in ran.out
    assert "https://h/mcp" in ran.out
    assert "s3cret" not in ran.out
    assert ".mcp.json" in ran.err
    document = run("servers", "--json").json
    assert [(entry["name"], entry["kind"]) for entry in document["servers"]] == [("shop", "stdio"), ("we\x1bb", "http")]
    assert len(document["problems"]) == 1
    assert not (home / "started").exists()
    other = home / "other.json"
    other.write_text(json.dumps({"mcpServers": {"only": {"command": "x"}}}))
    assert [entry["name"] for entry in run("servers", "--json", "--config", str(other)).json["servers"]] == ["only"]


def test_hosts_are_listed_as_they_are_requested(run: Run, home: Path) -> None:
    entries = {
        "good": {"url": LOOKALIKE},
        "bad": {"url": DISGUISED},
        "bridge": {"command": "npx", "args": ["x", LOOKALIKE]},
    }
    (home / "inspector.json").write_text(json.dumps({"servers": entries}))
    ran, document = run("servers"), run("servers", "--json").json
    assert f"{REQUESTED} {MIXES}" in ran.out
    assert f"(its host is xn--pi-6kc.github.com) {MIXES}" in ran.out
    assert document["servers"][0]["summary"] == f"{REQUESTED} {MIXES}"
    assert BECOMES in ran.err
    assert BECOMES in document["problems"][0]["message"]
    ran = run("info", DISGUISED)
    assert (ran.code, BECOMES in ran.err) == (2, True)


@pytest.mark.slow
def test_a_server_of_a_config_file_is_opened_by_its_name(run: Run, home: Path, script: Script) -> None:
    _, command, *args = script(tools__list={"result": {"tools": [{"name": "t"}]}})
    (home / "inspector.json").write_text(json.dumps({"mcpServers": {"mine": {"command": command, "args": args}}}))
    assert run("tools", "@mine").out == "t\n"
    kept = run("recordings", "--json").json["recordings"][0]
    assert kept["label"] == "@mine"
    assert "-mine-" in os.path.basename(kept["path"])


def test_a_filter_chooses_what_is_exported(run: Run) -> None:
    ran = run("export", str(SESSION), "--to", "json", "--filter", "method:tools/* dir:send")
    assert {event["method"] for event in ran.json["events"]} == {"tools/list", "tools/call"}
    both = run("export", str(SESSION), "--to", "json", "--filter", "method:tools/*", "--events", "6,8")
    assert [event["n"] for event in both.json["events"]] == [6]
    none = run("export", str(SESSION), "--to", "csv", "--filter", "method:nothing")
    assert (none.code, "No event matches" in none.err) == (2, True)
    assert "Unknown term `bogus:`" in run("export", str(SESSION), "--to", "csv", "--filter", "bogus:x").err


@pytest.mark.slow
def test_a_filter_by_findings_has_them_found(run: Run, script: Script, tmp_path: Path) -> None:
    kept = tmp_path / "kept.mcp.jsonl"
    tool = {"name": "a tool", "inputSchema": {"type": "object"}}
    run("tools", "--record", str(kept), *script(tools__list={"result": {"tools": [tool]}}))
    ran = run("export", str(kept), "--to", "jsonl", "--filter", "finding:TOOL-04")
    assert '"a tool"' in ran.out


def test_what_a_format_cannot_hold_is_reported(run: Run, script: Script, tmp_path: Path) -> None:
    torn = tmp_path / "torn.mcp.jsonl"
    torn.write_bytes(SESSION.read_bytes()[:-150])
    ran = run("export", str(torn), "--to", "recording")
    assert "note: The recording has no end" in ran.err


# Files that are written


@pytest.mark.parametrize(
    "words",
    [
        ["export", str(SESSION), "--to", "md", "-o"],
        ["redact", str(SESSION), "-o"],
        ["check", str(SESSION), "--junit"],
        ["check", str(SESSION), "--sarif"],
        ["check", str(SESSION), "--markdown"],
        ["check", str(SESSION), "--html"],
        ["check", str(SESSION), "--badge"],
    ],
)  # fmt: skip
def test_an_existing_file_is_refused_and_a_link_is_not_followed(run: Run, tmp_path: Path, words: list[str]) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("precious")
    target.chmod(0o666)
    link.symlink_to(target)
    for path in (target, link):
        ran = run(*words, str(path))
        assert (ran.code, ran.out) == (2, "")
        assert f"{path} already exists" in ran.err
        assert "--force" in ran.err
    assert run(*words, str(link), "--force").code in (0, 5)
    assert (target.read_text(), link.is_symlink()) == ("precious", False)
    assert run(*words, str(target), "--force").code in (0, 5)
    assert "precious" not in target.read_text()
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(os.listdir(tmp_path)) == ["home", "link", "target"]


@pytest.mark.parametrize("option", ["--junit", "--sarif", "--markdown", "--html", "--badge"])
def test_a_dash_is_stdout(run: Run, home: Path, option: str) -> None:
    ran = run("check", str(SESSION), option, "-")
    assert ran.code in (0, 5)
    starts = {"--sarif": "{", "--markdown": "#"}.get(option, "<")
    assert ran.out.startswith(starts)
    assert not (home / "-").exists()
    assert run("check", str(SESSION), option, "-", "--json").code == 2
    assert run("check", str(SESSION), option, "-", "--plan", "--junit", "-", "--html", "-").code == 2


def test_a_redacted_copy_can_go_to_stdout(run: Run) -> None:
    ran = run("redact", str(SESSION), "-o", "-")
    assert ran.code == 0
    assert json.loads(ran.out.partition("\n")[0])["format"] == "mcp-recording"


@pytest.mark.parametrize(
    ("name", "begins"), [("a.html", "<!doctype"), ("A.MD", "# MCP"), ("a.mcp.jsonl", '{"format'), ("a.har", "{")]
)
def test_the_suffix_tells_the_format(run: Run, tmp_path: Path, name: str, begins: str) -> None:
    assert run("export", str(SESSION), "-o", str(tmp_path / name)).code == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


def test_the_markdown_format_has_its_usual_name_too(run: Run) -> None:
    named, short = run("export", "--to", "markdown", str(SESSION)), run("export", "--to", "md", str(SESSION))
    assert (named.code, named.out) == (0, short.out)
    assert "md or markdown (a transcript" in " ".join(run("export", "--help").out.split())


@pytest.mark.parametrize(
    ("name", "message"), [("a.py", "several formats: python, python-sdk, pytest"), ("a.txt", "Unknown format")]
)
def test_a_suffix_of_no_format_or_of_several_is_an_error(run: Run, tmp_path: Path, name: str, message: str) -> None:
    ran = run("export", str(SESSION), "-o", str(tmp_path / name))
    assert (ran.code, list(tmp_path.iterdir())) == (2, [tmp_path / "home"])
    assert message in ran.err


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--record", "-o"])
def test_a_device_is_written_as_it_is_and_a_link_to_it_is_a_file(
    run: Run, script: Script, tmp_path: Path, option: str
) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/null")
    words = ("tools",) if option == "--record" else ("read", "a:b")
    server = script(
        tools__list={"result": {"tools": []}}, resources__read={"result": {"contents": [{"uri": "a:b", "text": "x"}]}}
    )
    assert run(*words, option, "/dev/null", *server).code == 0
    if option == "--record":
        assert run(*words, "--force", option, "/dev/null", *server).code == 0
    ran = run(*words, option, str(link), *server)
    assert (ran.code, link.is_symlink()) == (2, True)
    assert "already exists" in ran.err
    assert run(*words, "--force", option, str(link), *server).code == 0
    assert link.is_file()
    assert not link.is_symlink()


@pytest.mark.slow
def test_a_recording_replaces_a_file_only_with_force(run: Run, script: Script, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("")
    target.chmod(0o666)
    link.symlink_to(target)
    server = script(tools__list={"result": {"tools": []}})
    for path in (target, link):
        ran = run("tools", "--record", str(path), *server)
        assert (ran.code, target.read_text()) == (2, "")
        assert "--force" in ran.err
    assert run("tools", "--force", "--record", str(link), *server).code == 0
    assert (target.read_text(), link.is_symlink()) == ("", False)
    assert run("tools", "--force", "--record", str(target), *server).code == 0
    assert target.read_text().startswith('{"format":"mcp-recording"')
    assert target.stat().st_mode & 0o777 == 0o600
    assert run("tools", "--record", "-", *server).code == 2


@pytest.mark.slow
def test_saving_keeps_what_is_there(run: Run, script: Script, tmp_path: Path) -> None:
    server = script(tools__call={"result": {"content": [{"type": "text", "text": "new"}]}})
    path = tmp_path / "saved"
    path.write_text("old")
    assert run("call", "t", "-o", str(path), *server).code == 2
    assert path.read_text() == "old"
    assert run("call", "t", "-o", str(path), "--force", *server).code == 0
    assert path.read_text() == "new"
    assert run("call", "t", "-o", "-", *server).out == "new"


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["import", "PIPE", "-o", "x"], ["export", "PIPE", "--to", "md"], ["redact", "PIPE"], ["check", "PIPE"],
        ["serve", "PIPE"], ["diff", "PIPE", str(SESSION)], ["replay", "PIPE"], ["rerun", "PIPE", "--", "x"],
        ["call", "t", "--args", "@PIPE", "--", "x"], ["tools", "--config", "PIPE", "@x"],
        ["check", str(SESSION), "--baseline", "PIPE"], ["redact", str(SESSION), "--rules", "PIPE"],
        ["events", "--verify", "PIPE", "--secret-file", str(SESSION)],
        ["events", "--verify", str(SESSION), "--secret-file", "PIPE"],
        ["redact", "/dev/zero"], ["export", "/dev/zero", "--to", "md"], ["tools", "--config", "/dev/zero", "@x"],
    ],
)  # fmt: skip
def test_a_pipe_or_a_device_is_not_read(run: Run, tmp_path: Path, words: list[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    ran = run(*(word.replace("PIPE", str(tmp_path / "pipe")) for word in words))
    assert ran.code in (2, 4)
    assert "error: " in ran.err


# Errors as JSON


@pytest.mark.slow
def test_an_error_is_the_only_line_and_has_recording_and_notes(run: Run, script: Script, tmp_path: Path) -> None:
    log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "so far \x9b"}}
    error = {"code": -1, "message": "no\u202e"}
    path = tmp_path / "kept.mcp.jsonl"
    server = script(tools__call={"error": error, "before": [log]})
    ran = run("call", "t", "--json", "--record", str(path), *server)
    assert (ran.code, ran.out) == (1, "")
    assert ran.error["recording"] == str(path)
    assert ran.error["notes"] == ["info: so far ‹9B›"]
    assert ran.error["rpc_error"]["message"] == "no\u202e"
    assert "\u202e" not in ran.err


@pytest.mark.slow
def test_a_rerun_report_has_the_time_of_each_case(run: Run, tmp_path: Path) -> None:
    import re

    slow = tmp_path / "slow.py"
    slow.write_text(
        "import json, sys, time\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if 'id' in asked:\n"
        "        time.sleep(0.02)\n"
        "        info = {'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}},\n"
        "                'serverInfo': {'name': 's', 'version': '1'}, 'tools': []}\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': info}), flush=True)\n"
    )
    server = ["--", sys.executable, str(slow)]
    kept = tmp_path / "kept.mcp.jsonl"
    assert run("tools", "--era", "legacy", "--record", str(kept), *server).code == 0
    ran = run("rerun", str(kept), "--junit", "-", *server)
    assert ran.code == 0
    times = [float(time) for time in re.findall(r'<testcase [^>]*time="([\d.]+)"', ran.out)]
    assert times
    assert min(times) >= 0.02
    assert ran.out.startswith("<?xml")


@pytest.mark.slow
def test_how_opening_went_is_remembered_by_every_command(run: Run, home: Path, script: Script) -> None:
    _, command, *args = script(tools__list={"result": {"tools": []}})
    good = {"command": command, "args": args}
    bad = {"command": "no-such-program-here"}
    (home / "inspector.json").write_text(json.dumps({"mcpServers": {"good": good, "bad": bad, "new": good}}))
    assert run("tools", "@good").code == 0
    assert run("tools", "@bad").code == 4
    lines = {line.split()[0]: line for line in run("servers").out.splitlines()}
    assert "connected a moment ago" in lines["@good"]
    assert "failed: " in lines["@bad"]
    assert "never connected" in lines["@new"]
    last = {entry["name"]: entry["last"] for entry in run("servers", "--json").json["servers"]}
    assert (last["good"]["ok"], last["bad"]["ok"], last["new"]) == (True, False, None)
    assert last["bad"]["code"] == "spawn"
    assert find_servers().entries[0].name == "good"
    assert ServerMemory(find_servers().find("@bad")).last_open() is not None, "what the start screen reads"


@pytest.mark.slow
def test_a_hint_names_a_message_of_the_recording_only_if_there_is_one(run: Run, script: Script) -> None:
    odd = script(initialize={"result": {"capabilities": {}}})
    assert "in the recording shows it." in run("tools", "--era", "legacy", *odd).err
    ran = run("tools", "--era", "legacy", "--no-record", *odd)
    assert " shows it, but it is not recorded." in ran.err
    assert "in the recording" not in ran.err

"""The exit codes, one by one, and what stands on stderr with each."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import main, verbs
from inspector.cli.verb import load
from inspector.cli.verbs import servers as a_verb
from inspector.client.session import Session
from inspector.errors import AuthorizationNeeded
from tests.cli.conftest import Run, Script
from tests.processes import ROOT

TOUR = str(ROOT / "recordings" / "demo-tour.mcp.jsonl")
TOOLS = {"result": {"tools": []}}


@pytest.mark.slow
def test_0_when_it_is_done(run: Run, script: Script) -> None:
    assert run("tools", *script(tools__list=TOOLS)).code == 0
    assert run("--version").out.startswith("inspector 0.")
    assert run("--help").code == 0


@pytest.mark.slow
def test_1_when_the_server_answers_with_an_error(run: Run, script: Script) -> None:
    error = {"code": -32000, "message": "no\x1b[2J more", "data": {"why": [1]}}
    ran = run("request", "x", *script(x={"error": error}))
    assert ran.code == 1
    assert ran.err == 'error: The server answered x with error -32000: no␛[2J more\n  data: {"why":[1]}\n'
    ran = run("request", "x", "--json", *script(x={"error": error}))
    assert (ran.code, ran.out) == (1, "")
    assert ran.error["code"] == "server"
    assert ran.error["rpc_error"] == error


@pytest.mark.slow
@pytest.mark.parametrize("error", [5, "x", [], {}, {"code": {"a": 1}, "message": [2]}, {"message": "m" * 5000}])
def test_1_for_an_error_of_any_shape(run: Run, script: Script, error: Any) -> None:
    ran = run("request", "x", *script(x={"error": error}))
    assert ran.code == 1
    assert ran.err.startswith("error: The server answered x with error")
    assert len(ran.err) < 2200


URL = "http://127.0.0.1:9/mcp"


@pytest.mark.parametrize(
    "words",
    [
        ["tools", URL], ["call", "echo", URL], ["request", "ping", URL], ["check", URL], ["doctor", URL], ["login", URL],
        ["tap", URL], ["tap", "--listen", "0", URL], ["serve", "recordings/demo-tour.mcp.jsonl", "--on-miss", "passthrough", URL],
        ["rerun", "recordings/demo-tour.mcp.jsonl", URL], [URL],
    ],
)  # fmt: skip
@pytest.mark.parametrize("header", ["Content-Length: 5", "Transfer-Encoding: chunked"])
def test_2_for_a_header_that_frames_the_request(run: Run, words: list[str], header: str) -> None:
    ran = run(*words, "--header", header)
    assert ran.code == 2, ran.err
    assert f"The header {header.partition(':')[0]} cannot be set" in ran.err
    assert "hint: Remove it." in ran.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["tools", "--nonsense"], "usage"),
        (["tools"], "usage"),
        (["tools", "@missing"], "target"),
        (["tools", "--config", "/no/such/file.json", "@x"], "config"),
        (["tools", "--cwd", "/no/such/folder", "x"], "target"),
        (["tools", "ftp://host/x"], "target"),
        (["tools", "no-such.mcp.jsonl"], "target"),
        (["tools", "--era", "legacy", "--revision", "2026-07-28", "x"], "usage"),
        (["tools", "--era", "modern", "--revision", "2025-11-25", "x"], "usage"),
        (["export", "no-such.mcp.jsonl", "--to", "md"], "recording"),
        (["call", "t", "--args", "[]", "x"], "usage"),
    ],
)
def test_2_for_wrong_usage_and_unreadable_files(run: Run, words: list[str], code: str) -> None:
    ran = run(*words)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert "Traceback" not in ran.err
    ran = run(words[0], "--json", *words[1:])
    assert (ran.code, ran.error["code"]) == (2, code)


def test_2_for_a_broken_setting(run: Run, script: Script, home: Path) -> None:
    (home / "settings.json").write_text('{"timeuot": 3}')
    ran = run("tools", *script(tools__list=TOOLS))
    assert ran.code == 2
    assert "timeout" in ran.err


@pytest.mark.slow
def test_2_where_no_selected_check_applies(run: Run, script: Script) -> None:
    ran = run("check", "--only", "HTTP-05", "--revision", "2025-11-25", "--no-record", "--fail-on", "never", *script())
    assert (ran.code, ran.out) == (2, "")
    assert "No selected check applies to this server (2025-11-25 over stdio)." in ran.err


@pytest.mark.parametrize("words", [[], ["demo"], ["@x"], ["python", "server.py"]])
def test_2_for_the_interface_without_a_terminal(run: Run, words: list[str]) -> None:
    ran = run(*words)
    assert ran.code == 2
    assert "needs a terminal" in ran.err
    assert "inspector tools" in ran.err


def test_2_for_the_interface_on_a_dumb_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    from inspector.cli.verbs.open import need_terminal
    from inspector.errors import UsageError

    with pytest.raises(UsageError, match="dumb"):
        need_terminal("Do without.")


BEFORE_A_TARGET = {
    "call": ["t"], "read": ["x:/"], "prompt": ["p"], "complete": ["prompt", "p", "a", "v"], "request": ["ping"],
    "load": ["t"], "rerun": [TOUR], "bisect": [TOUR], "serve": [TOUR, "--on-miss", "passthrough"],
}  # fmt: skip
ON_A_TARGET = [name for name in verbs.summaries() if load(name).target != "none" and name not in ("run", "web")]


@pytest.mark.parametrize("name", ON_A_TARGET)
def test_2_for_recordings_where_a_server_is_needed_and_the_help_names_them_where_not(run: Run, name: str) -> None:
    ran = run(name, *BEFORE_A_TARGET.get(name, []), TOUR)
    refused = f"needs a server, and {TOUR} is a recording" in ran.err
    assert refused == (not load(name).recordings)
    assert ran.code == 2 or not refused
    assert ("or a recording. Options go" in " ".join(run(name, "--help").out.split())) != refused


def test_2_for_a_recording_that_would_be_overwritten(run: Run, script: Script, tmp_path: Path) -> None:
    kept = tmp_path / "kept.mcp.jsonl"
    kept.write_text("mine")
    ran = run("tools", "--record", str(kept), *script(tools__list=TOOLS))
    assert ran.code == 2
    assert kept.read_text() == "mine"


def test_3_when_authorization_is_needed(run: Run, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(self: Session) -> None:
        raise AuthorizationNeeded("The server wants authorization.")

    monkeypatch.setattr(Session, "open", refuse)
    ran = run("tools", "--json", *script())
    assert (ran.code, ran.error["code"]) == (3, "authorization")


@pytest.mark.slow
def test_4_when_the_command_cannot_be_started(run: Run) -> None:
    ran = run("tools", "--", "no-such-program-at-all")
    assert ran.code == 4
    assert "was not found" in ran.err
    assert "\nhint: " in ran.err
    assert run("tools", "--json", "--", "no-such-program-at-all").error["code"] == "spawn"


def test_4_when_no_server_listens_at_the_url(run: Run) -> None:
    ran = run("tools", "--json", "--timeout", "5", "http://127.0.0.1:9/mcp")
    assert ran.code == 4
    assert ran.error["code"] == "http"


@pytest.mark.slow
def test_4_when_the_server_dies_with_its_last_words(run: Run, script: Script) -> None:
    server = script(initialize={"stderr": "cannot find \x1b[1mthe module", "exit": 3})
    ran = run("tools", *server)
    assert ran.code == 4
    lines = ran.err.splitlines()
    assert lines[0] == "error: The server ended with exit code 3."
    assert lines[1] == "  cannot find the module"
    assert lines[-1].startswith("recording: ")
    assert Path(lines[-1].removeprefix("recording: ")).exists()
    error = run("tools", "--json", *server).error
    assert (error["code"], error["status"], error["stderr"]) == ("exited", 3, ["cannot find \x1b[1mthe module"])


@pytest.mark.slow
def test_4_when_the_server_dies_while_it_works(run: Run, script: Script) -> None:
    ran = run("call", "t", *script(tools__call={"exit": 0}))
    assert ran.code == 4
    assert "ended with exit code 0" in ran.err


@pytest.mark.slow
def test_4_when_no_answer_comes_in_time(run: Run, script: Script) -> None:
    ran = run("tools", "--timeout", "0.05", "--json", *script(tools__list={"silent": True}))
    assert (ran.code, ran.error["code"]) == (4, "timeout")


@pytest.mark.slow
@pytest.mark.parametrize("hello", [None, [], {}, {"protocolVersion": 5}])
def test_4_when_the_handshake_makes_no_sense(run: Run, script: Script, hello: Any) -> None:
    ran = run("info", "--json", *script(initialize={"result": hello}))
    assert (ran.code, ran.error["code"]) == (4, "handshake")


def test_130_when_it_is_interrupted_before_anything_began(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(invocation: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(a_verb.SERVERS, "run", interrupt)
    ran = run("servers")
    assert (ran.code, ran.out, ran.err) == (130, "", "")


def test_a_failure_of_our_own_is_a_sentence_and_the_traceback_is_in_the_log(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(invocation: object) -> int:
        raise ZeroDivisionError("by \x1b nothing")

    monkeypatch.setattr(a_verb.SERVERS, "run", fail)
    ran = run("servers")
    assert ran.code == 4
    assert ran.err.startswith("error: Inspector itself failed: ZeroDivisionError.\nhint: The traceback is in ")
    assert "Traceback" not in ran.err
    log = home / "log" / "inspector.log"
    assert str(log) in ran.err
    assert "ZeroDivisionError: by" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
    assert run("servers", "--json").error["code"] == "internal"
    log.unlink()
    log.mkdir()
    assert "traceback could not be written to the log file" in run("servers").err


@pytest.mark.slow
def test_errors_are_one_line_of_json_whatever_they_hold(run: Run, script: Script) -> None:
    raw = '{"jsonrpc":"2.0","id":$ID,"error":{"code":NaN,"message":"a\\nb\\u2028","data":"\\ud800"}}'
    ran = run("request", "x", "--json", *script(x={"raw": raw}))
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert json.loads(ran.err)["error"]["rpc_error"]["code"] is None


def test_the_program_ends_with_the_code_of_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(main.os, "_exit", ended.append)
    monkeypatch.setattr(sys, "argv", ["inspector", "tools", "--nonsense"])
    main.main()
    assert ended == [2]


@pytest.mark.parametrize(
    "words",
    [["tools"], ["tap"], ["doctor"], ["tools", "@unknown"], ["tools", "htp://x"], ["read", "x", "@unknown:there"],
     ["tools", "--cwd", "gone", "python"], ["tools", "--env", "=x", "python"], ["check", "gone.mcp.jsonl"]],
)  # fmt: skip
def test_an_error_of_ours_is_a_sentence_with_its_full_stop(run: Run, words: list[str]) -> None:
    for more in ([], ["--json"]):
        if words[0] == "tap" and more:
            continue
        ran = run(words[0], *more, *words[1:])
        message = ran.error["message"] if more else ran.err.split("\n")[0]
        assert ran.code == 2
        assert message.endswith((".", ".”")), message
    if len(words) == 1:
        assert f"`inspector {words[0]}` needs a target." in ran.err

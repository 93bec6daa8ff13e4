"""Completion: what may come next, as the shells ask for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.cli.verbs import summaries
from inspector.cli.verbs.completion import candidates, join_words
from inspector.formats import WRITABLE
from tests.cli.conftest import Run
from tests.processes import has_output


@pytest.fixture(autouse=True)
def configured(home: Path) -> None:
    names = {
        "shop": {"command": "x"},
        "shop-dev": {"command": "y"},
        "evil;touch x": {"command": "z"},
        "a b": {"url": "http://h/"},
    }
    (home / "inspector.json").write_text(json.dumps({"mcpServers": names}))


def values(line: str) -> list[str]:
    *words, incomplete = line.split(" ")
    return [item.value if item.type == "plain" else f"<{item.type}>" for item in candidates(words, incomplete)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("to", ["tools", "<file>"]),
        ("@sh", ["@shop", "@shop-dev"]),
        ("tools @", ["@shop", "@shop-dev"]),
        ("tools ", ["@shop", "@shop-dev"]),
        ("tools --js", ["--json"]),
        ("tools --no", ["--no-pin", "--no-verify", "--no-browser", "--no-record"]),
        ("tools --era ", ["auto", "legacy", "modern"]),
        ("info --era ", ["auto", "legacy", "modern", "both"]),
        ("listen --res", ["--resource"]),
        ("lis", ["listen", "<file>"]),
        ("tools --era=l", ["--era=legacy"]),
        ("tools --transport s", ["stdio", "sse"]),
        ("tools --cwd ", ["<dir>"]),
        ("tools --record ", ["<file>"]),
        ("tools --timeout ", []),
        ("tools x", ["<file>"]),
        ("tools npx -y --js", ["<file>"]),
        ("tools -- ", ["<file>"]),
        ("complete ", ["prompt", "template"]),
        ("completion f", ["fish"]),
        ("call ", []),
        ("call echo @shop-", ["@shop-dev"]),
        ("export ", ["<file>"]),
        ("export a --to ", list(WRITABLE)),
        ("replay --f", ["--follow"]),
        ("tools @shop ", []),
        ("tools @shop --q", ["--quiet"]),
        ("--era ", ["auto", "legacy", "modern"]),
        ("--bogus ", []),
        ("servers ", []),
        ("hel", ["help", "<file>"]),
        ("help f", ["filters"]),
        ("help ca", ["call"]),
        ("tools --help", ["--help", "--help-all"]),
    ],
)
def test_what_may_come_next(line: str, expected: list[str]) -> None:
    assert values(line) == expected


def test_kept_recordings_are_offered_by_name_newest_first(home: Path) -> None:
    folder = home / "recordings"
    folder.mkdir()
    for name in ("2026-11-01T10-00-00Z-a.mcp.jsonl", "2026-11-02T10-00-00Z-b.mcp.jsonl", "$(rm x).mcp.jsonl"):
        (folder / name).touch()
    names = ["2026-11-02T10-00-00Z-b.mcp.jsonl", "2026-11-01T10-00-00Z-a.mcp.jsonl"]
    assert [item.value for item in candidates(["replay"], "2026-") if item.type == "plain"] == names
    assert [item.value for item in candidates(["diff", "x"], "2026-11-01") if item.type == "plain"] == names[1:]


def test_an_empty_line_offers_every_verb_and_every_server() -> None:
    assert values("") == [*summaries(), "@shop", "@shop-dev"]


def test_a_name_that_a_shell_would_not_take_as_it_is_is_never_offered() -> None:
    assert not any("evil" in value or "a b" in value for value in values("@"))


@pytest.mark.parametrize(
    ("apart", "together"),
    [
        (["tools", "@", "sh"], ["tools", "@sh"]),
        (["tools", "--era", "=", "l"], ["tools", "--era=l"]),
        (["call", "t", "a", ":=", "1", ""], ["call", "t", "a:=1", ""]),
        (["tools", "https", ":", "//h"], ["tools", "https://h"]),
        ([], []),
    ],
)
def test_words_that_bash_took_apart_are_put_together(apart: list[str], together: list[str]) -> None:
    assert join_words(apart) == together


@pytest.mark.parametrize(
    ("shell", "line", "cword", "answer"),
    [
        ("bash", "inspector\nto", "1", "file,to\nplain,tools\n"),
        ("bash", "inspector\ntools\n@\nsh", "3", "plain,@shop\nplain,@shop-dev\n"),
        ("bash", "inspector\ntools\n--era\n=\nl", "4", "plain,legacy\n"),
        ("bash", "inspector\ntools\n--era\n", "3", "plain,auto\nplain,legacy\nplain,modern\n"),
        ("zsh", "inspector tools --qui", "2", "plain\n--quiet\n"),
        ("fish", "inspector tools --qui", "--qui", "plain,--quiet"),
    ],
)
def test_shells_are_answered_in_their_own_form(
    run: Run, monkeypatch: pytest.MonkeyPatch, shell: str, line: str, cword: str, answer: str
) -> None:
    monkeypatch.setenv("_INSPECTOR_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", cword)
    ran = run()
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(answer)


@pytest.mark.parametrize("instruction", ["", "bash", "tcsh_complete", "powershell_source", "bash_complete"])
def test_a_question_that_no_script_of_ours_asks_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, instruction: str
) -> None:
    monkeypatch.delenv("COMP_WORDS", raising=False)
    monkeypatch.setenv("_INSPECTOR_COMPLETE", instruction)
    assert run().code == 2


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_asks_us(run: Run, shell: str) -> None:
    ran = run("completion", shell)
    assert ran.code == 0
    assert f"_INSPECTOR_COMPLETE={shell}_complete" in ran.out
    assert "inspector" in ran.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("chec", "check"),
        ("tools @shop-", "tools @shop-dev"),
        ("tools --era=le", "tools --era=legacy"),
        ("replay sess", "replay session.jsonl"),
    ],
)
def test_bash_completes_what_is_typed(run: Run, tmp_path: Path, home: Path, typed: str, completed: str) -> None:
    """In a real bash on a pseudo-terminal: readline, and not our reading of it, decides what is replaced."""
    import pty

    bash = shutil.which("bash")
    assert bash is not None
    program = tmp_path / "inspector"
    program.write_text(
        f'#!/bin/sh\n[ -n "$_INSPECTOR_COMPLETE" ] && exec {sys.executable} -m inspector "$@"\nprintf "[%s]\\n" "$*"\n'
    )
    program.chmod(0o755)
    (home / "session.jsonl").touch()
    (home / "script").write_text(f"PS1=; {run('completion', 'bash').out}")
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [bash, "--norc", "--rcfile", str(home / "script"), "-i"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=home,
        start_new_session=True,
        env={
            "PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(home), "INSPECTOR_CONFIG_HOME": str(home), "TERM": "xterm",
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
    )  # fmt: skip
    os.close(theirs)
    try:
        os.write(ours, b". ./script; inspector ready\n")
        assert "[ready]" in _until(ours, "[ready]")
        os.write(ours, f"inspector {typed}\t\n".encode())
        assert f"[{completed}]" in _until(ours, "]")
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def _until(terminal: int, mark: str) -> str:
    """The output of a terminal until `mark` appears."""
    output = ""
    while mark not in output:
        assert has_output(terminal, 30), output
        output += os.read(terminal, 4096).decode(errors="replace")
    return output

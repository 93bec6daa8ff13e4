"""The credentials of `inspector run`: each goes to one server, and none of a cloned folder goes unasked."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.calls.reports import DRY_RUN
from tests.cli.conftest import Run
from tests.processes import INSPECTOR, environment
from tests.recording_server import Noting, at, noting

pytestmark = pytest.mark.slow

SECRET = "s3cr3t-of-the-user"


@pytest.fixture
def good() -> Iterator[Noting]:
    with noting() as server:
        yield server


@pytest.fixture
def evil() -> Iterator[Noting]:
    with noting() as server:
        yield server


@pytest.fixture(autouse=True)
def secrets(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SHOP_TOKEN", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, SECRET)
    (home / ".vault-token").write_text(SECRET)


def flow(folder: Path, name: str, server: str, value: str = "x") -> None:
    path = folder / "calls" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"inspector: 1\nserver: {json.dumps(server)}\nsteps:\n  - call: a\n    args: {{x: '{value}'}}\n")


OPTIONS = [
    ["--bearer-env", "SHOP_TOKEN"],
    ["--header", f"X-Api-Key: {SECRET}"],
    ["--client-id", "c", "--client-secret-env", "SHOP_TOKEN", "--grant", "client-credentials"],
    ["--elicit", json.dumps({"password": SECRET})],
    ["--set", f"token={SECRET}"],
    ["--environment", "ci"],
]


@pytest.mark.parametrize("more", [[], ["--shared"], ["--jobs", "2"], ["--dry-run"]], ids=" ".join)
@pytest.mark.parametrize("words", OPTIONS, ids=lambda words: words[0])
def test_several_servers_get_no_credentials(
    run: Run, home: Path, good: Noting, evil: Noting, words: list[str], more: list[str]
) -> None:
    flow(home, "good", at(good), "{{token}}")
    flow(home, "evil", at(evil), "{{token}}")
    (home / "calls" / "env").mkdir()
    (home / "calls" / "env" / "ci.yaml").write_text("token: env:SHOP_TOKEN\n")
    words = words if words[0] in ("--set", "--environment") else [*words, "--set", "token=none"]
    ran = run("run", *words, *more)
    assert ran.code == 2, ran.err
    assert "servers would get" in ran.err
    for server in (good, evil):
        assert at(server).removesuffix("/mcp") in ran.err
        assert server.seen == ""
    assert SECRET not in ran.out + ran.err


@pytest.mark.parametrize("words", OPTIONS[:2], ids=lambda words: words[0])
def test_one_server_that_the_user_names_gets_them_and_that_is_told(
    run: Run, home: Path, good: Noting, evil: Noting, words: list[str]
) -> None:
    flow(home, "good", at(good))
    flow(home, "evil", at(evil))
    ran = run("run", *words, "--server", at(good))
    assert SECRET in good.seen
    assert evil.seen == ""
    assert ran.err.startswith(f"note: {at(good).removesuffix('/mcp')} gets {words[0]}")
    assert "gets" not in run("run").err, "without credentials there is nothing to tell"


def test_commands_that_flows_name_get_no_variables(run: Run, home: Path) -> None:
    for name in ("one", "two"):
        flow(home, name, f"sh -c 'echo $API_KEY > {home}/{name}'")
    ran = run("run", "--env", f"API_KEY={SECRET}")
    assert ran.code == 2
    assert "2 servers would get --env API_KEY: sh -c " in ran.err
    assert not (home / "one").exists()
    assert not (home / "two").exists()


@pytest.mark.parametrize("words", [["@all"], ["@good", "@evil"]], ids=" ".join)
@pytest.mark.parametrize("given", OPTIONS[:3], ids=lambda words: words[0])
def test_a_check_of_several_servers_takes_no_credentials(
    run: Run, home: Path, good: Noting, evil: Noting, words: list[str], given: list[str]
) -> None:
    entries = {"good": {"url": at(good)}, "evil": {"url": at(evil)}}
    (home / "inspector.json").write_text(json.dumps({"servers": entries}))
    ran = run("check", "--yes", *given, *words)
    assert ran.code == 2, ran.err
    assert " is for one server, but several are named" in ran.err
    assert good.seen == evil.seen == ""


@pytest.fixture
def clone(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = home / "src" / "clone"
    (folder / ".git").mkdir(parents=True)
    (folder / "calls" / "env").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("verb", ["run", "run --dry-run", "run of a named server", "load"])
@pytest.mark.parametrize("value", ["env:AWS_SECRET_ACCESS_KEY", "file:~/.vault-token"])
def test_an_environment_of_a_cloned_folder_sends_nothing_unasked(
    run: Run, clone: Path, evil: Noting, verb: str, value: str
) -> None:
    flow(clone, "evil", at(evil), "{{zone}}")
    (clone / "calls" / "env" / "ci.yaml").write_text(f"zone: {value}\n")
    words = {
        "run": ["run", "--environment", "ci"],
        "run --dry-run": ["run", "--dry-run", "--environment", "ci"],
        "run of a named server": ["run", "--environment", "ci", "--server", at(evil)],
        "load": ["load", "--flow", "calls/evil.yaml", "--environment", "ci", "--locust", "f.py", at(evil)],
    }[verb]
    ran = run(*words)
    assert ran.code == 3, ran.err
    assert f"Environment ci in {clone}/calls/env/ci.yaml was not opened." in ran.err
    assert f"sends to {at(evil).removesuffix('/mcp')} and uses " in ran.err
    assert "add --trust" in ran.err
    assert evil.seen == ""
    assert SECRET not in ran.out + ran.err
    run(*words, "--trust")
    assert (SECRET in evil.seen) is (verb in ("run", "run of a named server"))


def test_a_text_of_an_environment_is_sent_as_it_is(run: Run, clone: Path, evil: Noting) -> None:
    flow(clone, "evil", at(evil), "{{zone}}")
    (clone / "calls" / "env" / "ci.yaml").write_text('zone: {text: "env:AWS_SECRET_ACCESS_KEY"}\n')
    run("run", "--environment", "ci")
    assert '"env:AWS_SECRET_ACCESS_KEY"' in evil.seen
    assert SECRET not in evil.seen


def test_a_dry_run_starts_no_command_of_a_cloned_folder_unasked(run: Run, clone: Path) -> None:
    flow(clone, "evil", "sh -c 'touch started'")
    ran = run("run", "--dry-run")
    assert ran.code == 3
    assert "Saved call evil in " in ran.err
    assert "was not opened. It is not your own file, and the saved call runs sh -c 'touch started'." in ran.err
    assert not (clone / "started").exists()
    ran = run("run", "--dry-run", "--trust")
    assert (clone / "started").exists()
    assert "each server was started or contacted" in DRY_RUN
    assert DRY_RUN in ran.out


def test_a_user_at_a_terminal_is_asked(clone: Path, evil: Noting) -> None:
    import pty

    flow(clone, "evil", at(evil), "{{zone}}")
    (clone / "calls" / "env" / "ci.yaml").write_text("zone: env:AWS_SECRET_ACCESS_KEY\n")
    own, other = pty.openpty()
    asked = b""
    with subprocess.Popen(
        [*INSPECTOR, "run", "--environment", "ci"], stdin=other, stdout=subprocess.DEVNULL, stderr=other,
        env=environment(clone.parents[1], AWS_SECRET_ACCESS_KEY=SECRET),
    ) as process:  # fmt: skip
        os.close(other)
        while b"[N]o: " not in asked:
            asked += os.read(own, 4096)
        os.write(own, b"n\n")
        process.wait()
    os.close(own)
    assert b"This environment:" in asked
    assert b"uses environment variable AWS_SECRET_ACCESS_KEY in variable zone" in asked
    assert b"[a]lways until the environment changes" in asked
    assert process.returncode == 3
    assert evil.seen == ""

"""No secret reaches an output, a report or a recording of `inspector run`.

Secrets are values of an environment, captured values, and values of the server's own options.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import keyring
import pytest
from keyring.backend import KeyringBackend

from inspector.calls.reports import TextReport
from inspector.config import paths
from tests.cli.conftest import Run

SECRETS = {
    "of_env": "env/Secret-4f1d9c77aa", "of_file": "file secret ü 31c2b5", "of_keyring": "ring-Secret-88ee\"x",
    "of_target": "target-Key-0c4f6b2e19", "of_capture": "captured-Token-5d7e1f", "of_number": "938475610293847561", "of_object": "inside-Secret-77ab",
}  # fmt: skip

SERVER = Path(__file__).with_name("leaky_server.py")

FLOW = """
inspector: 1
name: Secrets
vars: {of_env: "", of_file: "", of_keyring: ""}
steps:
  - call: login
    capture:
      of_capture: $.structuredContent.token
      of_number: $.structuredContent.number
      of_object: $.structuredContent.object
    secret: [of_capture, of_number, of_object]
  - call: echo
    headers: {X-Env: "{{of_env}}", X-Token: "Bearer {{of_capture}}", X-Number: "{{of_number}}"}
    args: &all
      a: "{{of_env}}"
      b: "{{of_file}}"
      c: "{{of_keyring}}"
      d: "{{of_capture}}"
      e: "{{of_number}}"
      f: "{{of_object}}"
      g: "all of {{of_env}} {{of_file}} {{of_keyring}} {{of_capture}} {{of_number}} {{of_object}}"
    capture: {said: $.structuredContent.said.d}
    expect:
      result:
        $.structuredContent.said.a: "{{of_env}}"
        $.structuredContent.said.d: "{{of_capture}}"
        $.structuredContent.said.e: "{{of_number}}"
        $.content[0].text: {contains: "{{of_capture}}"}
  - call: echo
    args: *all
    expect:
      result:
        $.structuredContent.said: {a: other, b: {matches: "^{{of_env}}$"}, c: {one_of: ["{{of_capture}}"]}, e: 1, f: 1}
        $.structuredContent.said.g: {not: {contains: "{{of_file}}"}}
  - call: fail
    args: *all
  - call: echo
    args: *all
    expect: {same_as: snapshot.json}
  - read: "secret://{{of_capture}}/{{of_keyring}}"
  - request: "x/{{of_env}}"
    params: {p: "{{of_capture}}"}
    meta: {m: "{{of_capture}}"}
"""


class Ring(KeyringBackend):
    """A keyring with one entry."""

    priority = 1  # type: ignore[assignment]

    def get_password(self, service: str, username: str) -> str | None:
        return SECRETS["of_keyring"] if (service, username) == ("shop", "ann") else None

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError

    def delete_password(self, service: str, username: str) -> None:
        raise NotImplementedError


def forms(secret: str) -> set[str]:
    """The texts in which a secret may leak."""
    return {
        secret, json.dumps(secret)[1:-1], json.dumps(json.dumps(secret))[3:-3], json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe=""), base64.b64encode(secret.encode()).decode(), secret.replace("/", "\\/"),
        re.escape(secret),
    }  # fmt: skip


def leaks(text: str) -> list[str]:
    inside = ("4f1d9c77aa", "secret ü 31c2b5", "31c2b5", "Secret-88ee", "0c4f6b2e19", "Token-5d7e1f", "Secret-77ab")
    names = [name for name, secret in SECRETS.items() if any(form in text for form in forms(secret))]
    return names + [core for core in inside if core in text]


@pytest.fixture
def calls(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = home / "calls"
    (folder / "env").mkdir(parents=True)
    (folder / "flow.yaml").write_text(FLOW.lstrip(), encoding="utf-8")
    (folder / "env" / "staging.yaml").write_text(
        "of_env: env:SHOP_VALUE\nof_file: file:../../value.txt\nof_keyring: keyring:shop/ann\nunused: env:NOT_SET\n"
    )
    secret_file = home / "value.txt"
    secret_file.write_text(SECRETS["of_file"] + "\n", encoding="utf-8")
    (home / "values.json").write_text(json.dumps(SECRETS), encoding="utf-8")
    monkeypatch.setenv("SHOP_VALUE", SECRETS["of_env"])
    return folder


@pytest.fixture(autouse=True)
def ring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(Ring())
    yield
    keyring.set_keyring(before)


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest, home: Path) -> Iterator[list[str]]:
    """The words that name the leaky server."""
    command = [sys.executable, "-S", "-E", str(SERVER), str(home / "values.json")]
    if request.param == "stdio":
        yield ["--env", f"LEAKY_API_KEY={SECRETS['of_target']}", "--", *command]
        return
    process = subprocess.Popen([*command, "--http"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield ["--header", f"X-Api-Key: {SECRETS['of_target']}", "--", process.stdout.readline().strip()]
    process.kill()
    process.communicate()


def clean_files(home: Path) -> int:
    """How many files there are besides those with the secrets; none of them has one."""
    checked = 0
    for path in sorted(home.rglob("*")):
        if path.is_file() and path.name not in ("value.txt", "values.json"):
            assert leaks(path.read_text(encoding="utf-8", errors="replace")) == [], path
            assert leaks(path.name) == []
            checked += 1
    return checked


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--json",), ("-v", "--update"), ("--shared", "-v"), ("--keep", "kept")])
def test_no_secret_is_found_anywhere(
    run: Run, calls: Path, home: Path, target: list[str], more: tuple[str, ...]
) -> None:
    ran = run(
        "run", "--environment", "staging", "--junit", "r.xml", "--markdown", "r.md", "--html", "r.html", *more, *target
    )
    assert ran.code == 5, ran.err
    assert leaks(ran.out) == leaks(ran.err) == []
    assert clean_files(home) >= 6
    recording = next(home.rglob("*.mcp.jsonl"))
    text = recording.read_text(encoding="utf-8")
    assert "issued ‹redacted " in text
    assert "tools/call" in text
    if target[-1].startswith("http"):
        assert "X-Env-Back" in text, "the headers of the answers are in the recording"
    if "--json" in more:
        steps = ran.json["flows"][0]["steps"]
        assert [step["outcome"] for step in steps][:2] == ["passed", "passed"], steps[1]
        assert steps[1]["arguments"]["d"] == "***"
        assert steps[0]["captured"] == {"of_capture": "***", "of_number": "***", "of_object": {"deep": ["***"]}}
        assert "***" in steps[2]["command"]


@pytest.mark.slow
def test_no_secret_is_in_the_log_file(
    run: Run, calls: Path, home: Path, target: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError(f"{SECRETS} {json.dumps(SECRETS)} {list(map(quote, SECRETS.values()))}")

    monkeypatch.setattr(TextReport, "totals", fail)
    ran = run("run", "--environment", "staging", *target)
    assert ran.code not in (0, 5)
    assert leaks(ran.out) == leaks(ran.err) == []
    log = paths.log_file()
    assert "RuntimeError" in log.read_text()
    assert leaks(log.read_text()) == []
    assert clean_files(home) >= 4


@pytest.mark.slow
def test_a_value_that_is_not_there_is_named_with_its_place(run: Run, calls: Path, home: Path) -> None:
    for line, problem in (
        ("of_env: env:NOT_SET", "The environment variable NOT_SET is not set."),
        ("of_env: file:nothing", "nothing cannot be read: the file does not exist"),
        ("of_env: keyring:shop/bob", "The keyring has no entry shop/bob."),
        ("of_env: keyring:shop", "“shop” is not a keyring entry."),
        ("of_env: keyring:inspector-login/x", "This keyring entry holds logins of Inspector."),
    ):
        (calls / "env" / "staging.yaml").write_text(f"a: 1\n{line}\nof_file: a\nof_keyring: b\n")
        ran = run("run", "--environment", "staging", "--", sys.executable, "-c", "")
        assert ran.code == 2
        assert ran.err.startswith("error: calls/env/staging.yaml:2:9: ")
        assert problem in ran.err
    assert not list(home.rglob("*.mcp.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["direct", "symlink"])
def test_no_environment_reaches_the_file_of_kept_logins(run: Run, calls: Path, home: Path, way: str) -> None:
    logins = paths.logins_file()
    logins.write_text('{"grants": []}')
    (calls / "link").symlink_to(logins)
    path = logins if way == "direct" else calls / "link"
    (calls / "env" / "staging.yaml").write_text(f"of_env: file:{path}\nof_file: a\nof_keyring: b\n")
    ran = run("run", "--environment", "staging", "--", sys.executable, "-c", "")
    assert ran.code == 2
    assert "it stores Inspector's logins" in ran.err

"""No secret of a login is anywhere but in the file that is there for it.

Searched are state folder, recordings, log, crash report, exports, screen, and the arguments of the process tree, for
each secret as it is, quoted, and in base64 at any offset, whole or cut off. The server of these tests repeats in its
errors whatever it was told.
"""

from __future__ import annotations

import base64
import html
import json
import re
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from joserfc.jwk import ECKey, RSAKey

from inspector.cli import main
from inspector.client.state.login import authorization_steps
from inspector.formats import WRITABLE
from tests.auth.permissive_server import DEVICE, WRONG, Careless, serving
from tests.tui.live_app import on_recording, shows
from tests.tui.terminal import Terminal
from tests.tui.tui_screens import screen_text

PROGRAM = """
import json, os, sys
from inspector.auth import assertions
from inspector.auth.credential import SessionCredential
from inspector.cli.main import run
spy, state, state_home = {spy!r}, {store!r}, None
def kept(text):
    with open(spy, "a") as file:
        file.write(text + "\\n")
    return text
new_key, fields = assertions.new_key, SessionCredential.fields
assertions.new_key = lambda: kept(new_key())
async def failing(self, method, url):
    made = await fields(self, method, url)
    if made:
        raise RuntimeError(f"failure with {{made}}")
    return made
words = sys.argv[1:]
while words:
    at = words.index("+++")
    command, words = words[:at], words[at + 1 :]
    crashes = command[0] == "crash"
    SessionCredential.fields = failing if crashes else fields
    code = run(command[1:] if crashes else command)
    sys.stdout.flush()
    print(f"exit code {{code}}", file=sys.stderr, flush=True)
    if os.path.exists(state):
        kept(json.dumps(json.load(open(state))))
"""
BROWSER = """#!{python}
import os, sys, urllib.request
pid, lines = os.getpid(), []
while pid > 1 and os.path.exists(f"/proc/{{pid}}/cmdline"):
    lines.append(open(f"/proc/{{pid}}/cmdline", "rb").read())
    pid = int(open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[1])
open({arguments!r}, "ab").write(b"\\n".join(lines))
urllib.request.urlopen(sys.argv[1], timeout=20).read()
"""
SEQUENCE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[P\]_^][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]")
BETWEEN = re.compile(r"[\s│┃┆┊║▏▎▌▐█▕|]+")
"""The characters between the pieces of a text that was wrapped on the screen."""
WRONG_VALUE = f"{WRONG}/but+secret" * 9
"""So long that what the server says of it is cut off."""
SERVICE = ("--client-id", "service", "--grant", "client-credentials")
SECRET = (*SERVICE, "--client-secret-env", "SECRET")
COMPANY = (
    "--client-id",
    "me",
    "--idp-client-id",
    "me-there",
    "--idp-client-secret-env",
    "SECRET",
    "--id-token-env",
    "ID_TOKEN",
)


@dataclass(frozen=True)
class Case:
    """A kind of login: the server's offer, the options, the given secrets, and those that must have been used."""

    says: tuple[str, ...] = ()
    given: dict[str, str] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)
    key_kind: tuple[Any, ...] = ()
    """Of the key that the client has: its class and its size or curve."""
    person: bool = False
    server: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def key(self) -> Any:
        """The key that the client has; None if it has none."""
        return self.key_kind[0].generate_key(self.key_kind[1]) if self.key_kind else None


BY_A_PERSON = {"access token", "refresh token", "id token", "state", "registration token"}
CASES = {
    "code": Case(
        person=True, met={"code", "verifier", "client secret", "Basic credential"} | BY_A_PERSON,
        server={"methods": ("client_secret_basic",)},
    ),
    "code-with-dpop": Case(person=True, met={"code", "verifier", "DPoP key", "DPoP proof"} | BY_A_PERSON, server={"dpop": True}),
    "device": Case(
        person=True, met={"device code"} | BY_A_PERSON - {"state"}, server={"grants": (DEVICE,)}, says=("--grant", "device")
    ),
    "basic": Case(
        SECRET, {"SECRET": "a-secret/with+more"}, {"access token", "client secret", "Basic credential"},
        server={"methods": ("client_secret_basic",)},
    ),
    "post": Case(SECRET, {"SECRET": "a-secret/with+more"}, {"access token", "client secret"}, server={"methods": ("client_secret_post",)}),
    "private_key_jwt-ES256": Case((*SERVICE, "--client-key", "KEY"), {}, {"access token", "client assertion"}, key_kind=(ECKey, "P-256")),
    "private_key_jwt-RS256-with-dpop": Case(
        (*SERVICE, "--client-key", "KEY"), {}, {"access token", "client assertion", "DPoP key", "DPoP proof"}, key_kind=(RSAKey, 2048), server={"dpop": True}
    ),
    "enterprise-managed": Case(
        (*COMPANY, "--idp", "ORIGIN/idp"), {"SECRET": "secret of the idp's client", "ID_TOKEN": "eyJub25l.aWQtdG9rZW4.signed-by-none"},
        {"access token", "subject token", "identity assertion", "assertion", "client secret"},
        server={"methods": ("client_secret_post",)},
    ),
    "workload": Case(("--assertion-env", "JWT"), {"JWT": "eyJub25l.d29ya2xvYWQ.signed-by-none"}, {"access token", "assertion"}),
}  # fmt: skip


THOROUGH = ("code", "enterprise-managed")
"""Of these there is an export in every format; all formats write what the recording has."""


class Run:
    """Our commands on a terminal, in one process: their output and files, and the secrets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        (self.state / "tmp").mkdir(parents=True)
        self.store = self.state / "logins.json"
        """The one place where secrets may be."""
        self.secrets: dict[str, set[str]] = {}
        self._spy, self._arguments, self._browser = (folder / name for name in ("spy", "arguments", "browser"))
        self._browser.write_text(BROWSER.format(python=sys.executable, arguments=str(self._arguments)))
        self._browser.chmod(0o755)
        self.screens: list[bytes] = []

    def variables(self, **more: str) -> dict[str, str]:
        """The environment of the commands."""
        return {
            "BROWSER": str(self._browser), "TMPDIR": str(self.state / "tmp"),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring", "WRONG": WRONG_VALUE,
        } | more  # fmt: skip

    def __call__(self, commands: list[list[str]], **more: str) -> list[int]:
        """The exit codes of commands, run one after the other."""
        program = PROGRAM.format(spy=str(self._spy), store=str(self.store))
        words = [word for command in commands for word in (*command, "+++")]
        with Terminal(self.state, words, (200, 50), script=program, **self.variables(**more)) as terminal:
            assert terminal.ends() == 0, terminal.raw.decode()
        self.screens.append(terminal.raw)
        return [int(code) for code in re.findall(rb"exit code (\d+)", terminal.raw)]

    def keep(self) -> None:
        """Remember what the store has now."""
        with self._spy.open("a") as spy:
            spy.write(json.dumps(json.loads(self.store.read_text())) + "\n")

    def learn(self, careless: Careless, case: Case) -> None:
        """Take in every secret there was."""
        for kind, values in careless.secrets.items():
            self.secrets.setdefault(kind, set()).update(values)
        self.secrets["given"] = {*case.given.values(), WRONG_VALUE}
        if case.key is not None:
            pem = case.key.as_pem(private=True).decode()
            self.secrets["client key"] = {line for line in pem.splitlines() if not line.startswith("-")}
            self.secrets["client key"] |= {case.key.as_dict(private=True)["d"]}
        for line in self._spy.read_text().splitlines() if self._spy.exists() else ():
            entry = json.loads(line)
            for held in [entry, *(grant["secrets"] for grant in entry.get("grants", ()))]:
                if held.get("access_token"):
                    self.secrets.setdefault("access token", set()).add(held["access_token"])
                if key := held.get("d") or json.loads(held.get("key") or "{}").get("d"):
                    self.secrets.setdefault("DPoP key", set()).add(key)

    def left(self) -> dict[str, str]:
        """Everything that is left behind, but for the store; and what stood on the screen."""
        files = (path for path in self.state.rglob("*") if path.is_file() and path != self.store)
        contents = {str(path): path.read_bytes() for path in files}
        if self._arguments.exists():
            contents["arguments"] = self._arguments.read_bytes()
        for number, raw in enumerate(self.screens):
            contents[f"screen {number}, all"] = raw
            contents[f"screen {number}"] = SEQUENCE.sub(b"", raw)
        texts = {place: content.decode("utf-8", "replace") for place, content in contents.items()}
        screens = {place: text for place, text in texts.items() if place.startswith("screen")}
        return texts | {f"{place}, unwrapped": BETWEEN.sub("", text) for place, text in screens.items()}


def forms(secret: str) -> set[str]:
    """The forms of a secret: raw, quoted, in JSON, inside base64 at any offset, or truncated."""
    encoded = {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
    raw = secret.encode()
    for offset in range(3):
        whole = base64.b64encode(b"\0" * offset + raw).decode()
        inner = whole[(0, 2, 3)[offset] : (offset + len(raw)) * 8 // 6]
        if len(inner) > 7:
            encoded |= {inner, inner.replace("+", "-").replace("/", "_")}
    # The first part of a JWT says how it is signed: all of a server have the same.
    body = secret[secret.index(".") + 1 :] if secret.startswith("eyJ") else secret
    return encoded | ({body[:24], body[-24:]} if len(body) > 24 else set())


def leaks(run: Run) -> list[tuple[str, str, str]]:
    """Where which secret was found. The person sees the address to log in at, and the browser is given it, with its state."""
    left = run.left()
    seen = ("screen", "arguments")
    return [
        (place, kind, secret)
        for kind, values in run.secrets.items()
        for secret in values
        if len(secret) > 3
        for encoded in (forms(secret),)
        for place, content in left.items()
        if not (kind == "state" and place.startswith(seen)) and any(form in content for form in encoded)
    ]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


SECRET_TEXT = "a-very-secret-value-of-some-length"


@pytest.mark.parametrize(
    "text",
    [SECRET_TEXT, SECRET_TEXT[:28] + "…", "a-very-secret-value-of-s │\n│ ome-length",
     *(base64.b64encode(before + SECRET_TEXT.encode() + b"!").decode() for before in (b"", b"x", b"id"))],
)  # fmt: skip
def test_the_search_finds_what_there_is(run: Run, text: str) -> None:
    run.secrets = {"kind": {SECRET_TEXT}}
    assert leaks(run) == []
    run.screens.append(f"... {text} ...".encode())
    assert leaks(run)


async def looked_at(recording: Path) -> list[str]:
    """The interface's screens of a login: every step, the token's claims, and pictures of them."""
    async with on_recording(recording) as (app, pilot):
        await pilot.press("6")
        assert app.session is not None
        await shows(app, pilot, "─ Connection")
        screens = [screen_text(app)]
        steps = len(authorization_steps(app.session.journal))
        if steps:
            await shows(app, pilot, "a login")
            await pilot.press("a", "home")
        for _ in range(steps):
            await pilot.press("enter")
            screens.append(screen_text(app))
            await pilot.press("right_curly_bracket")
            screens.append(screen_text(app))
            await pilot.press("enter", "down")
        return [*screens, html.unescape(re.sub("<[^>]*>", "", app.export_screenshot()))]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
async def test_a_login_leaves_no_secret_behind(run: Run, name: str) -> None:
    case = CASES[name]
    with serving(careless := Careless(**case.server)) as url:
        key = run.folder / "key.pem"
        key.write_text(case.key.as_pem(private=True).decode() if case.key is not None else "")
        options = [word.replace("ORIGIN", careless.origin).replace("KEY", str(key)) for word in case.says]
        good, bad, era = str(run.state / "good.mcp.jsonl"), str(run.state / "bad.mcp.jsonl"), ["--era", "legacy"]
        wrong = (
            ["WRONG" if word in case.given else word for word in options] if case.given else ["--bearer-env", "WRONG"]
        )
        verb = ["login", "--open-browser"] if case.person else ["tools"]
        commands = [
            (0, [*verb, *options, *era, "--record", good, url]),
            (0, ["tools", *options, *era, url]),
            (0, ["tools", *options, *era, "--json", url]),
            *(
                (0, ["export", good, "--to", format, "-o", f"{good}-{format}{about.suffix}"])
                for format, about in WRITABLE.items()
                if name in THOROUGH or format in ("md", "json")
            ),
            (0, ["servers", "--json"]),
            (4, ["crash", "tools", *options, *era, url]),
            (3, ["tools", *wrong, *era, "--record", bad, url]),
            (3, ["tools", *wrong, *era, "--json", url]),
            (0, ["export", bad, "--to", "md"]),
            (0, ["logout", url]),
        ]
        codes = run([command for _, command in commands], **case.given)
        assert list(zip(codes, [command for _, command in commands], strict=True)) == commands
        run.learn(careless, case)
    assert case.met <= run.secrets.keys()
    assert "failure with" in (run.state / "log" / "inspector.log").read_text()
    run.screens += [text.encode() for recording in (good, bad) for text in await looked_at(Path(recording))]
    assert leaks(run) == []
    assert '"kind":"auth"' in Path(good).read_text()


def test_a_header_of_a_config_entry_is_not_repeated_in_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("HOME", "INSPECTOR_STATE_HOME", "INSPECTOR_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("TOKEN", f"Bearer {WRONG_VALUE}")
    with serving(Careless()) as url:
        config = tmp_path / "servers.json"
        config.write_text(json.dumps({"servers": {"s": {"url": url, "headers": {"Authorization": "env:TOKEN"}}}}))
        for more in ([], ["--json"]):
            assert main.run(["tools", "--config", str(config), "--era", "legacy", *more, "@s"]) == 3
    output = "".join(capfd.readouterr())
    assert "‹redacted" in output or "…" in output
    assert not any(form in output for form in forms(WRONG_VALUE)), output


@pytest.mark.slow
def test_the_interface_shows_none_during_login_and_logout(run: Run) -> None:
    careless = Careless(methods=("client_secret_post",), dpop=True)
    with serving(careless) as url:
        words = ["--era", "legacy", "--record", str(run.state / "live.mcp.jsonl"), url]
        with Terminal(run.state, words, (160, 45), **run.variables()) as terminal:
            terminal.shows("Log in at 127.0.0.1?", "code_challenge")
            terminal.press("\r")
            terminal.shows("● connected", "echo-secrets")
            run.keep()
            terminal.press("6")
            terminal.shows("issued by", "a login")
            terminal.press("a")
            terminal.shows("log in again", "token")
            terminal.press("c")
            terminal.shows("Copied")
            terminal.press("L")
            terminal.shows("Log in at 127.0.0.1?")
            terminal.press("\r")
            terminal.shows("Logged in again.")
            run.keep()
            terminal.press("O")
            terminal.shows("Logged out.")
            terminal.press("q")
            assert terminal.ends() == 0
        run.screens.append(terminal.raw)
    run.learn(careless, Case())
    assert {
        "access token",
        "refresh token",
        "client secret",
        "code",
        "verifier",
        "DPoP key",
        "DPoP proof",
    } <= run.secrets.keys()
    assert len(run.secrets["DPoP key"]) == 2, "of both logins"
    assert leaks(run) == []


@pytest.mark.slow
def test_a_tool_that_repeats_secrets_is_shown_and_recorded_without_them(run: Run) -> None:
    recording = str(run.state / "call.mcp.jsonl")
    with serving(careless := Careless(methods=("client_secret_basic",))) as url:
        words = ["call", "echo-secrets", *SECRET, "--era", "legacy", "--record", recording, url]
        assert run([words, ["export", recording, "--to", "json"]], SECRET="a-secret/with+more") == [0, 0]
    run.learn(careless, Case())
    (screen,) = run.screens
    assert "‹redacted " in screen.decode()
    assert leaks(run) == []

"""Logging in from the command line, through the demo server's authorization server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.auth.options import AuthOptions
from inspector.cli.login_options import OF_FLAGS, said_of
from inspector.cli.options import LOGIN
from inspector.cli.parser import scan
from inspector.config.login_entry import KEYS
from tests.auth.demo_login import ROOT, browser, environment, protected_server
from tests.cli.test_json_schemas import faults
from tests.processes import has_output

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with protected_server() as url:
        yield url


def run(state: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A command of ours without a terminal."""
    program = f"import sys; sys.argv = {['inspector', *words]!r}\nfrom inspector.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        env=environment(state, **more),
    )  # fmt: skip


def test_a_login_is_kept_shown_and_ended(server: str, tmp_path: Path) -> None:
    before = run(tmp_path, "tools", server)
    assert before.returncode == 3
    assert "inspector login" in before.stderr
    assert run(tmp_path, "servers", "--json").stdout.endswith('"logins":[]}\n')

    done = run(tmp_path, "login", "--open-browser", "--json", server, BROWSER=browser(tmp_path))
    assert done.returncode == 0, done.stderr
    assert faults("login", done.stdout) == []
    document = json.loads(done.stdout)
    assert (document["server"], document["renewable"], document["grant"]) == (server, True, "code")
    assert "which only you can read" in done.stderr

    after = run(tmp_path, "tools", server)
    assert after.returncode == 0, after.stderr
    assert "echo" in after.stdout
    listed = run(tmp_path, "servers")
    assert f"logged in to {server}: " in listed.stdout
    assert "until logout" in listed.stdout
    token = json.loads((tmp_path / "logins.json").read_text())["grants"][0]["secrets"]["access_token"]
    assert token not in listed.stdout + listed.stderr + done.stdout + done.stderr

    ended = run(tmp_path, "logout", server)
    assert (ended.returncode, "were revoked" in ended.stdout) == (0, True), ended.stderr
    assert token not in (tmp_path / "logins.json").read_text()
    assert "Not logged in" in run(tmp_path, "logout", server).stdout
    assert faults("logout", run(tmp_path, "logout", "--json", server).stdout) == []
    assert run(tmp_path, "tools", server).returncode == 3
    given = run(tmp_path, "tools", "--bearer-env", "OLD", server, OLD=token)
    assert given.returncode == 3, "what was given back is good no more"
    assert token not in given.stderr


def test_a_second_login_needs_no_browser(server: str, tmp_path: Path) -> None:
    assert run(tmp_path, "login", "--open-browser", server, BROWSER=browser(tmp_path)).returncode == 0
    again = run(tmp_path, "login", server)
    assert again.returncode == 0, again.stderr
    assert run(tmp_path, "login", "--again", server).returncode == 3, "a new login needs a person"


def test_a_program_authorizes_with_its_secret(server: str, tmp_path: Path) -> None:
    asked = ["tools", "--client-id", "demo-service", "--grant", "client-credentials"]
    wrong = run(tmp_path, *asked, "--client-secret-env", "SECRET", server, SECRET="wrong-secret-value")
    assert wrong.returncode == 3
    assert "wrong-secret-value" not in wrong.stderr
    missing = run(tmp_path, *asked, "--client-secret-env", "SECRET", server)
    assert (missing.returncode, "SECRET is empty or unset" in missing.stderr) == (2, True)
    (tmp_path / "secret").write_text("demo-service-secret\n")
    done = run(tmp_path, *asked, "--client-secret-env", f"@{tmp_path / 'secret'}", server)
    assert done.returncode == 0, done.stderr
    assert "echo" in done.stdout
    assert not (tmp_path / "logins.json").exists(), "a login without a user is not kept"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("tools", "--client-id", "x", "--", "true"), "cannot be used with a command"),
        (("login", "--", "true"), "needs a URL"),
        (
            ("tools", "--open-browser", "--no-browser", "http://127.0.0.1:1/"),
            "--open-browser cannot be used with --no-browser",
        ),
        (("tools", "--client-key", "/nowhere", "http://127.0.0.1:1/"), "the file does not exist"),
        (("tools", "--id-token-env", "eyJhbGciOi", "http://127.0.0.1:1/"), "is empty or unset"),
        (("tools", "--assertion-env", "NOT_SET", "--", "true"), "NOT_SET is empty or unset"),
        (
            ("tools", "--idp", "https://idp.example", "--", "true"),
            "cannot be used with a command",
        ),
        (("tools", "--grant", "magic", "http://127.0.0.1:1/"), "cannot be"),
        (("login", "--bearer-env", "HOME", "http://127.0.0.1:1/"), "replaces a login"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    ran = run(tmp_path, *words)
    assert (ran.returncode, says in ran.stderr) == (2, True), ran.stderr
    assert "eyJ" not in ran.stderr, "it may be the secret itself"


def test_whatever_a_config_file_says_of_a_login_the_command_line_can_say() -> None:
    values = {option.name for option in LOGIN if option.metavar}
    assert values == set(OF_FLAGS) | {"login-timeout"}
    assert set(OF_FLAGS.values()) | {"open_browser"} == set(KEYS.values())


def test_secrets_are_named_by_variable_or_file_and_everything_reaches_the_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("the-id-token\n")
    monkeypatch.setenv("ASSERTION", "the-assertion")
    words = [
        "--idp",
        "https://idp.example",
        "--idp-token-endpoint",
        "https://idp.example/token",
        "--idp-client-id",
        "me",
    ]
    words += ["--id-token-env", f"@{tmp_path / 'token'}", "--assertion-env", "ASSERTION", "--client-key-id", "k1"]
    words += [
        "--idp-client-secret-env",
        "ASSERTION",
        "--redirect-uri",
        "http://localhost:1/",
        "--client-issuer",
        "https://a.example",
    ]
    options = said_of(scan(["tools", *words, "http://127.0.0.1:1/"]))
    assert options == AuthOptions(
        idp_issuer="https://idp.example", idp_token_endpoint="https://idp.example/token", idp_client_id="me",
        idp_id_token="the-id-token", assertion="the-assertion", client_key_id="k1", idp_client_secret="the-assertion",
        redirect_uri="http://localhost:1/", client_issuer="https://a.example",
    )  # fmt: skip
    assert "the-" not in repr(options)


class Terminal:
    """A command of ours on a terminal."""

    def __init__(self, state: Path, *words: str, **more: str) -> None:
        import pty

        self._ours, theirs = pty.openpty()
        program = f"import sys; sys.argv = {['inspector', *words]!r}\nfrom inspector.cli.main import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env=environment(state, **more),
        )  # fmt: skip
        os.close(theirs)
        self.text = ""

    def until(self, pattern: str) -> re.Match[str]:
        """Read until something is there."""
        while (match := re.search(pattern, self.text)) is None:
            assert has_output(self._ours, 30), self.text
            try:
                data = os.read(self._ours, 65536)
            except OSError:
                data = b""
            assert data, self.text
            self.text += data.decode().replace("\r\n", "\n")
        return match

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def end(self) -> int:
        """Wait for its end."""
        try:
            while os.read(self._ours, 65536):
                pass
        except OSError:
            pass
        os.close(self._ours)
        return self.process.wait(30)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object) -> None:
        return None


def location_of(url: str) -> str:
    """Where a page sends its visitor."""
    try:
        urllib.request.build_opener(_NoRedirect).open(url, timeout=20)
    except urllib.error.HTTPError as answer:
        return answer.headers["Location"]
    raise AssertionError("no redirect")


def test_without_a_browser_the_address_is_shown_and_the_answer_pasted(server: str, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "login", "--no-browser", server)
    url = terminal.until(r"http://\S+/authorize\?\S+").group()
    terminal.until(r"Waiting until \d\d:\d\d:\d\d\.")
    terminal.until("Press Ctrl-C to stop waiting")
    terminal.type("nonsense\n")
    terminal.until("does not start with")
    terminal.type(location_of(url) + "\n")
    terminal.until(f"Logged in to {re.escape(server)}")
    assert terminal.end() == 0


@pytest.mark.parametrize(
    ("fault", "reason", "option"),
    [
        ("state-wrong", "it has a “state” of another login", "--login-timeout"),
        ("state-missing", "it has no “state”", "--timeout"),
    ],
)
def test_without_a_terminal_a_rejected_redirect_is_told_and_the_wait_is_bounded(
    tmp_path: Path, fault: str, reason: str, option: str
) -> None:
    with protected_server("--auth-fault", fault) as url:
        ran = run(tmp_path, "tools", "--open-browser", option, "4", url, BROWSER=browser(tmp_path))
    rejection, *_, error, hint = ran.stderr.splitlines()
    assert ran.returncode == 3
    assert rejection.startswith("Rejected a redirect with code, ")
    assert reason in rejection
    assert "within 4 s. Inspector rejected 1 redirect" in error
    assert "--login-timeout" in hint


def test_a_program_that_pastes_is_stopped_after_three_tries(server: str, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "tools", "--no-browser", server)
    url = terminal.until(r"http://\S+/authorize\?\S+").group()
    terminal.until("Press Ctrl-C to stop waiting")
    back = location_of(url)
    terminal.type("\n" + back.replace("state=", "x=") + "\n" + "nonsense\n" * 50)
    terminal.until(r"error: 3 pasted URLs were rejected\. The last one does not start with")
    assert terminal.text.count("Rejected the pasted URL") == 2
    assert "Rejected the pasted URL (try 1 of 3): it has no “state”." in terminal.text
    assert terminal.end() == 3


def test_end_of_file_ends_the_login(server: str, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "tools", "--no-browser", server)
    terminal.until("Press Ctrl-C to stop waiting")
    terminal.type("\x04")
    terminal.until("error: stdin was closed before the answer")
    assert terminal.end() == 3


ASKING = """
import getpass, json, os
import keyring.backend
class Asking(keyring.backend.KeyringBackend):
    priority = 1
    place = os.environ["INSPECTOR_STATE_HOME"] + "/asked.json"
    password = ""
    def _held(self):
        self.password = self.password or getpass.getpass("The keyring's password: ")
        assert self.password == "master"
        return json.load(open(self.place)) if os.path.exists(self.place) else {}
    def get_password(self, service, username):
        return self._held().get(username)
    def set_password(self, service, username, password):
        held = self._held() | {username: password}
        json.dump(held, open(self.place, "w"))
"""


def test_a_keyring_may_ask_for_its_password_on_the_terminal(server: str, tmp_path: Path) -> None:
    (tmp_path / "asking_keyring.py").write_text(ASKING)
    asking = {"PYTHON_KEYRING_BACKEND": "asking_keyring.Asking", "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    terminal = Terminal(tmp_path, "login", "--open-browser", server, BROWSER=browser(tmp_path), **asking)
    terminal.until("The keyring's password: ")
    terminal.type("master\n")
    terminal.until("Logged in to")
    assert terminal.end() == 0
    assert "access_token" in (tmp_path / "asked.json").read_text()
    assert "access_token" not in (tmp_path / "logins.json").read_text()


@pytest.mark.parametrize("more", [(), ("--json",), ("--quiet",)])
def test_a_browser_is_opened_after_consent_only(server: str, tmp_path: Path, more: tuple[str, ...]) -> None:
    terminal = Terminal(tmp_path, "login", *more, server, BROWSER=browser(tmp_path))
    terminal.until(r"login at 127\.0\.0\.1:")
    terminal.until(r"/authorize\?\S+")
    terminal.until(r"Waiting until \d\d:\d\d:\d\d\.")
    terminal.until(r"\[y/N\]")
    terminal.type("y\n")
    terminal.until('"renewable":true' if "--json" in more else "Logged in to")
    assert terminal.end() == 0


def test_who_does_not_consent_is_not_logged_in(server: str, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "tools", server, BROWSER=browser(tmp_path))
    terminal.until(r"\[y/N\]")
    terminal.type("\n")
    terminal.until("--no-browser")
    assert terminal.end() == 3


def test_waiting_can_be_ended_at_any_time(server: str, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "tools", "--no-browser", server)
    terminal.until("Press Ctrl-C to stop waiting")
    terminal.process.send_signal(2)
    assert terminal.end() == 130

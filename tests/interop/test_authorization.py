"""Logins at real authorization servers from the command line: what the user sees, and what stays hidden."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.open_recording import whole_journal
from inspector.journal.format import Kind
from tests.interop.authorizers import SITES, Running, Site, running
from tests.interop.peers import CACHE, NODE
from tests.processes import INSPECTOR, Ran, environment, run

CONSUMERS = CACHE / "consumers"
FOLLOWER = Path(__file__).parent / "follower.py"
PATIENCE = 30


class Person:
    """A user with a home folder, a browser, and commands to run on one server."""

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        self.url = url
        self.log = home / "browser.log"
        browser = home / "browser"
        browser.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FOLLOWER}" "$@"\n')
        browser.chmod(0o755)
        self.more = {
            "BROWSER": str(browser),
            "FOLLOWER_LOG": str(self.log),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }
        self.count = 0
        self.steps: list[tuple[str, bool]] = []

    def __call__(self, *words: str) -> Ran:
        """Run a command on the server; its steps of logging in are in `steps` then."""
        self.count += 1
        recording = self.home / f"{self.count}.mcp.jsonl"
        recorded = ["--record", str(recording)] if words[0] in ("call", "login") else []
        ran = run(self.home, [*words, *recorded, self.url], **self.more)
        assert "Traceback" not in ran.err
        self.steps = []
        if recorded:
            with whole_journal(recording) as journal:
                kept = [event.fields for event in journal.events() if event.kind is Kind.AUTH]
                self.steps = [(fields["step"], fields["ok"]) for fields in kept]
            assert not any(secret in recording.read_text() for secret in self.secrets)
        assert not any(secret in ran.out + ran.err for secret in self.secrets)
        return ran

    def login(self, *words: str) -> Ran:
        """Log in, by the browser."""
        ran = self("login", "--open-browser", "--json", *words)
        assert (ran.code, self.opened) == (0, 1), ran.err
        return ran

    def read(self, *words: str) -> Ran:
        """Call the tool that any logged-in user may call."""
        return self("call", "read", *words)

    @property
    def opened(self) -> int:
        """How often the browser was opened."""
        return self.log.read_text().count("opened ") if self.log.exists() else 0

    @property
    def secrets(self) -> list[str]:
        """The stored tokens."""
        path = self.home / "logins.json"
        grants = json.loads(path.read_text())["grants"] if path.exists() else []
        return [value for grant in grants for name, value in grant["secrets"].items() if "token" in name and value]

    @property
    def grant(self) -> dict[str, Any]:
        """The stored login."""
        (grant,) = json.loads((self.home / "logins.json").read_text())["grants"]
        assert isinstance(grant, dict)
        return grant

    def an_hour_passes(self, site: Running) -> None:
        """Make the login an hour older: here, and there."""
        site("expire")
        path = self.home / "logins.json"
        kept = json.loads(path.read_text())
        for grant in kept["grants"]:
            grant["issued_at"] -= 3600
            grant["expires_at"] -= 3600
        path.write_text(json.dumps(kept))

    def reads(self) -> str:
        """Call the tool, after a login; how that came about."""
        client = self.grant["client"]
        ran = self.read()
        assert self.opened == 1
        if ran.code == 0:
            return "renewed" if self.did("refresh") else "as before"
        failed = ran.code == 4 and "answered 500" in ran.err
        if failed:
            assert "`inspector logout " in ran.err
            assert "`, then log in again" in ran.err
            assert self("logout").code == 0
        else:
            assert (ran.code, "not valid any more" in ran.err) == (3, True), ran.err
        again = self.read("--open-browser")
        assert (again.code, self.opened) == (0, 2), again.err
        if failed:
            return "500; logout, browser"
        return "browser" if self.grant["client"] == client else "registers, browser"

    def did(self, *steps: str) -> bool:
        """Whether all these steps were taken, with success."""
        return all((step, True) in self.steps for step in steps)


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Site], Running]]:
    """Starts a site when it is first asked for."""
    with ExitStack() as stack:
        sites: dict[str, Running] = {}

        def start(site: Site) -> Running:
            if site.id not in sites:
                sites[site.id] = stack.enter_context(running(site, tmp_path_factory.mktemp(site.id)))
            return sites[site.id]

        yield start


@pytest.fixture
def site(request: pytest.FixtureRequest, started: Callable[[Site], Running]) -> Running:
    """A running site."""
    return started(request.param)


@pytest.fixture
def person(home: Path, site: Running) -> Person:
    """A new user."""
    return Person(home, site.url)


@pytest.fixture
def seen(record_property: Callable[[str, object], None], site: Running) -> Callable[[str, str], None]:
    """Report the results for the table; they must be the expected ones."""

    def saw(column: str, what: str) -> None:
        record_property("cell", [site.site.id, column, what])
        assert what == site.site.expected(column)

    return saw


TOGETHER = [pytest.param(site, marks=pytest.mark.xdist_group(site.id), id=site.id) for site in SITES]
"""One process runs all tests of a site, so that it is started once."""
ROTATING = [site for site in TOGETHER if site.id in ("python-sdk-2.3", "typescript-sdk-1.32", "oidc-provider-9")]
"""One site of each maker whose refresh tokens are good for one time; the last withdraws the login at the second."""
each_site = pytest.mark.parametrize("site", TOGETHER, indirect=True)
Seen = Callable[[str, str], None]


@each_site
def test_a_login_is_kept_and_the_next_run_needs_no_browser(person: Person, site: Running, seen: Seen) -> None:
    ran = person.read()
    assert (ran.code, person.opened) == (3, 0)
    assert "inspector login" in ran.err
    ran = person.login()
    assert (ran.json["server"], ran.json["scope"][0], ran.json["grant"]) == (site.url, "read", "code")
    assert person.did("metadata", "registration", "authorize", "callback", "token")
    grant = person.grant
    way = "no secret" if grant["client"]["method"] == "none" else grant["client"]["method"]
    seen("login", f"{'registers' if grant['client']['origin'] == 'registered' else 'does not register'}, {way}")
    ran = person.read()
    assert (ran.code, ran.out.splitlines()[0], person.steps) == (0, "it was read", [])
    seen("next run", "no browser" if person.opened == 1 else "browser")
    (login,) = run(person.home, ["servers", "--json"], **person.more).json["logins"]
    assert (login["server"], login["renewable"]) == (site.url, grant["renewable"])


@pytest.mark.parametrize("site", ROTATING, indirect=True)
def test_a_login_in_chromium(person: Person, site: Running, tmp_path: Path) -> None:
    """Side effects of a real browser: it requests icons, keeps connections, and enforces the policy of the page."""
    report = tmp_path / "told.json"
    browser = person.home / "browser"
    browser.write_text(f'#!/bin/sh\nexec "{NODE}" "{CONSUMERS / "login.mjs"}" "$@" > "{report}"\n')
    person.more["TMPDIR"] = str(tmp_path)
    ran = person("login", "--open-browser", "--json")
    assert ran.code == 0, ran.err
    assert person.did("authorize", "callback", "token")
    until = time.monotonic() + PATIENCE
    while not report.stat().st_size and time.monotonic() < until:
        time.sleep(0.1)
    seen = json.loads(report.read_text())
    assert seen["paths"][-1] == "/callback"
    assert "go back to the terminal" in seen["text"]
    assert [what for path, what in seen["errors"] if path == "/callback"] == []
    assert person.read().code == 0


@each_site
def test_a_token_that_has_ended_is_renewed(person: Person, site: Running, seen: Seen) -> None:
    person.login()
    person.an_hour_passes(site)
    before = person.secrets
    seen("its end", person.reads())
    assert not person.did("challenge") or person.opened == 2, "nothing is refused"
    assert not {*before} & {*person.secrets}, "the refresh token is another, too"


@each_site
def test_a_token_that_is_refused_before_its_end_is_renewed(person: Person, site: Running, seen: Seen) -> None:
    person.login()
    assert site("expire")["access"] == 0
    seen("refused", person.reads())


@each_site
def test_logging_out_gives_the_tokens_back(person: Person, site: Running, seen: Seen) -> None:
    before = site("count")
    person.login()
    ran = person("logout")
    assert (ran.code, person.secrets) == (0, [])
    if "the tokens were revoked" in ran.out:
        after = site("count")
        assert (after["access"], after["refresh"]) == (before["access"], before["refresh"])
        seen("logout", "taken back")
    else:
        assert "did not revoke every token; those are valid until they expire" in ran.out
        seen("logout", "no endpoint")
    ran = person.read()
    assert (ran.code, "standard input is not a terminal" in ran.err) == (3, True)


@each_site
def test_tokens_that_the_authorization_server_takes_back_are_a_new_login(
    person: Person, site: Running, seen: Seen
) -> None:
    person.login()
    assert site("revoke")["refresh"] == 0
    seen("taken back", person.reads())


@each_site
def test_more_scopes_are_requested_with_what_was_granted(person: Person, site: Running, seen: Seen) -> None:
    assert person.login("--scope", "read").json["scope"] == ["read"]
    ran = person("call", "write")
    assert (ran.code, person.opened) == (3, 1)
    what = []
    if "A person must grant the scopes “read write”" in ran.err:
        ran = person("call", "write", "--open-browser")
    elif "its challenge does not name them" in ran.err:
        assert "--scope" in ran.err
        what = ["--scope"]
        ran = person("call", "write", "--open-browser", "--scope", "write")
    else:
        assert "denied access (status 403 Forbidden)" in ran.err
        seen("more scopes", "403 without a challenge")
        return
    assert (ran.code, ran.out.splitlines()[0], person.opened) == (0, "it was written", 2), ran.err
    assert person.did("stepup")
    seen("more scopes", ", ".join((*what, f"browser: {' '.join(person.grant['scope'])}")))
    assert (person.read().code, person.opened) == (0, 2)


@each_site
def test_the_client_registers_again_after_a_restart_of_the_authorization_server(
    person: Person, site: Running, seen: Seen
) -> None:
    person.login()
    site("forget")
    seen("restarted", person.reads())


@pytest.mark.parametrize("site", TOGETHER[-1:], indirect=True)
def test_a_user_who_gives_up_at_an_unknown_client_is_registered_again_the_next_time(
    person: Person, site: Running
) -> None:
    """Without a refresh token, only the page in the browser says that the client is unknown."""
    person.login("--scope", "read")
    site("forget")
    words = [*INSPECTOR, "call", "read", "--open-browser", "--scope", "read", person.url]
    with subprocess.Popen(
        words, env=environment(person.home, **person.more), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        end = time.monotonic() + PATIENCE
        while "status 400" not in person.log.read_text() and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) != 0
    ran = person.read("--open-browser", "--scope", "read")
    assert (ran.code, person.opened, person.did("registration", "token")) == (0, 3, True), ran.err


@pytest.mark.parametrize("site", ROTATING, indirect=True)
def test_commands_at_once_renew_a_token_once(person: Person, site: Running) -> None:
    """The refresh token is good for one of them: the others use the new tokens."""
    person.login()
    person.an_hour_passes(site)
    environ = environment(person.home, **person.more)
    commands = [
        subprocess.Popen(
            [*INSPECTOR, "call", "read", person.url], env=environ, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    outputs = [command.communicate(timeout=2 * PATIENCE) for command in commands]
    assert [command.returncode for command in commands] == [0] * 3, outputs
    ran = person.read()
    assert (ran.code, person.steps, person.opened) == (0, [], 1), ran.err

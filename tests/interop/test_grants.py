"""Grants without a browser on this machine, at oidc-provider.

Client credentials, a code on another device, and bound tokens.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_login import Terminal
from tests.interop.authorizers import BOUND, PLAIN, Running, running
from tests.interop.listening_servers import free_port
from tests.interop.test_authorization import FOLLOWER, Person

pytestmark = pytest.mark.xdist_group("oidc-provider")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """oidc-provider as it is."""
    with running(PLAIN, tmp_path_factory.mktemp("plain")) as site:
        yield site


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """oidc-provider, and a server that takes only tokens with a proof."""
    with running(BOUND, tmp_path_factory.mktemp("bound")) as site:
        yield site


@pytest.fixture
def program(home: Path, plain: Running) -> Person:
    """A program: it needs no browser."""
    return Person(home, plain.url)


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_program_logs_in_by_its_secret(program: Person, home: Path, method: str) -> None:
    """C-AUTH-40. The authorization server takes from each client only the method that it was registered with."""
    (home / "secret").write_text("the-secret-of-a-program\n")
    words = ["--grant", "client-credentials", "--client-id", method, "--client-secret-env", f"@{home / 'secret'}"]
    ran = program.read(*words)
    assert (ran.code, ran.out, program.opened) == (0, "it was read\n", 0), ran.err
    assert not (home / "logins.json").exists()


@pytest.mark.parametrize("algorithm", ["ES256", "RS256"])
def test_a_program_logs_in_by_its_key_and_gets_more_scopes_alone(
    program: Person, home: Path, plain: Running, algorithm: str
) -> None:
    """C-AUTH-40, C-AUTH-33."""
    (home / "key.pem").write_text(plain.keys[algorithm])
    words = ["--grant", "client-credentials", "--client-id", algorithm, "--client-key", str(home / "key.pem")]
    ran = program.read(*words)
    assert (ran.code, ran.out) == (0, "it was read\n"), ran.err
    assert not program.did("stepup")
    ran = program("call", "write", *words)
    assert (ran.code, ran.out, program.did("stepup")) == (0, "it was written\n", True), ran.err
    other = {"ES256": "RS256", "RS256": "ES256"}[algorithm]
    (home / "key.pem").write_text(plain.keys[other])
    ran = program.read(*words)
    assert (ran.code, "invalid_client" in ran.err) == (3, True), ran.err


@pytest.mark.parametrize("path", ["", "http://localhost:{port}/back"])
def test_a_client_that_was_registered_by_hand_is_used(program: Person, path: str) -> None:
    """C-AUTH-14, C-AUTH-23: at a port of our own choice, or where the person says."""
    words = ["--client-id", "desktop"]
    if path:
        words += ["--redirect-uri", path.format(port=free_port())]
    program.login(*words)
    assert program.grant["client"]["client_id"] == "desktop"
    assert program.grant["client"]["origin"] == "given"
    ran = program.read("--client-id", "desktop")
    assert (ran.code, ran.out, program.opened) == (0, "it was read\n", 1), ran.err
    ran = program.read("--client-id", "another")
    assert ran.code == 3, "what was granted to one client is not sent for another"


def test_a_code_is_entered_on_another_device(program: Person, plain: Running) -> None:
    """RFC 8628: the address and the code are shown, and we ask until it was entered."""
    terminal = Terminal(program.home, "login", "--grant", "device", plain.url, **program.more)
    address = terminal.until(r"\n\n +(http\S+)\n")[1]
    code = terminal.until(r"The code to enter there is +(\S+)")[1]
    assert code in address
    environ = os.environ | program.more
    subprocess.run([sys.executable, str(FOLLOWER), address], env=environ, check=True, timeout=60)
    terminal.until("Logged in to")
    assert terminal.process.wait(30) == 0
    ran = program.read()
    assert (ran.code, ran.out, program.grant["kind"]) == (0, "it was read\n", "device")


def test_tokens_are_bound_to_a_key_of_ours(home: Path, bound: Running) -> None:
    """C-AUTH-42: both servers want a nonce of theirs in each proof; a renewed token has the same key."""
    person = Person(home, bound.url)
    person.login()
    assert (person.grant["token_type"], person.did("request", "token")) == ("DPoP", True)
    ran = person.read()
    assert (ran.code, person.opened) == (0, 1), ran.err
    (home / "stolen").write_text(person.grant["secrets"]["access_token"])
    assert person.read("--bearer-env", f"@{home / 'stolen'}").code == 3, "without its key the token is good for nothing"
    person.an_hour_passes(bound)
    ran = person.read()
    assert (ran.code, person.opened, person.did("refresh")) == (0, 1, True), ran.err
    assert bound("count")["refresh"] == 1
    ran = person("logout")
    assert "did not revoke every token" in ran.out, "its access tokens are good by themselves, and cannot be withdrawn"
    assert bound("count")["refresh"] == 0

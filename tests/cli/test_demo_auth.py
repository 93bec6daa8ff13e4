"""`inspector demo --auth`: a server of its own process, for as long as the interface is open."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from inspector.cli.verbs import open as verb
from inspector.config.targets import HttpTarget
from tests.cli.conftest import Run

pytestmark = pytest.mark.slow

PATIENCE = 10.0  # seconds until a test gives up


def ask(url: str, path: str = "") -> http.client.HTTPResponse:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=PATIENCE)
    connection.request("GET", path or parts.path)
    return connection.getresponse()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[HttpTarget], Any]], list[Any]]:
    """Replaces the interface with a function; gives the list of what it will have returned."""
    monkeypatch.setattr(verb, "missing_terminal", lambda: "")

    def put(read: Callable[[HttpTarget], Any]) -> list[Any]:
        seen: list[Any] = []

        def interface(invocation: Any, target: HttpTarget) -> int:
            seen.append((target.url, read(target)))
            return 7

        monkeypatch.setattr(verb, "interface", interface)
        return seen

    return put


def test_the_server_is_there_while_the_interface_is(run: Run, opened: Any) -> None:
    seen = opened(lambda target: (target.name, ask(target.url).headers["WWW-Authenticate"]))
    assert run("demo", "--auth-auto").code == 7
    ((url, (name, challenge)),) = seen
    assert name == "demo"
    assert "resource_metadata" in challenge
    with pytest.raises(ConnectionRefusedError):
        ask(url)


def test_what_is_given_of_authorization_is_reported_to_the_server(run: Run, opened: Any) -> None:
    place = "/.well-known/oauth-protected-resource/mcp"
    seen = opened(lambda target: (ask(target.url).headers["WWW-Authenticate"], ask(target.url, place).status))
    words = ["--auth-fault", "no-challenge", "--auth-fault", "prm-missing", "--auth-layout", "path"]
    assert run("demo", *words, "--auth-expiry", "5", "--auth-port", "0").code == 7
    assert [answer for _, answer in seen] == [(None, 404)]


def test_a_name_that_there_is_not_is_a_usage_error(run: Run, opened: Any) -> None:
    opened(lambda target: None)
    ran = run("demo", "--auth-fault", "nonsense")
    assert ran.code == 2
    assert "does not start: --auth-fault nonsense: use one of 401-forever, clock-skew" in ran.err

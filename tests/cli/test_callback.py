"""Requests to the callback of a login: foreign ones are ignored; a wrong response ends the login."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.auth.permissive_server import Careless, serving
from tests.cli.conftest import Run

pytestmark = pytest.mark.slow

BROWSER = """#!{python}
import re, socket, sys, urllib.parse, urllib.request
class Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *words):
        return None
try:
    urllib.request.build_opener(Stays).open(sys.argv[1], timeout=20)
except urllib.error.HTTPError as answer:
    back = answer.headers["Location"]
port = urllib.parse.urlsplit(back).port
query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))
slow = []
for line in open({requests!r}, newline="").read().split("\\n---\\n"):
    for name, value in (("CODE", query["code"]), ("STATE", query["state"]), ("HOST", f"127.0.0.1:{{port}}"), ("LONG", "x" * 200_000)):
        line = line.replace(name, value)
    connection = socket.create_connection(("127.0.0.1", port))
    try:
        connection.sendall(line.replace("\\n", "\\r\\n").encode())
        if line.endswith("\\n"):
            connection.recv(9999)
        else:
            slow.append(connection)
    except ConnectionError:
        pass
"""
GOOD = (
    "GET /callback?code=CODE&state=STATE HTTP/1.1\nHost: HOST\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\n\n"
)


def came(query: str, more: str = "", line: str = "GET /callback?{} HTTP/1.1", host: str = "HOST") -> str:
    """A request; with its end."""
    return f"{line.format(query)}\nHost: {host}\n{more}\n"


PASSED_OVER = {
    "another origin's script": came("code=evil&state=STATE", "Origin: https://evil.example\nSec-Fetch-Mode: cors\n"),
    "an image": came("code=evil&state=STATE", "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: image\n"),
    "another name": came("code=evil&state=STATE", host="evil.example"),
    "two names": came("code=evil&state=STATE", "Host: evil.example\n"),
    "another path": came("code=evil&state=STATE", line="GET /other?{} HTTP/1.1"),
    "another method": came("code=evil&state=STATE", line="POST /callback?{} HTTP/1.1"),
    "a proxy's request": came("code=evil&state=STATE", line="GET http://HOST/callback?{} HTTP/1.1"),
    "no parameters": came("", line="GET /callback HTTP/1.1"),
    "a huge line": came("code=evil&state=STATE&pad=LONG"),
    "a request without an end": "GET /callback?code=evil&state=STATE HTTP/1.1\nHost: HOST",
    "noise": "\x16\x03\x01\n\n",
}  # fmt: skip
WAITED_PAST = {
    "another state": (came("code=evil&state=other"), "has a “state” of another login"),
    "no state": (came("code=evil"), "has no “state”"),
    "two states": (came("code=evil&state=STATE&state=other"), "has “state” more than once"),
    "two codes": (came("code=CODE&state=STATE&code=evil"), "has “code” more than once"),
    "an error without our state": (came("error=access_denied"), "has no “state”"),
}
REFUSED = {
    "no code": (came("code=&state=STATE"), "neither a code nor an error"),
    "another issuer": (came("code=CODE&state=STATE&iss=https://evil.example"), "“https://evil.example”"),
    "a denial": (came("error=access_denied&state=STATE"), "The authorization server denied access"),
    "an error with markup": (
        came("error=server_error&state=STATE&error_description=%1b[2J%1b]0;x%07[bold]%3Cb%3E%0d%0a%E2%80%AEx"), "“server_error”: "
    ),
    "a code and an error": (came("code=CODE&state=STATE&error=server_error"), "“server_error”"),
}  # fmt: skip


@pytest.fixture
def careless() -> Careless:
    return Careless()


def log_in(
    run: Run, careless: Careless, folder: Path, monkeypatch: pytest.MonkeyPatch, *requests: str
) -> tuple[int, str]:
    """Log in with a browser that sends these requests to the callback; the exit code and stderr."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    browser, requests_file = folder / "browser", folder / "requests"
    requests_file.write_text("\n---\n".join(requests), newline="")
    browser.write_text(BROWSER.format(python=sys.executable, requests=str(requests_file)))
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    with serving(careless) as url:
        ran = run("login", "--open-browser", "--era", "legacy", url)
    return ran.code, ran.err


def test_what_is_not_an_answer_is_passed_over(
    run: Run, careless: Careless, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, err = log_in(run, careless, tmp_path, monkeypatch, *PASSED_OVER.values(), GOOD)
    assert code == 0, err
    assert len(careless.secrets["verifier"]) == 1
    assert "evil" not in careless.secrets["code"]


@pytest.mark.parametrize("name", WAITED_PAST)
def test_what_belongs_to_another_login_is_waited_past(
    run: Run, careless: Careless, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    request, says = WAITED_PAST[name]
    code, err = log_in(run, careless, tmp_path, monkeypatch, request, GOOD)
    assert code == 0, err
    assert f": it {says}. Inspector is still waiting.\n" in err
    assert len(careless.secrets["verifier"]) == 1
    assert "evil" not in careless.secrets["code"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_answer_ends_it_and_no_code_is_redeemed(
    run: Run, careless: Careless, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    request, says = REFUSED[name]
    code, err = log_in(run, careless, tmp_path, monkeypatch, request, GOOD)
    assert code == 3
    (reason,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert says in reason
    assert reason.isprintable()
    assert not careless.secrets["verifier"], "the token endpoint was not asked"


def test_of_two_answers_the_first_counts(
    run: Run, careless: Careless, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, err = log_in(
        run, careless, tmp_path, monkeypatch, GOOD, came("code=evil&state=STATE"), came("error=x&state=STATE")
    )
    assert code == 0, err
    assert len(careless.secrets["verifier"]) == 1
    assert "evil" not in careless.secrets["code"]

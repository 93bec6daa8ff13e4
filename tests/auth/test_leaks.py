"""No secret of a login is anywhere but in the file that is there for it: not in recordings, logs, output, arguments."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus

import pytest

from tests.auth.site import environment, protected_server

SECRET_FIELDS = (
    "code", "code_verifier", "access_token", "refresh_token", "client_secret", "client_assertion", "assertion", "token",
    "device_code", "registration_access_token",
)  # fmt: skip
SPY = """
import json
from inspector.client import fetching
send = fetching.Fetching.send
async def spied(self, method, url, fields, body, **more):
    answer = await send(self, method, url, fields, body, **more)
    with open({spy!r}, "a") as file:
        file.write(json.dumps([list(fields), body.decode(), answer.body.decode()]) + "\\n")
    return answer
fetching.Fetching.send = spied
import sys
sys.argv = {argv!r}
from inspector.cli.main import main
main()
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


class Run:
    """Commands of ours, spied upon; everything that they leave behind."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.state.mkdir()
        self._spy = folder / "spy"
        self._arguments = folder / "arguments"
        self._browser = folder / "browser"
        self._browser.write_text(BROWSER.format(python=sys.executable, arguments=str(self._arguments)))
        self._browser.chmod(0o755)
        self.output = ""
        self.known: set[str] = set()

    def __call__(self, *words: str, **more: str) -> int:
        program = SPY.format(spy=str(self._spy), argv=["inspector", *words])
        done = subprocess.run(
            [sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
            env=environment(self.state, BROWSER=str(self._browser), **more),
        )  # fmt: skip
        self.output += done.stdout + done.stderr
        return done.returncode

    def secrets(self) -> set[str]:
        """Every secret that went over the wire or was given."""
        found = set(self.known)
        for line in self._spy.read_text().splitlines() if self._spy.exists() else ():
            fields, body, answer = json.loads(line)
            found |= {value.partition(" ")[2] for name, value in fields if name.lower() == "authorization"}
            found |= {value for name, value in parse_qsl(body) if name in SECRET_FIELDS}
            found |= set(_values(_json(body))) | set(_values(_json(answer)))
        for grant in _json(self.store().read_text()).get("grants", ()) if self.store().exists() else ():
            held = grant.get("secrets", {})
            found |= {held[name] for name in ("access_token", "refresh_token") if held.get(name)}
            if held.get("key"):
                found.add(json.loads(held["key"])["d"])
        return {secret for secret in found if len(secret) > 3}

    def store(self) -> Path:
        """The one place where secrets may be."""
        return self.state / "logins.json"

    def left(self) -> dict[str, bytes]:
        """Everything else that is left behind."""
        found = {
            str(path): path.read_bytes() for path in self.state.rglob("*") if path.is_file() and path != self.store()
        }
        found["output"] = self.output.encode()
        found["arguments"] = self._arguments.read_bytes() if self._arguments.exists() else b""
        return found


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _values(value: dict[str, Any]) -> Iterator[str]:
    return (item for name, item in value.items() if name in SECRET_FIELDS and isinstance(item, str))


def forms(secret: str) -> set[bytes]:
    """A secret as it may stand somewhere: raw, quoted, in JSON, and in the middle of base64 at any offset."""
    found = {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
    raw = secret.encode()
    for offset in range(3):
        whole = base64.b64encode(b"\0" * offset + raw).decode()
        inner = whole[(0, 2, 3)[offset] : (offset + len(raw)) * 8 // 6]
        if len(inner) > 4:
            found |= {inner, inner.replace("+", "-").replace("/", "_")}
    return {form.encode() for form in found}


def leaks(run: Run) -> list[tuple[str, str]]:
    """Where which secret was found."""
    left = run.left()
    return [
        (place, secret)
        for secret in run.secrets()
        for place, content in left.items()
        if any(form in content for form in forms(secret))
    ]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_the_search_finds_what_there_is(run: Run) -> None:
    run.known = {"a-very-secret-value"}
    assert leaks(run) == []
    for form in (
        b"a-very-secret-value",
        base64.b64encode(b"a-very-secret-value"),
        base64.b64encode(b"id:a-very-secret-value!"),
        base64.b64encode(b"x:a-very-secret-value"),
    ):
        (run.state / "file").write_bytes(b"..." + form + b"...")
        assert [secret for _, secret in leaks(run)] == ["a-very-secret-value"]


def test_a_login_its_renewal_and_its_end_leave_nothing(run: Run) -> None:
    with protected_server("--auth-expiry", "3") as server:
        recording = str(run.state / "kept.mcp.jsonl")
        assert run("login", "--open-browser", "--record", recording, server) == 0, run.output
        assert run("tools", server) == 0, run.output
        assert run("call", "echo", "message=hello", "--json", server) == 0, run.output
        stored = json.loads(run.store().read_text())
        stored["grants"][0]["expires_at"] = 1
        run.store().write_text(json.dumps(stored))
        assert run("tools", "--json", server) == 0, run.output
        assert run("export", recording, "--to", "json") == 0, run.output
        assert run("servers", "--json") == 0
        run.secrets()
        known = run.secrets()
        assert run("logout", server) == 0, run.output
        run.known = known
    assert len(run.secrets()) >= 6, "code, verifier, two access tokens, two refresh tokens"
    assert [place for place, _ in leaks(run)] == []
    recorded = Path(recording).read_text()
    assert '"kind":"auth"' in recorded
    assert "code_verifier=‹redacted" in recorded


def test_a_client_and_its_secret_leave_nothing(run: Run) -> None:
    run.known = {"demo-service-secret", "not-the-right-secret"}
    asked = ("tools", "--client-id", "demo-service", "--grant", "client-credentials", "--client-secret-env", "SECRET")
    with protected_server() as server:
        assert run(*asked, server, SECRET="demo-service-secret") == 0, run.output
        assert run(*asked, server, SECRET="not-the-right-secret") == 3
        assert run(*asked, "--json", server, SECRET="not-the-right-secret") == 3
    assert len(run.secrets()) >= 5, "two secrets, two Basic words, a token"
    assert [place for place, _ in leaks(run)] == []


def test_a_key_and_what_it_signs_leave_nothing(run: Run, tmp_path: Path) -> None:
    from joserfc.jwk import ECKey, KeySet

    key = ECKey.generate_key("P-256", {"kid": "k1"}, private=True)
    pem = key.as_pem(private=True).decode()
    (tmp_path / "key.pem").write_text(pem)
    (tmp_path / "keys.json").write_text(json.dumps(KeySet([key]).as_dict(private=False)))
    run.known = {line for line in pem.splitlines() if not line.startswith("-")}
    with protected_server("--auth-jwks", str(tmp_path / "keys.json")) as server:
        asked = ("tools", "--client-id", "demo-key", "--grant", "client-credentials")
        assert run(*asked, "--client-key", str(tmp_path / "key.pem"), server) == 0, run.output
    assert any(secret.count(".") == 2 for secret in run.secrets()), "an assertion was sent"
    assert [place for place, _ in leaks(run)] == []


def test_a_token_that_was_given_leaves_nothing(run: Run) -> None:
    run.known = {"a-token-that-is-refused"}
    with protected_server() as server:
        assert run("tools", "--bearer-env", "TOKEN", server, TOKEN="a-token-that-is-refused") == 3
        assert run("tools", "--json", "--bearer-env", "TOKEN", server, TOKEN="a-token-that-is-refused") == 3
    assert leaks(run) == []
    assert list((run.state / "recordings").iterdir())

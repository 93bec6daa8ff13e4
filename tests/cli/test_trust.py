"""Config files of a cloned folder, with a real server that records requests, and a login in the keyring."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest

import inspector
from inspector.auth.credential import Authorizer
from inspector.auth.models import Grant, OAuthClient
from inspector.auth.store import Store
from inspector.cli.parser import scan
from inspector.cli.verbs.serve import upstream_options
from inspector.config.keyrings import LOGIN_SERVICE
from inspector.config.targets import HttpTarget
from inspector.errors import TrustNeeded
from tests.auth.test_keyring import Working
from tests.cli.conftest import Ran, Run
from tests.processes import ROOT
from tests.recording_server import Noting, at, noting

TOKEN = "kept-t0ken-of-the-user"
SECRET = "s3cr3t-of-the-user"


@pytest.fixture
def evil() -> Iterator[Noting]:
    with noting() as server:
        yield server


@pytest.fixture
def mine() -> Iterator[Noting]:
    """The server of the user, with a login that is kept."""
    with noting() as server:
        yield server


@pytest.fixture
def tls() -> Iterator[Noting]:
    with noting(certificate=True) as server:
        yield server


@pytest.fixture
def clone(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cloned folder, in which the user is, with secrets in the environment, in a file and in the keyring."""
    folder = home / "src" / "clone"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    (home / ".vault-token").write_text(SECRET)
    backend = Working()
    backend.held["vault", "me"] = SECRET
    for name in ("get_password", "set_password", "delete_password"):
        monkeypatch.setattr(keyring, name, getattr(backend, name))
    return folder


def keep_login(url: str) -> str:
    """Keep a login to a server, as `inspector login` does; the name under which the keyring has it."""
    grant = Grant(url, "https://as.example", url, TOKEN, issued_at=1, client=OAuthClient("c"))
    Store().keep("https://as.example", url, grant)
    assert Store().grant(url) is not None
    name = json.loads((Path(os.environ["INSPECTOR_STATE_HOME"]) / "logins.json").read_text())["grants"][0]["secret"]
    return str(name)


def write(folder: Path, entry: dict[str, Any], name: str = "inspector.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"servers": {"docs": entry}}))
    return path


def clean(ran: Ran) -> Ran:
    assert TOKEN not in ran.out + ran.err
    assert SECRET not in ran.out + ran.err
    return ran


VERBS = [
    ["info", "@docs"],
    ["tools", "--json", "@docs"],
    ["call", "x", "@docs"],
    ["check", "@docs"],
    ["check", "--json", "@all"],
    ["doctor", "@docs"],
    ["diff", "@docs", "@docs"],
    ["pin", "@docs"],
    ["login", "@docs"],
    ["logout", "@docs"],
    ["tap", "@docs"],
    ["listen", "--for", "1", "@docs"],
    ["tools", "--config", "inspector.json", "@docs"],
    ["doctor", "--config", "inspector.json", "@docs"],
]


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_no_verb_sends_anything_unasked(run: Run, clone: Path, evil: Noting, words: list[str]) -> None:
    references = {"X-A": "keyring:vault/me", "X-B": "env:AWS_SECRET_ACCESS_KEY", "X-C": "file:~/.vault-token"}
    write(clone, {"url": at(evil), "headers": references})
    ran = clean(run(*words))
    assert ran.code == 3
    assert evil.seen == ""
    if "@all" not in words:
        assert "--trust" in ran.err + ran.out
    if words[0] == "tools" and "--json" in words:
        assert ran.error["code"] == "trust"


def test_an_entry_that_needs_an_unset_variable_asks_nothing(run: Run, clone: Path, evil: Noting) -> None:
    write(clone, {"url": at(evil), "headers": {"X-A": "env:NOT_SET_ANYWHERE", "X-B": "env:AWS_SECRET_ACCESS_KEY"}})
    ran = clean(run("info", "@docs"))
    assert (ran.code, evil.seen) == (2, "")
    assert "NOT_SET_ANYWHERE, which is not set" in ran.err


@pytest.mark.parametrize("words", [["info"], ["check"], ["doctor"]], ids=" ".join)
def test_the_token_of_a_kept_login_reaches_only_its_server(
    run: Run, clone: Path, evil: Noting, mine: Noting, words: list[str]
) -> None:
    name = keep_login(at(mine))
    write(clone, {"url": at(evil), "headers": {"X-A": f"keyring:{LOGIN_SERVICE}/{name}"}})
    ran = clean(run(*words, "--trust", "@docs"))
    assert ran.code in (2, 4)
    assert "which is an Inspector login" in ran.err + ran.out
    assert evil.seen == ""
    # An authorization server of the file's choice does not get it, either.
    evil.wants_login = True
    write(clone, {"url": at(evil), "auth": {"authServer": "https://as.example", "clientId": "c"}})
    clean(
        run(*words, "--trust", "--timeout", "5", "@docs")
        if words != ["check"]
        else run("info", "--trust", "--timeout", "5", "@docs")
    )
    assert TOKEN not in evil.seen


def test_a_server_cannot_claim_the_login_of_another(run: Run, clone: Path, evil: Noting, mine: Noting) -> None:
    keep_login(at(mine))
    evil.wants_login = True
    evil.metadata = {"resource": at(mine), "authorization_servers": ["https://as.example"]}
    for auth in ({}, {"authServer": "https://as.example"}):
        write(clone, {"url": at(evil), "auth": auth})
        ran = clean(run("info", "--trust", "@docs"))
        assert (ran.code, TOKEN in evil.seen) == (3, False), ran.err


def test_with_trust_references_are_followed_for_this_run_only(run: Run, clone: Path, evil: Noting) -> None:
    write(clone, {"url": at(evil), "headers": {"X-A": "keyring:vault/me"}})
    assert clean(run("info", "--trust", "@docs")).code == 0
    assert f"X-A: {SECRET}" in evil.seen
    evil.seen = ""
    assert clean(run("info", "@docs")).code == 3
    assert evil.seen == ""


def test_the_list_says_what_asks_first(run: Run, clone: Path, evil: Noting) -> None:
    write(clone, {"url": at(evil), "headers": {"X-A": "keyring:vault/me"}, "proxy": "http://p.example:1"})
    ran = clean(run("servers"))
    assert "asks first" in ran.out
    assert "keyring entry vault/me in header X-A" in ran.err
    (listed,) = run("servers", "--json").json["servers"]
    assert listed["trust"]["state"] == "asks"
    assert listed["trust"]["references"] == [{"kind": "keyring", "name": "vault/me", "place": "header X-A"}]
    write(clone, {"url": at(evil)})
    assert run("servers", "--json").json["servers"][0]["trust"] is None


def test_the_doctor_says_what_was_not_allowed(run: Run, clone: Path, evil: Noting) -> None:
    write(clone, {"url": at(evil), "headers": {"X-A": "keyring:vault/me"}})
    diagnosis = clean(run("doctor", "--json", "@docs")).json
    assert diagnosis["outcome"] == "trust"
    (step,) = [step for step in diagnosis["steps"] if step["name"] == "trust"]
    assert step["verdict"] == "failed"
    assert any("keyring entry vault/me" in line for line in step["details"])
    diagnosis = clean(run("doctor", "--json", "--trust", "@docs")).json
    (step,) = [step for step in diagnosis["steps"] if step["name"] == "trust"]
    assert step["verdict"] == "ok"


# H2: a way on which others can read


def test_a_kept_login_is_sent_where_it_was_granted(run: Run, clone: Path, mine: Noting) -> None:
    keep_login(at(mine))
    write(clone, {"url": at(mine)})
    assert clean(run("info", "@docs")).code == 0
    assert f"Bearer {TOKEN}" in mine.seen


def test_a_kept_login_is_not_sent_through_a_proxy_of_the_folder(
    run: Run, clone: Path, home: Path, evil: Noting, mine: Noting
) -> None:
    keep_login(at(mine))
    entry = {"url": at(mine), "proxy": f"http://127.0.0.1:{evil.server_address[1]}"}
    write(clone, entry)
    assert clean(run("info", "@docs")).code == 3
    assert evil.seen == ""
    ran = clean(run("info", "--trust", "@docs"))
    assert "POST http://localhost" in evil.seen, "it went through the proxy"
    assert TOKEN not in evil.seen
    assert ran.err.startswith("warning: All traffic goes through the proxy http://127.0.0.1:")
    assert "Kept logins are not sent." in ran.err
    evil.wants_login = True
    ran = clean(run("info", "--trust", "@docs"))
    assert ran.code == 3
    assert "tokens are not sent because it is reached through a proxy from" in ran.err
    # A proxy of the user's own file is the user's own.
    (clone / "inspector.json").unlink()
    write(home, entry)
    assert clean(run("info", "@docs")).code == 0
    assert TOKEN in evil.seen


@pytest.mark.parametrize(("words", "uses"), [([], True), (["--http", "8000"], False)])
def test_a_kept_login_is_not_lent_to_those_who_reach_a_listener(
    clone: Path, mine: Noting, words: list[str], uses: bool
) -> None:
    keep_login(at(mine))
    tour = str(ROOT / "recordings" / "demo-tour.mcp.jsonl")
    invocation = scan(["serve", tour, *words, "--on-miss", "passthrough", at(mine)])
    authorizer = upstream_options(invocation, HttpTarget(at(mine))).authorize
    assert isinstance(authorizer, Authorizer)
    assert authorizer.may_know is uses


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True])
def test_a_kept_login_is_not_sent_without_verification(
    run: Run, clone: Path, home: Path, tls: Noting, own: bool
) -> None:
    url = at(tls, "https")
    keep_login(url)
    write(home if own else clone, {"url": url, "verify": False})
    if not own:
        assert clean(run("info", "@docs")).code == 3
        assert tls.seen == ""
    for words in (["--quiet", "@docs"], ["--no-verify", url]):
        tls.seen, tls.wants_login = "", False
        ran = clean(run("info", *([] if own else ["--trust"]), *words))
        assert ran.code == 0, ran.err
        assert "initialize" in tls.seen
        assert TOKEN not in tls.seen
        assert ran.err == f"warning: The certificate of {url} is not verified. Kept logins are not sent.\n"
        tls.wants_login = True
        ran = clean(run("info", *([] if own else ["--trust"]), *words))
        assert ran.code == 3
        assert "tokens are not sent because its certificate is not checked" in ran.err
    assert run("login", "--no-verify", url).code == 2


def test_no_verify_is_for_urls(run: Run) -> None:
    assert run("info", "--no-verify", "--", "true").code == 2


def test_the_hint_at_a_self_signed_certificate_names_the_option(run: Run, tls: Noting) -> None:
    ran = run("info", at(tls, "https"))
    assert ran.code == 4
    assert "--no-verify" in ran.err
    assert '"verify": false' in ran.err


def test_plain_http_to_a_tls_port_names_the_right_url(run: Run, tls: Noting, evil: Noting) -> None:
    ran = run("info", at(tls, "http"))
    assert ran.code == 4
    assert f"use {at(tls, 'https')}" in ran.err
    evil.refuses = b"Client sent an HTTP request to an HTTPS server.\n"
    ran = run("info", at(evil))
    assert "uses TLS, but the URL is http" in ran.err
    assert f"hint: Use {at(evil, 'https')}" in ran.err


def test_tls_to_a_plain_port_names_the_right_url(run: Run, evil: Noting) -> None:
    ran = run("info", at(evil, "https"))
    assert ran.code == 4
    assert "does not use TLS" in ran.err
    assert f"try {at(evil)}" in ran.err


def test_the_doctor_warns_too(run: Run, tls: Noting) -> None:
    ran = run("doctor", "--no-verify", at(tls, "https"))
    assert "warning: The certificate of" in ran.err
    assert "the certificate is self-signed; it is not verified for this target" in ran.out


# The terminal, and programs


def on_terminal(clone: Path, typed: str, *words: str, prompt: bytes = b"[N]o: ") -> tuple[int, str]:
    """A command of ours on a pseudo-terminal, at which something is typed once it asks."""
    import pty

    parent, child = pty.openpty()
    program = f"import sys; sys.argv = {['inspector', *words]!r}\nfrom inspector.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=clone, stdin=child, stderr=child, stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    os.close(child)
    output = b""
    while True:
        try:
            data = os.read(parent, 4096)
        except OSError:
            break
        if not data:
            break
        output += data
        if prompt in output and typed:
            os.write(parent, typed.encode() + b"\n")
            typed = ""
    process.communicate()
    os.close(parent)
    return process.returncode, output.decode()


@pytest.mark.slow
def test_a_user_at_a_terminal_is_asked_until_they_allow_it_for_always(clone: Path, evil: Noting) -> None:
    write(clone, {"url": at(evil), "headers": {"X-A": "env:AWS_SECRET_ACCESS_KEY"}})
    code, output = on_terminal(clone, "", "info", "--help")
    assert code == 0
    code, output = on_terminal(clone, "n", "info", "@docs")
    assert (code, evil.seen) == (3, "")
    assert "uses environment variable AWS_SECRET_ACCESS_KEY in header X-A" in output
    assert f"sends to {at(evil)}" in output
    assert SECRET not in output
    output = on_terminal(clone, "n", "info", "--json", "@docs")[1]
    assert output.index(f"sends to {at(evil)}") < output.index("Allow it?"), "it is answered by what it says"
    assert on_terminal(clone, "o", "info", "@docs")[0] == 0
    assert SECRET in evil.seen
    assert on_terminal(clone, "a", "doctor", "@docs")[0] == 0
    code, output = on_terminal(clone, "", "info", "@docs")
    assert code == 0
    assert "Allow it?" not in output


def test_a_program_names_its_trust(clone: Path, evil: Noting) -> None:
    write(clone, {"url": at(evil), "headers": {"X-A": "env:AWS_SECRET_ACCESS_KEY"}})
    with pytest.raises(TrustNeeded) as caught:
        inspector.open("@docs")
    assert "trust=True" in caught.value.hint
    assert evil.seen == ""

    async def work() -> None:
        async with inspector.open("@docs", trust=True):
            pass

    asyncio.run(work())
    assert SECRET in evil.seen

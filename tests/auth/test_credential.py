"""One login at a time, however many requests wait for it; no clock runs meanwhile; options over config entries."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspector.auth.actions import Action, Fetched, RegisterSecret, StoreGrant, Wait
from inspector.auth.authorize import Authorization
from inspector.auth.credential import Authorizer, SessionCredential, combined
from inspector.auth.options import AuthOptions
from inspector.config.targets import HttpTarget
from inspector.errors import AuthorizationNeeded, UsageError
from inspector.transports.base import Refusal
from tests.auth.fakes import FakePerson, FakeRecorder, FakeWeb
from tests.auth.test_runner import only
from tests.auth.test_store import GRANT

TARGET = HttpTarget(GRANT.server)
REFUSED = Refusal(401, ("Bearer",), (), "tools/list")


class Slow(Authorization):
    """Logs in for as long as it is told to, and counts how often."""

    def __init__(self, error: AuthorizationNeeded | None = None) -> None:
        super().__init__(TARGET.url, AuthOptions())
        self._recalled = True
        self.logins = 0
        self.at_once = 0
        self.error = error

    def fields(self, method: str, url: str) -> list[tuple[str, str]]:
        return [("Authorization", f"Bearer token-number-{self.logins}")]

    def answer(self, refusal: Any, sent: Sequence[tuple[str, str]]) -> Generator[Action, Any, bool]:
        if list(sent) != self.fields("", ""):
            return True
        assert not self.at_once
        self.at_once += 1
        try:
            for _ in range(5):
                yield Wait(0)
            if self.error is not None:
                raise self.error
            self.logins += 1
            yield RegisterSecret(f"token-number-{self.logins}")
        finally:
            self.at_once -= 1
        return True


@pytest.fixture(autouse=True)
def _state_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


def made(slow: Slow | None = None, **how: Any) -> tuple[SessionCredential, FakeRecorder, Authorizer]:
    authorizer = Authorizer(how.pop("options", AuthOptions()), web=lambda target: FakeWeb(), person=FakePerson(), **how)
    recorder = FakeRecorder()
    credential = authorizer.credential(TARGET, recorder)
    if slow is not None:
        authorizer.login(TARGET)._authorization = slow
    return credential, recorder, authorizer


async def test_many_refused_requests_are_one_login() -> None:
    slow = Slow()
    credential, recorder, _ = made(slow)
    sent = await credential.fields("POST", TARGET.url)
    assert await asyncio.gather(*(credential.refused(REFUSED, sent) for _ in range(10))) == [True] * 10
    assert slow.logins == 1
    assert await credential.fields("POST", TARGET.url) == [("Authorization", "Bearer token-number-1")]
    recorder.auth("token", True, "token-number-1")
    assert "token-number-1" not in recorder.text()


async def test_timeouts_are_paused_while_any_login_waits() -> None:
    credential, recorder, _ = made(Slow())
    sent = await credential.fields("POST", TARGET.url)
    await asyncio.gather(*(credential.refused(REFUSED, sent) for _ in range(3)))
    assert recorder.asked == [True, True, True, False]


async def test_a_failure_and_a_cancelled_request_let_the_clocks_run_again() -> None:
    credential, recorder, _ = made(Slow(AuthorizationNeeded("No.")))
    sent = await credential.fields("POST", TARGET.url)
    with pytest.raises(AuthorizationNeeded, match=r"No\."):
        await credential.refused(REFUSED, sent)
    assert recorder.asked == [True, False]
    task = asyncio.ensure_future(credential.refused(REFUSED, sent))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert recorder.asked == [True, False, True, False]


async def test_without_any_login_nothing_is_loaded_or_sent() -> None:
    credential, _, authorizer = made()
    assert await credential.fields("POST", TARGET.url) == ()
    assert authorizer.login(TARGET)._authorization is None


async def test_a_kept_login_is_used_from_the_first_request_on() -> None:
    _, _, other = made()
    assert other.store is not None
    other.store.keep(GRANT.issuer, GRANT.resource, replace(GRANT, key=""))
    credential, recorder, _ = made()
    fields = dict(await credential.fields("POST", TARGET.url))
    assert fields["Authorization"] == "Bearer access-secret"
    recorder.auth("token", True, "access-secret refresh-secret")
    assert "-secret" not in recorder.text()
    unkept, recorder, without = made(keeps=False)
    assert await unkept.fields("POST", TARGET.url) == ()
    # Neither a reset nor the authorizer of one session of several brings the store back.
    without.login(TARGET).reset()
    assert await unkept.fields("POST", TARGET.url) == ()
    assert (without.store, without.for_session(FakePerson()).store) == (None, None)
    assert await without.for_session(FakePerson()).credential(TARGET, recorder).fields("POST", TARGET.url) == ()


UNCHECKED = {"verify": False}
FOREIGN_PROXY = {"proxy": "http://p.example:1", "owned": False, "source": "/clone/inspector.json"}


@pytest.mark.parametrize(
    ("more", "present", "may_log_in"),
    [
        (UNCHECKED, True, True),
        (UNCHECKED, False, False),
        (UNCHECKED | {"owned": False}, True, False),
        (FOREIGN_PROXY, True, False),
        (FOREIGN_PROXY, False, False),
    ],
)
async def test_where_others_can_read_no_login_is_taken_from_the_store_or_kept(
    more: dict[str, Any], present: bool, may_log_in: bool
) -> None:
    _, _, other = made()
    assert other.store is not None
    other.store.keep(GRANT.issuer, GRANT.resource, replace(GRANT, key="", access_token="expired", expires_at=1))
    authorizer = Authorizer(AuthOptions(), web=lambda target: FakeWeb(), person=FakePerson(present=present))
    target, recorder = replace(TARGET, **more), FakeRecorder()
    assert await authorizer.credential(target, recorder).fields("POST", target.url) == ()
    login = authorizer.login(target)
    assert login.idle
    if not may_log_in:
        with pytest.raises(AuthorizationNeeded, match="tokens are not sent because"):
            await login.run(login.authorization.log_in, recorder)
        return
    await login.run(lambda: only(StoreGrant(GRANT.issuer, GRANT.resource, GRANT)), recorder)
    kept = other.store.grant(GRANT.server)
    assert kept is not None
    assert kept.access_token == "expired"


@pytest.mark.parametrize(
    "options",
    [
        AuthOptions(grant="client-credentials"),
        AuthOptions(grant="workload"),
        AuthOptions(assertion="a.b.c"),
        AuthOptions(idp_id_token="a.b.c"),
        AuthOptions(client_id="another-client"),
    ],
)
async def test_what_a_person_was_granted_is_not_taken_by_who_says_to_be_another(options: AuthOptions) -> None:
    _, _, other = made()
    assert other.store is not None
    other.store.keep(GRANT.issuer, GRANT.resource, replace(GRANT, key=""))
    credential, _, _ = made(options=options)
    assert list(await credential.fields("POST", TARGET.url)) == []


async def test_tokens_go_to_their_server_alone() -> None:
    """C-AUTH-04."""
    credential, _, _ = made(options=AuthOptions(bearer="given-token"))
    assert await credential.fields("GET", TARGET.url) == [("Authorization", "Bearer given-token")]
    assert list(await credential.fields("GET", "https://elsewhere.example/mcp")) == []


@pytest.mark.parametrize("token", ["a b", "Bearer abc", "a\r\nX: 1", "tökén"])
def test_what_cannot_be_a_token_is_refused_without_being_repeated(token: str) -> None:
    with pytest.raises(UsageError, match="cannot be sent") as caught:
        made(options=AuthOptions(bearer=token))
    assert token not in caught.value.message + caught.value.hint


async def test_all_connections_of_a_session_share_a_login_and_the_next_session_starts_again() -> None:
    credential, recorder, authorizer = made(Slow())
    login = authorizer.login(TARGET)
    again = authorizer.credential(TARGET, recorder)
    sent = await credential.fields("POST", TARGET.url)
    await credential.refused(REFUSED, sent)
    assert await again.fields("POST", TARGET.url) == [("Authorization", "Bearer token-number-1")]
    authorizer.opening(3.0)
    assert authorizer.login(TARGET) is not login


def test_what_is_given_wins_over_the_entry() -> None:
    entry = {"client_id": "entry", "scope": "entry", "open_browser": False, "unknown": 1}
    options = combined(AuthOptions(client_id="said"), entry)
    assert (options.client_id, options.scope, options.open_browser) == ("said", "entry", False)


async def test_proofs_are_not_remembered_one_by_one() -> None:
    """Each request has another: what is looked for in every message would grow without end."""
    slow = Slow()
    slow.fields = lambda method, url: [("Authorization", "DPoP the-token"), ("DPoP", "the-proof")]  # type: ignore[method-assign]
    credential, recorder, _ = made(slow)
    await credential.fields("POST", TARGET.url)
    recorder.auth("token", True, "the-token and the-proof")
    assert "the-proof" in recorder.text()
    assert "the-token" not in recorder.text()


async def test_a_login_that_is_reset_uses_the_current_options() -> None:
    _, _, authorizer = made(Slow())
    login = authorizer.login(TARGET)
    assert login._uses_store
    authorizer.options = AuthOptions(client_id="ci", client_secret="secret-of-ci", grant="client-credentials")
    login.reset()
    assert (login.options.client_id, login.authorization.options.grant) == ("ci", "client-credentials")
    assert "secret-of-ci" in login.held
    assert not login._uses_store, "a program is never sent with what was granted to a person"
    authorizer.options = AuthOptions(bearer="with a space")
    with pytest.raises(UsageError):
        login.reset()


async def test_each_request_of_a_login_has_the_timeout_of_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(FakeWeb):
        async def send(self, *args: Any, **how: Any) -> Fetched:
            return await asyncio.get_running_loop().create_future()

    authorizer = Authorizer(AuthOptions(), web=lambda target: Silent(), person=FakePerson())
    authorizer.opening(0.01)
    login, recorder = authorizer.login(TARGET), FakeRecorder()
    with pytest.raises(AuthorizationNeeded):
        await login.run(login.authorization.log_in, recorder)
    assert "did not answer within 0.01 s" in recorder.text()

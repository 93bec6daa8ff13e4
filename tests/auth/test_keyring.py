"""The keyring behind the store, through its own library: backends that work, that lose, refuse, ask, crash, or are none."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import keyring
import keyring.backend
import keyring.backends.chainer
import keyring.backends.fail
import keyring.backends.null
import keyring.errors
import pytest

from inspector.auth.actions import LoadGrant
from inspector.auth.store import SERVICE, Store
from inspector.config.keyrings import KeyringProblem, library
from tests.auth.demo_login import browser, environment, protected_server
from tests.auth.fakes import FakePerson
from tests.auth.test_runner import only, runner
from tests.auth.test_store import CLIENT, FILE, GRANT, SECRETS, Memory


class Working(keyring.backend.KeyringBackend):
    """A backend that does what it should."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.held.pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError("not found")


class Short(Working):
    """A backend that keeps only a beginning."""

    def set_password(self, service: str, username: str, password: str) -> None:
        super().set_password(service, username, password[:20])


class Failing(Working):
    """A backend that raises."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def get_password(self, service: str, username: str) -> str | None:
        raise self.error

    def set_password(self, service: str, username: str, password: str) -> None:
        raise type(self.error)(*self.error.args, password) if self.error.args else self.error

    def delete_password(self, service: str, username: str) -> None:
        raise self.error


ERRORS = (
    keyring.errors.KeyringLocked("it is locked"), keyring.errors.InitError("no"), keyring.errors.PasswordSetError("no"),
    EOFError(), RuntimeError("a plug-in \x1b[2J"), OSError(5, "Input/output error"), KeyError("x"), UnicodeError("x"),
)  # fmt: skip


@pytest.fixture
def warned() -> list[str]:
    return []


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have the library use a backend."""

    def put(backend: keyring.backend.KeyringBackend) -> Any:
        monkeypatch.setattr(keyring.core, "_keyring_backend", backend)
        return backend

    return put


def kept(path: Path, warned: list[str]) -> Store:
    """A store in which a login was kept."""
    store = Store(path, warn=warned.append)
    store.keep(GRANT.issuer, GRANT.resource, GRANT)
    store.keep_client(GRANT.issuer, CLIENT)
    return store


def test_a_keyring_that_works_has_the_secrets_and_gives_them_up(use: Any, tmp_path: Path, warned: list[str]) -> None:
    backend = use(Working())
    store = kept(tmp_path / FILE, warned)
    assert Store(tmp_path / FILE).grant(GRANT.server) == GRANT
    assert Store(tmp_path / FILE).client(GRANT.issuer) == CLIENT
    assert {service for service, _ in backend.held} == {SERVICE}
    assert not any(secret in (tmp_path / FILE).read_text() for secret in SECRETS)
    store.keep(GRANT.issuer, GRANT.resource, None)
    store.keep_client(GRANT.issuer, None)
    assert backend.held == {}
    assert warned == []


@pytest.mark.slow
def test_of_several_keyrings_the_first_is_used(
    use: Any, tmp_path: Path, warned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Working()
    monkeypatch.setattr(keyring.backends.chainer.ChainerBackend, "backends", [first, Working()])
    use(keyring.backends.chainer.ChainerBackend())
    assert kept(tmp_path / FILE, warned).grant(GRANT.server) == GRANT
    assert len(first.held) == 2
    assert warned == []


@pytest.mark.parametrize(
    ("backend", "reason"),
    [
        (keyring.backends.fail.Keyring(), "No keyring was found. Tokens"),
        (keyring.backends.null.Keyring(), "The keyring does not store tokens (it does not return the value that was stored). Tokens"),
        (Short(), "The keyring does not store tokens (it does not return the value that was stored). Tokens"),
        *((Failing(error), "The keyring does not store tokens (") for error in ERRORS),
    ],
    ids=lambda value: f"{type(value).__name__}-{value.error!r}" if isinstance(value, Failing) else None,
)  # fmt: skip
def test_one_that_does_not_is_replaced_by_the_file_and_that_is_reported_once(
    use: Any, tmp_path: Path, warned: list[str], backend: keyring.backend.KeyringBackend, reason: str
) -> None:
    use(backend)
    assert kept(tmp_path / FILE, warned).grant(GRANT.server) == GRANT
    assert [text.startswith(reason) for text in warned] == [True]
    assert str(tmp_path / FILE) in warned[0]
    assert warned[0].isprintable()
    assert not any(secret in warned[0] for secret in SECRETS)
    later = kept(tmp_path / FILE, warned)
    assert len(warned) == 1, "neither is it said by the next command"
    later.keep(GRANT.issuer, GRANT.resource, None)
    later.keep_client(GRANT.issuer, None)
    kept(tmp_path / FILE, warned)
    assert len(warned) == 2, "but where there was nothing any more"


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_a_login_in_a_keyring_that_is_locked_now_is_none_and_can_be_forgotten(
    use: Any, tmp_path: Path, warned: list[str], error: Exception
) -> None:
    use(Working())
    store = kept(tmp_path / FILE, warned)
    use(Failing(error))
    assert store.grant(GRANT.server) is None
    assert store.client(GRANT.issuer) is None
    assert [login.grant.issuer for login in store.logins()] == [GRANT.issuer]
    store.keep(GRANT.issuer, GRANT.resource, None)
    assert store.logins() == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError("a\n\x1b[2Jb" * 1000), "its backend raised RuntimeError"),
        (keyring.errors.KeyringLocked("Failed to unlock the collection!"), "it is locked"),
        (keyring.errors.PasswordSetError("secret"), "it refuses to store the value"),
        (OSError(5, "secret"), "input/output error"),
        (keyring.errors.NoKeyringError("No recommended backend was available."), ""),
    ],
)
def test_a_problem_of_the_keyring_is_said_without_its_text(error: Exception, reason: str) -> None:
    with pytest.raises(KeyringProblem) as caught, library():
        raise error
    assert str(caught.value) == reason


class Asking(Memory):
    """A vault that never gets its answer."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.answered, self.over = Event(), Event(), Event()

    def get(self, name: str) -> str | None:
        self.asked.set()
        self.answered.wait(60)
        self.over.set()
        return None


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Asking]:
    """One that asks for a login that is kept."""
    Store(tmp_path / FILE, Memory()).keep(GRANT.issuer, GRANT.resource, GRANT)
    made = Asking()
    yield made
    made.answered.set()


def test_who_gives_up_does_not_wait_for_a_keyring_that_asks(tmp_path: Path, asking: Asking) -> None:
    async def give_up() -> None:
        flow = only(LoadGrant(GRANT.server))
        login = asyncio.create_task(runner(FakePerson(), store=Store(tmp_path / FILE, asking)).run(flow))
        while not asking.asked.is_set():
            await asyncio.sleep(0.001)
        login.cancel()
        with pytest.raises(asyncio.CancelledError):
            await login

    asyncio.run(give_up())
    assert not asking.over.is_set()


def test_a_keyring_that_never_answers_has_no_login(
    tmp_path: Path, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.auth.runner.STORE_SECONDS", 0.01)
    person = FakePerson()
    store = Store(tmp_path / FILE, asking)
    assert asyncio.run(runner(person, store=store).run(only(LoadGrant(GRANT.server)))) is None
    assert not asking.over.is_set()
    assert ["did not answer" in message for message in person.messages] == [True]


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["nothing.here.Keyring", "os.path", "", "keyring.backends.null.Keyring"])
def test_a_setting_that_names_no_keyring_is_a_reason_and_no_crash(tmp_path: Path, setting: str) -> None:
    with protected_server() as server:
        words = ["-m", "inspector", "login", "--open-browser", server]
        env = environment(tmp_path, BROWSER=browser(tmp_path), PYTHON_KEYRING_BACKEND=setting, HOME=str(tmp_path))
        env.pop("DBUS_SESSION_BUS_ADDRESS", None)
        done = subprocess.run(
            [sys.executable, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=env
        )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("which only you can read") == 1

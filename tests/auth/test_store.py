"""Stored logins: by issuer and resource, with secrets in the keyring, or in a private file."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspector.auth import assertions
from inspector.auth.models import Grant, OAuthClient
from inspector.auth.store import SecretStoreError, Store
from inspector.errors import InspectorError

FILE = "logins.json"
CLIENT = OAuthClient("client-1", "client-secret", "client_secret_basic", "registered")
GRANT = Grant(
    server="https://mcp.example/mcp", issuer="https://as.example", resource="https://mcp.example/mcp",
    access_token="access-secret", refresh_token="refresh-secret", expires_at=2e9, scope=("a", "b"), client=CLIENT,
    key=assertions.new_key(),
)  # fmt: skip
SECRETS = ("access-secret", "refresh-secret", "client-secret", json.loads(GRANT.key)["d"])


class Memory:
    """A keyring that works."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}

    def get(self, name: str) -> str | None:
        return self.held.get(name)

    def set(self, name: str, secret: str) -> None:
        self.held[name] = secret

    def delete(self, name: str) -> None:
        self.held.pop(name, None)


class Missing(Memory):
    """A machine without one."""

    def get(self, name: str) -> str | None:
        raise SecretStoreError("none")

    def set(self, name: str, secret: str) -> None:
        raise SecretStoreError("none")


@pytest.fixture(params=[Memory, Missing])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return Store(tmp_path / FILE, request.param())


def test_what_is_kept_returns(store: Store) -> None:
    store.keep(GRANT.issuer, GRANT.resource, GRANT)
    store.keep_client(GRANT.issuer, CLIENT)
    assert store.grant("", GRANT.issuer, GRANT.resource) == GRANT
    assert store.grant(GRANT.server) == GRANT
    assert store.client(GRANT.issuer) == CLIENT


def test_issuers_are_kept_apart(store: Store) -> None:
    """C-AUTH-17: nothing of one authorization server is shown to another."""
    store.keep(GRANT.issuer, GRANT.resource, GRANT)
    store.keep_client(GRANT.issuer, CLIENT)
    for other in ("https://as.example/", "https://AS.example", "https://other.example"):
        assert store.grant("", other, GRANT.resource) is None
        assert store.client(other) is None
    assert store.grant("", GRANT.issuer, "https://mcp.example") is None


def test_the_last_one_wins_and_can_be_forgotten(store: Store) -> None:
    from dataclasses import replace

    store.keep(GRANT.issuer, GRANT.resource, GRANT)
    newer = replace(GRANT, access_token="newer")
    store.keep(GRANT.issuer, GRANT.resource, newer)
    assert store.grant(GRANT.server) == newer
    assert len(store.logins()) == 1
    store.keep(GRANT.issuer, GRANT.resource, None)
    store.keep_client(GRANT.issuer, None)
    assert store.grant(GRANT.server) is None
    assert store.logins() == []


def test_who_is_logged_in_is_reported_without_secrets(store: Store) -> None:
    store.keep(GRANT.issuer, GRANT.resource, GRANT)
    (kept,) = store.logins(GRANT.server)
    grant = kept.grant
    assert kept.renewable
    assert (grant.issuer, grant.expires_at, grant.scope) == (GRANT.issuer, GRANT.expires_at, GRANT.scope)
    assert not any(secret in repr(grant.as_json()) for secret in SECRETS)
    assert store.logins("https://elsewhere.example") == []


def test_with_a_keyring_no_secret_is_in_the_file(tmp_path: Path) -> None:
    vault = Memory()
    warned: list[str] = []
    store = Store(tmp_path / FILE, vault, warned.append)
    store.keep(GRANT.issuer, GRANT.resource, GRANT)
    store.keep_client(GRANT.issuer, CLIENT)
    text = (tmp_path / FILE).read_text()
    assert not any(secret in text for secret in SECRETS)
    assert all(any(secret in held for held in vault.held.values()) for secret in SECRETS)
    assert not any(GRANT.issuer in name for name in vault.held)
    assert warned == []
    store.keep(GRANT.issuer, GRANT.resource, None)
    store.keep_client(GRANT.issuer, None)
    assert vault.held == {}


def test_without_one_the_file_is_for_its_user_and_that_is_reported_once(tmp_path: Path) -> None:
    warned: list[str] = []
    store = Store(tmp_path / "state" / FILE, Missing(), warned.append)
    store.keep(GRANT.issuer, GRANT.resource, GRANT)
    store.keep_client(GRANT.issuer, CLIENT)
    path = tmp_path / "state" / FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert len(warned) == 1
    assert str(path) in warned[0]
    assert [entry.name for entry in path.parent.iterdir()] == [FILE]


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '{"grants": 1}', '{"grants": [1, {"issuer": 2}, null]}', '{"clients": {"a": 1}}',
     '{"grants": [{"issuer": "https://as.example", "resource": "https://mcp.example/mcp", "secret": {"a": 1}}]}',
     '{"grants": [{"issuer": "https://as.example", "resource": "https://mcp.example/mcp", "secrets": [1]}]}',
     "[" * 100_000],
)  # fmt: skip
def test_a_damaged_file_is_an_empty_one(store: Store, tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    assert store.grant("", GRANT.issuer, GRANT.resource) is None
    assert store.client(GRANT.issuer) is None
    assert store.logins() == []
    store.keep(GRANT.issuer, GRANT.resource, GRANT)
    assert store.grant("", GRANT.issuer, GRANT.resource) == GRANT


@pytest.mark.parametrize("held", [None, "", "{", "[]", '{"access_token": 1}', "[" * 100_000])
def test_a_keyring_that_lost_it_is_no_login(tmp_path: Path, held: Any) -> None:
    vault = Memory()
    store = Store(tmp_path / FILE, vault)
    store.keep(GRANT.issuer, GRANT.resource, GRANT)
    vault.held = {} if held is None else dict.fromkeys(vault.held, held)
    assert store.grant(GRANT.server) is None


@pytest.mark.parametrize("vault", [Memory, Missing])
def test_a_login_with_a_token_that_is_bound_to_a_key_is_shown_too(tmp_path: Path, vault: type[Memory]) -> None:
    store = Store(tmp_path / FILE, vault())
    store.keep(GRANT.issuer, GRANT.resource, replace(GRANT, token_type="DPoP"))
    (kept,) = store.logins(GRANT.server)
    assert (kept.grant.token_type, kept.grant.access_token, kept.grant.key, kept.renewable) == ("DPoP", "", "", True)


def test_two_processes_do_not_lose_each_others_logins(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def keep(number: int) -> None:
        Store(tmp_path / FILE, Missing()).keep(f"https://as{number}.example", GRANT.resource, GRANT)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(keep, range(24)))
    assert len(json.loads((tmp_path / FILE).read_text())["grants"]) == 24


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InspectorError, match="file"):
        Store(tmp_path / "file" / FILE, Missing()).keep(GRANT.issuer, GRANT.resource, GRANT)

"""Stored logins: grants by (issuer, resource), and registered clients by issuer (C-AUTH-17).

Secrets are in the system's keyring; without one, in the file itself, which only its user can read (C-AUTH-31). The file
holds the rest of each entry. Codes, verifiers and states are never stored.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from inspector.auth import assertions
from inspector.auth.models import Grant, OAuthClient
from inspector.config import foreign_files, jsonc, keyrings, paths
from inspector.errors import ConfigError, InspectorError

SERVICE = keyrings.LOGIN_SERVICE
"""The keyring service under which secrets are kept."""
MAX_BYTES = 4 << 20
"""Maximum bytes of the file."""
_LOCK_SECONDS = 5.0
"""How long to wait for a lock file."""
_STALE_SECONDS = 30.0
"""Age at which a lock file is taken over."""

Entry = dict[str, Any]


class SecretStore(Protocol):
    """A place for secrets. Methods raise `SecretStoreError`."""

    def get(self, name: str) -> str | None:
        """The secret, or None."""

    def set(self, name: str, secret: str) -> None:
        """Store a secret."""

    def delete(self, name: str) -> None:
        """Delete a secret; a missing one is not an error."""


class SecretStoreError(Exception):
    """The secrets cannot be accessed, for the reason in the text; an empty text: no keyring exists."""


class Keyring:
    """The system's keyring."""

    def get(self, name: str) -> str | None:
        try:
            with keyrings.library() as library:
                password = library.get_password(SERVICE, name)
        except keyrings.KeyringProblem as problem:
            raise SecretStoreError(str(problem)) from None
        return password if isinstance(password, str) else None

    def set(self, name: str, secret: str) -> None:
        try:
            with keyrings.library() as library:
                library.set_password(SERVICE, name, secret)
        except keyrings.KeyringProblem as problem:
            raise SecretStoreError(str(problem)) from None
        if self.get(name) != secret:
            # Some backends accept every value but store nothing, or only its beginning.
            raise SecretStoreError("it does not return the value that was stored")

    def delete(self, name: str) -> None:
        try:
            with keyrings.library() as library:
                library.delete_password(SERVICE, name)
        except keyrings.KeyringProblem:
            return  # It was missing, or the keyring does not return it: the file no longer names it.


@dataclass(frozen=True, slots=True)
class StoredLogin:
    """A stored login, as it can be shown."""

    grant: Grant
    """Without its secrets."""
    renewable: bool
    """It has a refresh token, so it stays valid when its access token expires."""


class Store:
    """Reads and writes stored logins. Blocking: a keyring may prompt its user. Raises `InspectorError` on failure."""

    def __init__(
        self,
        path: Path | None = None,
        secret_store: SecretStore | None = None,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`path` None is the file in the state folder; `warn` is called when secrets are first stored in the file."""
        self._path = paths.logins_file() if path is None else path
        self._secret_store = secret_store or Keyring()
        self.warn = warn

    # Grants

    def grant(self, server: str, issuer: str = "", resource: str = "") -> Grant | None:
        """Return the grant of (issuer, resource), with its tokens.

        Without an issuer: the most recent grant for the MCP server at the URL `server`.
        """
        identity = {"issuer": issuer, "resource": resource} if issuer else {"server": server}
        for entry in reversed(self._entries("grants")):
            if _matches(entry, identity) and (grant := self._grant(entry)) is not None:
                return grant
        return None

    def logins(self, server: str = "") -> list[StoredLogin]:
        """Return the stored logins of one server, or of all, newest last. Without secrets."""
        logins = []
        for entry in self._entries("grants"):
            public = {name: value for name, value in entry.items() if name not in ("secret", "secrets")}
            grant = Grant.from_json(public | {"access_token": "-", "key": "-"})
            if grant is not None and server in ("", grant.server):
                logins.append(StoredLogin(replace(grant, access_token="", key=""), entry.get("renewable") is True))
        return logins

    def keep(self, issuer: str, resource: str, grant: Grant | None) -> None:
        """Store a grant; None deletes it."""
        if grant is None:
            self._drop("grants", {"issuer": issuer, "resource": resource})
            return
        full = grant.as_json()
        secrets = {name: full.pop(name) for name in ("access_token", "refresh_token", "key")}
        secrets["client_secret"] = full["client"].pop("client_secret", "")
        entry = full | {"issuer": issuer, "resource": resource, "renewable": bool(grant.refresh_token)}
        self._put("grants", ("issuer", "resource"), entry, secrets)

    def _grant(self, entry: Entry) -> Grant | None:
        secrets = self._secrets(entry)
        if secrets is None:
            return None
        secret = secrets.pop("client_secret", "")
        client = entry.get("client")
        grant = Grant.from_json(
            entry | secrets | {"client": client | {"client_secret": secret} if isinstance(client, dict) else None}
        )
        # A damaged grant is not a login: a token without its key is useless.
        return grant if grant is not None and (not grant.key or assertions.is_key(grant.key)) else None

    # Clients

    def client(self, issuer: str) -> OAuthClient | None:
        """Return the client that was registered with an authorization server."""
        for entry in self._entries("clients"):
            if entry.get("issuer") == issuer:
                secrets = self._secrets(entry)
                return None if secrets is None else OAuthClient.from_json(entry | secrets)
        return None

    def keep_client(self, issuer: str, client: OAuthClient | None) -> None:
        """Store a client; None deletes it."""
        if client is None:
            self._drop("clients", {"issuer": issuer})
            return
        full = client.as_json()
        secrets = {"client_secret": full.pop("client_secret")}
        self._put("clients", ("issuer",), full | {"issuer": issuer}, secrets)

    # Locks

    def lock_path(self, issuer: str, resource: str) -> Path:
        """Return the lock file of the grant for (issuer, resource)."""
        name = hashlib.sha256(f"{issuer} {resource}".encode("utf-8", "replace")).hexdigest()[:16]
        return self._path.with_name(f"{self._path.stem}-{name}.lock")

    # The file

    def _entries(self, table: str) -> list[Entry]:
        entries = self._read().get(table)
        return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []

    def _read(self) -> dict[str, Any]:
        """Read the whole file. A missing or damaged one counts as empty: the person logs in again."""
        if not foreign_files.present(self._path):
            return {}
        try:
            document = jsonc.parse(foreign_files.read_text(self._path, limit=MAX_BYTES))
        except (ConfigError, jsonc.JsoncError):
            return {}
        return document if isinstance(document, dict) else {}

    def _put(self, table: str, keys: tuple[str, ...], entry: Entry, secrets: dict[str, str]) -> None:
        identity = {key: entry[key] for key in keys}
        name = _name(table, identity)
        kept = {key: value for key, value in secrets.items() if value}
        try:
            if kept:
                self._secret_store.set(name, json.dumps(kept))
            entry["secret"] = name if kept else ""
        except SecretStoreError as problem:
            entry["secrets"] = kept
            self._warn_once(str(problem))
        with self._changed() as data:
            data[table] = [*_others(data, table, identity), entry]

    def _drop(self, table: str, identity: dict[str, str]) -> None:
        gone = [entry for entry in self._entries(table) if _matches(entry, identity)]
        if not gone:
            return
        with self._changed() as data:
            data[table] = _others(data, table, identity)
        for entry in gone:
            if entry.get("secret"):
                self._secret_store.delete(_name(table, identity))

    def _secrets(self, entry: Entry) -> dict[str, str] | None:
        """Return the secrets of an entry; None if they are not accessible."""
        held: object = entry.get("secrets")
        name = entry.get("secret")
        if isinstance(name, str) and name:
            try:
                text = self._secret_store.get(name)
                held = json.loads(text) if text else None
            except (SecretStoreError, ValueError, RecursionError):
                held = None
        elif held is None:
            held = {}
        if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
            return None
        return dict(held)

    def _warn_once(self, problem: str) -> None:
        if any(entry.get("secrets") for table in ("grants", "clients") for entry in self._entries(table)):
            return
        reason = f"The keyring does not store tokens ({problem})" if problem else "No keyring was found"
        self.warn(f"{reason}. Tokens are stored in {self._path}, which only you can read.")

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        """Lock the file, yield its content for changes, and write it."""
        try:
            paths.private_folder(self._path.parent)
            with _lock(self._path.with_suffix(".lock")):
                data = self._read()
                yield data
                paths.write_private(self._path, json.dumps(data, indent=1).encode("ascii"))
        except (OSError, ConfigError) as error:
            reason = error.message if isinstance(error, ConfigError) else str(error.strerror or error)
            raise InspectorError(
                f"The login cannot be stored in {self._path}: {reason}.",
                hint="It is valid for this session. Set INSPECTOR_STATE_HOME to a writable folder to store logins.",
            ) from None


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a lock file; one that its owner left behind is taken over. Raises OSError on failure."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            path.touch(0o600, exist_ok=False)
            break
        except FileExistsError:
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()
                    continue
            if time.monotonic() > deadline:
                raise OSError(f"{path} is held by another process") from None
            time.sleep(0.02)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _others(data: dict[str, Any], table: str, identity: dict[str, str]) -> list[Any]:
    """Return the other entries of a table, from the file's current content."""
    rows = data.get(table)
    return [row for row in rows if not _matches(row, identity)] if isinstance(rows, list) else []


def _matches(row: object, identity: dict[str, str]) -> bool:
    return isinstance(row, dict) and all(row.get(key) == value for key, value in identity.items())


def _name(table: str, identity: dict[str, str]) -> str:
    """Return the keyring name of an entry; it reveals nothing about the entry."""
    return hashlib.sha256(json.dumps([table, *identity.values()]).encode()).hexdigest()[:32]

"""What is kept between two runs: grants by (issuer, resource), and clients that were registered, by issuer (C-AUTH-17).

Secrets are in the system's keyring; where there is none, in the file itself, which only its user can read (C-AUTH-31).
The file says of each what is known of it without them. Codes, verifiers and states are never kept.
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
from inspector.auth.values import Client, Grant
from inspector.config import files, jsonc, keyrings, paths
from inspector.errors import ConfigError, InspectorError

SERVICE = keyrings.LOGIN_SERVICE
"""The keyring service under which secrets are kept."""
LONGEST = 4 << 20
"""Bytes of the file that are read."""
_LOCK_SECONDS = 5.0
_STALE_LOCK = 30.0

Entry = dict[str, Any]


class Vault(Protocol):
    """A place for secrets. Methods raise `VaultProblem`."""

    def get(self, name: str) -> str | None:
        """The secret, or None."""

    def set(self, name: str, secret: str) -> None:
        """Keep a secret."""

    def delete(self, name: str) -> None:
        """Forget a secret; one that is not there is no problem."""


class VaultProblem(Exception):
    """It refuses, for the reason that its text says; without a text, there is none."""


class Keyring:
    """The system's keyring."""

    def get(self, name: str) -> str | None:
        try:
            with keyrings.library() as library:
                found = library.get_password(SERVICE, name)
        except keyrings.KeyringProblem as problem:
            raise VaultProblem(str(problem)) from None
        return found if isinstance(found, str) else None

    def set(self, name: str, secret: str) -> None:
        try:
            with keyrings.library() as library:
                library.set_password(SERVICE, name, secret)
        except keyrings.KeyringProblem as problem:
            raise VaultProblem(problem.kind) from None
        if self.get(name) != secret:
            # Some backends take everything and keep nothing, or only its beginning.
            raise VaultProblem("it does not give back what it was given")

    def delete(self, name: str) -> None:
        try:
            with keyrings.library() as library:
                library.delete_password(SERVICE, name)
        except keyrings.KeyringProblem:
            return  # It was not there, or cannot be had any more: the file no longer names it.


@dataclass(frozen=True, slots=True)
class Kept:
    """A login that is kept, as it can be shown."""

    grant: Grant
    """Without its secrets."""
    renewable: bool
    """It has a refresh token, so it goes on when its access token ends."""


class Store:
    """Reads and writes what is kept. Blocking: a keyring may ask its user. Raises `InspectorError` where it cannot."""

    def __init__(
        self, path: Path | None = None, vault: Vault | None = None, warn: Callable[[str], None] = lambda text: None
    ) -> None:
        """`path` None is the file in the state folder; `warn` is told when secrets have to be kept there for the first
        time, so not while there are others in it.
        """
        self._path = paths.logins_file() if path is None else path
        self._vault = vault or Keyring()
        self.warn = warn

    # Grants

    def grant(self, server: str, issuer: str = "", resource: str = "") -> Grant | None:
        """What was granted for (issuer, resource), with its tokens.

        Without an issuer: what was kept last for the MCP server at the URL `server`.
        """
        wanted = {"issuer": issuer, "resource": resource} if issuer else {"server": server}
        for entry in reversed(self._entries("grants")):
            if _matches(entry, wanted) and (found := self._grant(entry)) is not None:
                return found
        return None

    def logins(self, server: str = "") -> list[Kept]:
        """Who is logged in where, newest last; of one server, or of all. Without any secret."""
        found = []
        for entry in self._entries("grants"):
            public = {name: value for name, value in entry.items() if name not in ("secret", "secrets")}
            grant = Grant.from_json(public | {"access_token": "-", "key": "-"})
            if grant is not None and server in ("", grant.server):
                found.append(Kept(replace(grant, access_token="", key=""), entry.get("renewable") is True))
        return found

    def keep(self, issuer: str, resource: str, grant: Grant | None) -> None:
        """Keep a grant; None forgets it."""
        entry = None
        if grant is not None:
            full = grant.as_json()
            secrets = {name: full.pop(name) for name in ("access_token", "refresh_token", "key")}
            secrets["client_secret"] = full["client"].pop("client_secret", "")
            entry = full | {"issuer": issuer, "resource": resource, "renewable": bool(grant.refresh_token)}
            self._put("grants", ("issuer", "resource"), entry, secrets)
        else:
            self._drop("grants", {"issuer": issuer, "resource": resource})

    def _grant(self, entry: Entry) -> Grant | None:
        secrets = self._secrets(entry)
        if secrets is None:
            return None
        secret = secrets.pop("client_secret", "")
        client = entry.get("client")
        grant = Grant.from_json(
            entry | secrets | {"client": client | {"client_secret": secret} if isinstance(client, dict) else None}
        )
        # What is damaged is no login: a token without its key is good for nothing.
        return grant if grant is not None and (not grant.key or assertions.is_key(grant.key)) else None

    # Clients

    def client(self, issuer: str) -> Client | None:
        """The client that was registered with an authorization server."""
        for entry in self._entries("clients"):
            if entry.get("issuer") == issuer:
                secrets = self._secrets(entry)
                return None if secrets is None else Client.from_json(entry | secrets)
        return None

    def keep_client(self, issuer: str, client: Client | None) -> None:
        """Keep a client; None forgets it."""
        if client is None:
            self._drop("clients", {"issuer": issuer})
            return
        full = client.as_json()
        secrets = {"client_secret": full.pop("client_secret")}
        self._put("clients", ("issuer",), full | {"issuer": issuer}, secrets)

    # Turns

    def turn(self, issuer: str, resource: str) -> Path:
        """The lock file of what is granted for (issuer, resource)."""
        name = hashlib.sha256(f"{issuer} {resource}".encode("utf-8", "replace")).hexdigest()[:16]
        return self._path.with_name(f"{self._path.stem}-{name}.lock")

    # The file

    def _entries(self, table: str) -> list[Entry]:
        found = self._read().get(table)
        return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []

    def _read(self) -> dict[str, Any]:
        """The whole file. A missing or damaged one is an empty one: the person logs in again."""
        if not files.present(self._path):
            return {}
        try:
            found = jsonc.parse(files.read_text(self._path, limit=LONGEST))
        except (ConfigError, jsonc.JsoncError):
            return {}
        return found if isinstance(found, dict) else {}

    def _put(self, table: str, keys: tuple[str, ...], entry: Entry, secrets: dict[str, str]) -> None:
        wanted = {key: entry[key] for key in keys}
        name = _name(table, wanted)
        kept = {key: value for key, value in secrets.items() if value}
        try:
            if kept:
                self._vault.set(name, json.dumps(kept))
            entry["secret"] = name if kept else ""
        except VaultProblem as problem:
            entry["secrets"] = kept
            self._tell(str(problem))
        with self._changed() as data:
            data[table] = [*_others(data, table, wanted), entry]

    def _drop(self, table: str, wanted: dict[str, str]) -> None:
        gone = [entry for entry in self._entries(table) if _matches(entry, wanted)]
        if not gone:
            return
        with self._changed() as data:
            data[table] = _others(data, table, wanted)
        for entry in gone:
            if entry.get("secret"):
                self._vault.delete(_name(table, wanted))

    def _secrets(self, entry: Entry) -> dict[str, str] | None:
        """The secrets of an entry; None where they cannot be had."""
        held: object = entry.get("secrets")
        name = entry.get("secret")
        if isinstance(name, str) and name:
            try:
                text = self._vault.get(name)
                held = json.loads(text) if text else None
            except (VaultProblem, ValueError, RecursionError):
                held = None
        elif held is None:
            held = {}
        if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
            return None
        return dict(held)

    def _tell(self, problem: str) -> None:
        if any(entry.get("secrets") for table in ("grants", "clients") for entry in self._entries(table)):
            return
        why = f"The keyring does not keep tokens ({problem})" if problem else "There is no keyring to keep tokens in"
        self.warn(f"{why}, so they are in {self._path}, which only you can read.")

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        """The file's content, to be changed and written; another process that does the same is waited for."""
        try:
            paths.private_folder(self._path.parent)
            with _lock(self._path.with_suffix(".lock")):
                data = self._read()
                yield data
                paths.write_private(self._path, json.dumps(data, indent=1).encode("ascii"))
        except (OSError, ConfigError) as error:
            reason = error.message if isinstance(error, ConfigError) else str(error.strerror or error)
            raise InspectorError(
                f"The login cannot be kept in {self._path}: {reason}.",
                hint="It holds for this session. Set INSPECTOR_STATE_HOME to a folder of yours to keep the next.",
            ) from None


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a lock file; one that its owner has left behind is taken over. Raises OSError where that does not work."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            path.touch(0o600, exist_ok=False)
            break
        except FileExistsError:
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _STALE_LOCK:
                    path.unlink()
                    continue
            if time.monotonic() > deadline:
                raise OSError(f"{path} is held by another process") from None
            time.sleep(0.02)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _others(data: dict[str, Any], table: str, wanted: dict[str, str]) -> list[Any]:
    """What stays in a table, whatever is in the file by now."""
    rows = data.get(table)
    return [row for row in rows if not _matches(row, wanted)] if isinstance(rows, list) else []


def _matches(row: object, wanted: dict[str, str]) -> bool:
    return isinstance(row, dict) and all(row.get(key) == value for key, value in wanted.items())


def _name(table: str, wanted: dict[str, str]) -> str:
    """What an entry is called in the keyring: nothing of it can be read from that."""
    return hashlib.sha256(json.dumps([table, *wanted.values()]).encode()).hexdigest()[:32]

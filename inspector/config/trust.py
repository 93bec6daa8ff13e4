"""The exposure of the user's secrets by a file of a cloned folder, and the user's consent.

A config entry that is not the user's own may use a variable, a file or a keyring entry of the user's, send everything
through a proxy, choose the server of a login, or switch off the check of certificates. An environment of saved calls
may name the same secrets, and a flow may name a command. Such a part is used only after the user agreed. The answer
“always” is stored by its content, so that any change asks again. This module neither reads nor stores values.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from inspector.config import foreign_files, inherited_variables, jsonc, login_entry, paths, secret_values
from inspector.config.expand import Reference
from inspector.config.server_definition import Definition
from inspector.errors import ConfigError, TrustNeeded
from inspector.hints import Hint, Parameter

MAX_KEPT = 1000
"""Answers that are kept; the oldest are dropped."""
MAX_SHOWN = 20
"""References that a question lists."""
_FILE_BYTES = 1024 * 1024
_NAME = 200
_DESTINATION = 300
"""Characters that are shown of a name, and of a URL or command."""
_AUTH_KEYS = {option: key for key, option in login_entry.KEYS.items()}
_KINDS = {"variable": "environment variable", "file": "file", "keyring": "keyring entry"}

Standing: TypeAlias = Literal["free", "asks", "allowed"]
"""`free`: the entry exposes nothing, or is the user's own; `allowed`: the user answered “always”."""

TrustAnswer: TypeAlias = Literal["once", "always", "no"]
"""`once` allows one opening, `always` every opening until the entry changes."""

Part: TypeAlias = Literal["entry", "environment", "saved call"]
"""The part of a file that is asked about."""
_FILES: dict[Part, str] = {"entry": "config file", "environment": "file", "saved call": "file"}


class UsedReference(NamedTuple):
    """A reference and the place of its value: `header X-Key`, `variable TOKEN`, `auth.clientSecret` …"""

    place: str
    reference: Reference

    def describe(self) -> str:
        """Describe it in one line, without the value: `environment variable TOKEN in header X-Key`."""
        kind, name = _KINDS[self.reference.kind], foreign_files.printable(self.reference.name, _NAME)
        return f"{kind} {name} in {foreign_files.printable(self.place, _NAME)}"


class Exposure(NamedTuple):
    """The data that using a part of another person's file would expose. All texts fit on one line."""

    subject: str
    """`@NAME` of an entry, else the part and its name."""
    path: Path
    destination: str
    """The URL or the command, with references as written."""
    is_url: bool
    uses: tuple[UsedReference, ...] = ()
    login_servers: tuple[str, ...] = ()
    """Other servers that a login uses: the authorization server and the identity provider."""
    proxy: str = ""
    verify: bool = True
    fingerprint: str = ""
    """A hash of the file's path and the entry's whole meaning."""
    part: Part = "entry"

    @property
    def title(self) -> str:
        """`@NAME in FILE`, `Environment NAME in FILE`."""
        subject = self.subject[:1].upper() + self.subject[1:]
        return f"{subject} in {foreign_files.printable(str(self.path), _DESTINATION)}"

    @property
    def file(self) -> str:
        """The kind of file: `config file`."""
        return _FILES[self.part]

    def facts(self) -> list[str]:
        """Return what goes where, one line each, the most important first, because a long list may be cut."""
        lines = [f"{'sends to' if self.is_url else 'runs'} {self.destination}"]
        if self.proxy:
            lines.append(f"sends everything through the proxy {self.proxy}")
        if not self.verify:
            lines.append("does not check the server's certificate")
        secret = any(use.place.startswith("auth.") for use in self.uses)
        lines += [f"{'sends login secrets to' if secret else 'logs in at'} {server}" for server in self.login_servers]
        lines += [f"uses {use.describe()}" for use in self.uses[:MAX_SHOWN]]
        if len(self.uses) > MAX_SHOWN:
            lines.append(f"uses {len(self.uses) - MAX_SHOWN:,} more references")
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return the facts for `--json`: names, no values."""
        uses = [{"kind": use.reference.kind, "name": use.reference.name, "place": use.place} for use in self.uses]
        return {
            "references": uses,
            "destination": self.destination,
            "login_servers": list(self.login_servers),
            "proxy": self.proxy or None,
            "verify": self.verify,
        }


Consent: TypeAlias = Callable[[Exposure], TrustAnswer]
"""Asks the user about an exposure without a stored answer."""


def always(exposure: Exposure) -> TrustAnswer:
    """The consent of a user who passed `--trust`, for this run only."""
    return "once"


def exposure(
    definition: Definition, uses: Iterable[tuple[str, Reference]], *, server: str, path: Path, meaning: Any
) -> Exposure | None:
    """Return what a definition with the references `uses` exposes; None for nothing.

    `meaning` is everything else that the entry's meaning depends on, as JSON: any change of it makes another entry.
    """
    stdio = definition.kind == "stdio"
    used = tuple(
        UsedReference(_place(place), reference) for place, reference in uses if not (stdio and is_harmless(reference))
    )
    proxy = "" if stdio or not definition.proxy else _masked_url(definition.proxy)
    verify = stdio or definition.verify
    servers = [_masked_url(url) for url in definition.login_servers]
    if not (used or proxy or servers) and verify:
        return None
    if any(use.place.startswith("auth.") for use in used) and not definition.auth.get("auth_server"):
        servers.insert(0, "the authorization server that the URL names")
    try:
        fingerprint = _fingerprint([1, str(path), server, meaning, _references(used), definition.proxy or "", verify])
    except (RecursionError, ValueError, TypeError):
        raise ConfigError(f"@{foreign_files.printable(server)} in {path} is nested too deeply") from None
    return Exposure(
        subject=f"@{foreign_files.printable(server)}",
        path=path,
        destination=definition.describe_fully(_DESTINATION),
        is_url=not stdio,
        uses=used,
        login_servers=tuple(servers),
        proxy=proxy,
        verify=verify,
        fingerprint=fingerprint,
    )


def exposure_of_calls(
    part: Part,
    name: str,
    path: Path,
    destination: str,
    meaning: Mapping[str, Any],
    uses: Iterable[tuple[str, Reference]] = (),
) -> Exposure | None:
    """Return what a file of saved calls exposes to one server; None for nothing.

    `meaning` is what makes it this server, as JSON, with its `kind`; `destination` is how it is shown.
    """
    stdio = meaning["kind"] == "stdio"
    path = path.absolute()
    used = tuple(UsedReference(place, reference) for place, reference in uses if not (stdio and is_harmless(reference)))
    if not used and part == "environment":
        return None
    return Exposure(
        subject=f"{part} {foreign_files.printable(name)}",
        path=path,
        destination=foreign_files.printable(destination, _DESTINATION),
        is_url=not stdio,
        uses=used,
        fingerprint=_fingerprint([part, str(path), name, dict(meaning), _references(used)]),
        part=part,
    )


def _references(used: Iterable[UsedReference]) -> list[list[str]]:
    return sorted([use.place, use.reference.kind, use.reference.name] for use in used)


def _fingerprint(meaning: list[Any]) -> str:
    return hashlib.sha256(json.dumps(meaning, sort_keys=True).encode("ascii")).hexdigest()


def require(exposed: Exposure, consent: Consent | None) -> None:
    """Return if the user allowed the exposure, before or now. Raises TrustNeeded otherwise."""
    memory = Memory()
    if memory.allows(exposed):
        return
    answer = "no" if consent is None else consent(exposed)
    if answer == "always":
        memory.allow(exposed)
    if answer not in ("once", "always"):
        raise TrustNeeded(
            f"{exposed.title} was not opened. It is not your own {exposed.file}, and the {exposed.part} "
            f"{_listed(exposed.facts())}.",
            hint=Hint(f"Read the {exposed.part}. To allow it for this run, ", Parameter.TRUST, "."),
            exposure=exposed,
        )


def asking_once(consent: Consent) -> Consent:
    """Return a `consent` that asks once for each exposure."""
    answers: dict[str, TrustAnswer] = {}

    def asked(exposed: Exposure) -> TrustAnswer:
        if exposed.fingerprint not in answers:
            answers[exposed.fingerprint] = consent(exposed)
        return answers[exposed.fingerprint]

    return asked


def is_harmless(reference: Reference) -> bool:
    """Whether every child process gets this value anyway; a URL does not."""
    name = reference.name
    return reference.kind == "variable" and (
        name in inherited_variables.NAMES or name.startswith(inherited_variables.PREFIXES)
    )


def standing(exposed: Exposure | None, memory: Memory | None = None) -> Standing:
    """Return whether an entry opens without a question, for a list of servers."""
    if exposed is None:
        return "free"
    return "allowed" if (memory or Memory()).allows(exposed) else "asks"


class Memory:
    """The stored “always” answers, in a file of the state folder that only its user can read. Reading never raises."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = paths.state_folder() / "trust.json" if path is None else path
        self._kept: dict[str, Any] | None = None

    def allows(self, exposed: Exposure) -> bool:
        """Whether the user allowed exactly this with “always”. The file is read once, at the first question."""
        if self._kept is None:
            self._kept = self._read()
        return exposed.fingerprint in self._kept

    def allow(self, exposed: Exposure) -> bool:
        """Store the answer; returns whether that succeeded."""
        entry = {"server": exposed.subject, "path": str(exposed.path), "when": round(time.time())}
        with paths.alone(self._path.parent):
            # Read the file: another window may have changed it.
            self._kept = kept = self._read()
            kept.pop(exposed.fingerprint, None)
            kept[exposed.fingerprint] = entry
            content = json.dumps({"allowed": dict(list(kept.items())[-MAX_KEPT:])}, indent=1).encode("ascii")
            try:
                paths.private_folder(self._path.parent)
                paths.write_private(self._path, content)
            except (OSError, ConfigError):
                return False
        return True

    def _read(self) -> dict[str, Any]:
        try:
            data = jsonc.parse(foreign_files.read_text(self._path, limit=_FILE_BYTES))
        except (ConfigError, jsonc.JsoncError):
            return {}
        allowed = data.get("allowed") if isinstance(data, Mapping) else None
        return dict(allowed) if isinstance(allowed, Mapping) else {}


def _place(place: str) -> str:
    kind, dot, option = place.partition(".")
    return f"auth.{_AUTH_KEYS.get(option, option)}" if kind == "auth" and dot else place


def _masked_url(text: str) -> str:
    from inspector.addresses import shown_url

    return shown_url(secret_values.mask_url(text), _DESTINATION)


def _listed(lines: list[str]) -> str:
    return lines[0] if len(lines) == 1 else f"{', '.join(lines[:-1])} and {lines[-1]}"

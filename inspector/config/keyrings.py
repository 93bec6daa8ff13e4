"""The system's keyring. Its library is loaded at the first use."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from inspector.reasons import os_reason

LOGIN_SERVICE = "inspector-login"
"""The service that stores logins. No config file may refer to it."""

_REASONS = {
    "NoKeyringError": "",
    "KeyringLocked": "it is locked",
    "InitError": "it cannot be opened",
    "PasswordSetError": "it refuses to store the value",
}
"""By the name of the library's error. Its text may contain the value to store."""
_NOT_A_LETTER = re.compile(r"[^a-z0-9]+")


class KeyringProblem(Exception):
    """The keyring cannot be used, or does not exist. Its text is the reason, empty without a keyring."""


@contextmanager
def library() -> Iterator[ModuleType]:
    """Yield the library for one operation; every error is raised as `KeyringProblem`.

    Its backends are other programs, chosen by a setting that may be wrong. They may raise any error, such as EOFError
    if they ask for a password without a terminal.
    """
    try:
        import keyring

        yield keyring
    except Exception as error:  # noqa: BLE001 - an edge, too: that of the backends
        kind = type(error).__name__
        reason = os_reason(error) if isinstance(error, OSError) else f"its backend raised {kind[:60]}"
        raise KeyringProblem(_REASONS.get(kind, reason)) from None


def names_logins(*names: str) -> bool:
    """Whether a keyring could read one of these names as the service of stored logins.

    Backends ignore case, normalise characters, stop at a NUL, join service and user, or read a name as a path. So the
    name counts at any position, in any case, with any characters between its letters.
    """
    service = _NOT_A_LETTER.sub("", LOGIN_SERVICE)
    return any(service in _letters(name) for name in ("".join(names), *names))


def _letters(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).casefold().replace("\N{LATIN SMALL LETTER DOTLESS I}", "i")
    return _NOT_A_LETTER.sub("", plain)

"""The system's keyring. The library is loaded when it is first used."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from inspector.config.checks import one_line

LONGEST = 200
LOGIN_SERVICE = "inspector-login"
"""The service under which logins are kept. No config file may refer to it."""

_NOT_A_LETTER = re.compile(r"[^a-z0-9]+")


class KeyringProblem(Exception):
    """The keyring cannot be used. Its text says why; it is empty where there is no keyring at all.

    `kind` is the name of the error alone: the text may repeat what was to be kept.
    """

    def __init__(self, reason: str, kind: str = "") -> None:
        super().__init__(reason)
        self.kind = kind


@contextmanager
def library() -> Iterator[ModuleType]:
    """The library, for one thing to be done with it; everything that it raises is a `KeyringProblem`.

    Its backends are programs of others, chosen by a setting that may be wrong: they raise what they like, such as
    EOFError where they ask for a password and nobody is there.
    """
    try:
        import keyring

        yield keyring
    except Exception as error:  # noqa: BLE001 - an edge, too: that of the backends
        kind = type(error).__name__
        if kind == "NoKeyringError":
            raise KeyringProblem("") from None
        raise KeyringProblem(one_line(str(error) or kind)[:LONGEST], kind) from None


def names_logins(*names: str) -> bool:
    """Whether a keyring may understand one of these names as the service of kept logins.

    Backends fold case, normalise characters, cut at a NUL, join service and user, or take a name as a path. So the name
    counts wherever it stands, whatever its case and whatever stands between its letters.
    """
    wanted = _NOT_A_LETTER.sub("", LOGIN_SERVICE)
    return any(wanted in _letters(name) for name in ("".join(names), *names))


def _letters(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).casefold().replace("\N{LATIN SMALL LETTER DOTLESS I}", "i")
    return _NOT_A_LETTER.sub("", plain)

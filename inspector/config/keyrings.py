"""The system's keyring. The library is loaded when it is first used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from inspector.config.checks import one_line

LONGEST = 200


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

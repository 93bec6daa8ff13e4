"""The log file: what nobody expected, with its traceback. The user is told in a sentence, and where to look."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.config import paths
from inspector.errors import InspectorError

_concealed: set[str] = set()
"""What the log must not hold. It is one for the process: an error that nobody expected belongs to no session."""


def conceal(secrets: Iterable[str]) -> None:
    """Keep these texts out of the log from now on."""
    _concealed.update(secrets)


def report(error: BaseException) -> InspectorError:
    """Write the traceback to the log file; returns what to tell the user of it."""
    try:
        where = f"The traceback is in {_write('inspector failed', error)}."
    except (InspectorError, OSError):
        where = "The log file cannot be written, so the traceback is lost."
    problem = InspectorError(f"Inspector itself failed: {type(error).__name__}.", hint=f"{where} Please report it.")
    problem.code = "internal"
    return problem


def remark(headline: str) -> None:
    """Write a line to the log file, where that is possible."""
    try:
        _write(headline, None)
    except (InspectorError, OSError):
        pass


def _write(headline: str, error: BaseException | None) -> str:
    import traceback
    from datetime import UTC, datetime

    path = paths.log_file()
    with paths.private_open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
        text = headline if error is None else f"{headline}\n{''.join(traceback.format_exception(error))}"
        for secret in sorted(_concealed, key=len, reverse=True):
            text = text.replace(secret, "…")
        file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {text}\n")
    return str(path)

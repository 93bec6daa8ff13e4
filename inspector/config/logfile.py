"""The log file: unexpected errors with their tracebacks. The user sees one sentence and the path."""

from __future__ import annotations

from inspector import feature
from inspector.config import paths
from inspector.config.secret_forms import BEGINNING, SecretFinder
from inspector.errors import FeatureError, InspectorError

_secrets = SecretFinder()
"""Secrets that the log must not contain. The log is global: an unexpected error has no session."""


def conceal(secret: str) -> None:
    """Remove a secret from the log from now on."""
    _secrets.add(secret)


def report(error: BaseException) -> InspectorError:
    """Write the traceback to the log file. Returns the message for the user."""
    try:
        where = f"The traceback is in {_write('inspector failed', error)}."
    except (InspectorError, OSError):
        where = "The traceback could not be written to the log file."
    of_feature = feature.failed(error)
    if of_feature is not None:
        of_feature.hint = f"{where} Report it to the authors of that package."
        return of_feature
    problem = InspectorError(f"Inspector itself failed: {type(error).__name__}.", hint=f"{where} Please report it.")
    problem.code = "internal"
    return problem


def failed_feature(error: Exception) -> FeatureError:
    """Log the error of a feature of another package. Any other error is raised again."""
    if isinstance(error, FeatureError):
        return error
    if feature.failed(error) is None:
        raise error
    problem = report(error)
    assert isinstance(problem, FeatureError)
    return problem


def skip_failed(error: Exception) -> FeatureError:
    """Do so, and tell the user once, at the end: the caller continues without that part."""
    problem = failed_feature(error)
    if problem.message not in {other.message for other in feature.skipped()}:
        feature.skipped().append(problem)
    return problem


def remark(headline: str) -> None:
    """Write a line to the log file, if possible."""
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
        text = _secrets.replaced(text, "…", cut=BEGINNING)
        file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {text}\n")
    return str(path)

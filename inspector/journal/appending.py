"""Appends recordings to another one, each as a further connection."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from inspector.config.output_files import create_beside
from inspector.errors import RecordingError
from inspector.journal.format import dumps
from inspector.journal.journal import Journal, whole_journal
from inspector.protocol.jsonrpc import NotJson, parse


def append_recordings(path: Path, more: Sequence[Path]) -> None:
    """Append the events of `more` to the recording `path`, which is replaced at once or stays unchanged.

    Each of them starts with a `reopen` event, at the end time of the previous one. Raises `RecordingError`.
    """
    made: Path | None = None
    path = path.resolve()  # The file behind a link is replaced, not the link.
    try:
        with ExitStack() as stack:
            journals = [stack.enter_context(whole_journal(file)) for file in (path, *more)]
            if any(journal.raw_only for journal in journals):
                raise RecordingError(f"{path} has a newer format, so it cannot be extended.", hint="Update Inspector.")
            made, descriptor = create_beside(path)
            out = stack.enter_context(open(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="\n"))
            out.writelines(_lines(journals))
        made.chmod(stat.S_IMODE(path.stat().st_mode))
        os.replace(made, path)
    except OSError as error:
        raise RecordingError(f"{path} cannot be written: {error.strerror or 'the file system refuses'}.") from None
    finally:
        if made is not None:
            made.unlink(missing_ok=True)


def _lines(journals: Sequence[Journal]) -> Iterator[str]:
    yield dumps(journals[0].header) + "\n"
    n = t = 0
    counts = dict.fromkeys(("invalid", "errors", "failures"), 0)
    for journal in journals:
        if n:
            n += 1
            yield dumps({"n": n, "t": t, "dir": "local", "kind": "life", "ch": "", "event": "reopen"}) + "\n"
        before, start = n, t
        for number in range(1, len(journal) + 1):
            try:
                event = parse(journal.line(number))
            except NotJson:
                continue  # a torn line has no event
            if type(event) is dict:
                n = before + number
                t = start + max(journal.index.views.times[number - 1], 0)
                yield dumps(_moved(event, before, n, t)) + "\n"
        ended = journal.ended or {}
        counts = {name: number + _count(ended, name) for name, number in counts.items()}
    yield dumps({"kind": "end", "events": n, "t": t, "reason": "closed", **counts}) + "\n"


def _moved(event: dict[str, Any], before: int, n: int, t: int) -> dict[str, Any]:
    """Return an event with a new number and time; its references move too."""
    moved = {**event, "n": n, "t": t}
    for name in ("for", "question"):
        if type(event.get(name)) is int:
            moved[name] = event[name] + before
    finding = event.get("finding")
    if type(finding) is dict and type(finding.get("n")) is int and finding["n"]:
        moved["finding"] = {**finding, "n": finding["n"] + before}
    return moved


def _count(ended: dict[str, Any], name: str) -> int:
    value = ended.get(name)
    return value if type(value) is int else 0

"""The texts at the list of checks: what it shows, and why it is empty."""

from __future__ import annotations

from inspector.check.result import VERDICTS, Verdict
from inspector.text import count, safe
from inspector.tui.check.rows import level_word
from inspector.tui.check.run import CheckRun

FAR_BEHIND = 2000
"""Messages by which the judge may lag before the list says so."""


def judging_facts(judged: int, events: int) -> list[str]:
    """How far the judge of the session's messages is, while it is far behind."""
    return [f"checking {count(judged)} of {count(events)} messages"] if events - judged > FAR_BEHIND else []


def list_facts(found: CheckRun, only: tuple[Verdict, ...], level: str) -> list[str]:
    """The filter, what the next run may do, and the size of the last run."""
    allowed, report = found.allowed, found.report
    facts = [] if only == VERDICTS else ["only fails"]
    if level:
        facts.append(f"only {level_word(level)}")
    if allowed.calls:
        facts.append(f"calls {allowed.calls if isinstance(allowed.calls, str) else ', '.join(allowed.calls)}")
    facts += [f"hosts {', '.join(found.hosts)}"] * bool(found.hosts)
    facts += ["with login"] * allowed.auth + ["intrusive"] * allowed.intrusive
    if report is not None and report.checked and not found.running:
        revisions = list(dict.fromkeys(visited.revision for visited in report.run.visits))
        facts.append(revisions[0] if len(revisions) == 1 else f"{len(revisions)} revisions")
        facts.append(f"{count(len(report.checked))} checks")
        if report.run.seconds:
            facts.append(f"{report.run.seconds:.1f} s")
    return facts + ["stopped"] * found.stopped


def empty_text(found: CheckRun, problem: str, key: str) -> str:
    """Why the list is empty. `key` runs the checks; `problem` is why the recording could not be read."""
    report = found.report
    if found.running:
        return "Connecting …"
    if report is not None and report.checked:
        return "No check matches this filter."
    if problem := problem or (report.run.problem if report is not None else ""):
        return f"No check could run: {safe(problem, 500)}"
    if found.session.commands is None:
        return (
            f"Checks the messages of this recording against the specification.\n{key} runs the checks; nothing is sent."
        )
    return (
        "Checks the server against the specification: every revision that it supports, on separate "
        "connections and in a separate recording, with harmless requests. No tool is called unless "
        f"you allow it (a).\n\n{key} runs all checks."
    )

"""Whether a client did what a scenario wants, which is more than the suite's own exit status says.

The suite counts warnings and time-outs as passed in some of its modes, and has scenarios that a client passes by doing
nothing. Here each run must have no failure, no warning, as many successes as before, and a client that ended well.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.conformance.scenarios import Scenario

WRONG = ("FAILURE", "WARNING")


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a scenario."""

    checks: tuple[dict[str, Any], ...] = ()
    """The suite's own checks; each has a `status` and an `id`."""
    status: int | None = None
    """The client's exit status; None if it had to be ended."""
    cpu: float = 0.0
    """Seconds of CPU time of the client."""
    stderr: str = ""

    @property
    def successes(self) -> int:
        return Counter(check["status"] for check in self.checks)["SUCCESS"]


def problems(scenario: Scenario, run: Run) -> list[str]:
    """The problem of a run; empty if it is correct."""
    lines = [
        f"{check['status'].lower()}: {check['id']}: {check.get('errorMessage') or check.get('description', '')}"
        for check in run.checks
        if check["status"] in WRONG
    ]
    if run.successes < scenario.successes:
        lines.append(f"{run.successes} checks succeeded, of at least {scenario.successes}")
    if run.status is None:
        lines.append("the client did not end by itself")
    elif run.status != 0 and not scenario.refusal:
        lines.append(f"the client ended with status {run.status}")
    return lines

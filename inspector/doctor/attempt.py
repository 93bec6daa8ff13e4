"""The cause of a failed connection, from its recording alone; starts and requests nothing."""

from __future__ import annotations

import os

from inspector.client.options import Options
from inspector.client.state.steps import last_start
from inspector.config.command_lines import line_of
from inspector.config.targets import StdioTarget, Target
from inspector.doctor.diagnosis import FailureCause, StepCollector, TimeLimits, Weight
from inspector.doctor.privacy import Privacy
from inspector.doctor.process import ProcessDoctor
from inspector.errors import InspectorError
from inspector.journal.journal import Journal


def explain(target: Target, journal: Journal, error: InspectorError) -> FailureCause | None:
    """Return the likely cause of the latest failure in `journal`; None if `error` itself is clear enough.

    For a server at a URL, only the doctor's own requests tell more.
    """
    if not isinstance(target, StdioTarget):
        return None
    steps = StepCollector(Privacy(target.secrets), line_of(target, os.environ))
    ProcessDoctor(steps, journal, Options(), TimeLimits(), target).explain(error, last_start(journal, len(journal)))
    cause = steps.cause()
    return cause if cause is not None and cause.weight >= Weight.LIKELY else None

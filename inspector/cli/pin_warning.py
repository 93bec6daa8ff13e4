"""Compares a pinned server with its pin before a command uses it, and warns on stderr about changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.errors import ConfigError, InspectorError

if TYPE_CHECKING:
    from inspector.cli.output import Output
    from inspector.client.session import Session
    from inspector.config.targets import Target

TOLD = 10
"""Changes listed; `inspector pin` lists all."""


def has_pin(target: Target) -> bool:
    """Whether the target has a pin."""
    from inspector.client.pins import Pins

    return Pins().has(target)


async def check(session: Session, out: Output) -> None:
    """Read the lists, compare them with the pin, and warn. Errors are reported and do not stop the command."""
    from inspector.client.pins import Pins
    from inspector.client.state.surfaces import read_surface

    try:
        pin = Pins().get(session.target)
        if pin is None:
            return
        await read_surface(session)
    except ConfigError as error:
        out.warn(f"warning: {out.safe(error.message, 500)} The comparison was skipped.")
        return
    except InspectorError as error:
        out.warn(f"warning: The server could not be compared with its pin: {out.safe(error.message, 500)}")
        return
    from inspector.check.drift import drift_of, note, phrase
    from inspector.cli.surface_report import WORDS

    drift = drift_of(session, pin)
    if drift is None:
        return
    note(session.journal, drift)
    out.warn(f"warning: {out.safe(drift.sentence, 1000)}")
    for change in drift.changes[:TOLD]:
        out.warn(f"  {WORDS.get(change.severity, change.severity):<11}  {out.safe(phrase(change), 300)}")
    if len(drift.changes) > TOLD:
        out.warn(f"  and {len(drift.changes) - TOLD:,} more")
    out.warn(f"hint: To see the changes, run {out.command('pin')} (with --update to accept them).")

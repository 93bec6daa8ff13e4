"""Before anything is done with a server that was pinned: is it still what it was? Said on stderr if it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.errors import ConfigError, InspectorError

if TYPE_CHECKING:
    from inspector.cli.output import Output
    from inspector.client.session import Session
    from inspector.config.targets import Target

TOLD = 10
"""Changes told; `inspector pin TARGET` tells them all."""


def has_pin(target: Target) -> bool:
    """Whether the target was pinned."""
    from inspector.client.pins import Pins

    return Pins().has(target)


async def check(session: Session, out: Output) -> None:
    """Read the lists, compare them with the pin, warn. What goes wrong here is said, and hinders nothing."""
    from inspector.client.pins import Pins
    from inspector.client.state.surfaces import read_surface

    try:
        pin = Pins().get(session.target)
        if pin is None:
            return
        await read_surface(session)
    except ConfigError as error:
        out.warn(f"warning: {out.safe(error.message, 500)}")
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
    out.warn("hint: `inspector pin TARGET` shows what was and is; with --update it is what is expected from now on.")

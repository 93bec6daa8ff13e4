"""What the user wants of a session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from inspector.client.answers import Standing
from inspector.client.verdicts import Verdicts
from inspector.transports.base import HttpOptions


@dataclass(frozen=True, slots=True)
class Options:
    """Passed down once; a session never looks anywhere else."""

    timeout: float = 60.0
    """Seconds without an answer or progress after which a request is given up."""
    max_timeout: float = 600.0
    """Seconds after which a request is given up in spite of progress."""
    era: Literal["auto", "legacy", "modern"] = "auto"
    protocol: str = ""
    """The revision to offer; empty: the newest."""
    standing: Standing = field(default_factory=Standing)
    log_level: str = ""
    """Log messages wanted from the server (`debug` … `emergency`); empty: as the server likes."""
    verdicts: Verdicts | None = None
    """Where it is remembered which era a server speaks; None: nothing is."""
    http: HttpOptions = field(default_factory=HttpOptions)

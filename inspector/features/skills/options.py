"""`inspector check --read-skills`: the checks may read files of skills."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.cli.options import Option
from inspector.cli.verb import VerbOptions

if TYPE_CHECKING:
    from inspector.check.selection import CheckSelection
    from inspector.cli.verb import Invocation


def _use(invocation: Invocation, selection: CheckSelection) -> CheckSelection:
    allowed = selection.allowed
    more = {**allowed.more, "skills": bool(invocation.option("read-skills"))}
    return replace(selection, allowed=replace(allowed, more=more))


CHECK = VerbOptions((Option("--read-skills", "Read files of skills, and verify them against the server's list"),), _use)

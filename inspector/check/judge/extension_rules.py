"""Rules for the extensions that a server declares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inspector.check.judge.rules import RuleVerdict, short
from inspector.check.judge.state import JudgeState
from inspector.client.extensions import extension_states
from inspector.client.state.server import Server
from inspector.protocol.extensions import KNOWN, PREFIX, VALID_ID

_ENVELOPE = frozenset(("id", "config", "specVersion", "stability"))


def opening_rules(result: dict[str, Any], state: JudgeState) -> Iterator[RuleVerdict]:
    """Rules for the extensions in the server's answer to `initialize` or `server/discover`."""
    server = Server(result)
    modern = state.era == "modern"
    for extension in extension_states(server, {})[:100]:
        if extension.problem.startswith("declared"):
            yield "EXT-05", "should", f"The extension {short(extension.id)} is {extension.problem}."
            continue
        # In 2026-07-28, LIFE-28 has these two rules.
        if not modern and extension.problem:
            yield "EXT-01", "must", f"The extension {short(extension.id)} is not an object: {extension.problem}."
        if not VALID_ID.fullmatch(extension.id):
            if not modern:
                yield "EXT-02", "must", f"The extension id {short(extension.id)} is not PREFIX/NAME."
        elif extension.id.startswith(PREFIX) and extension.id not in KNOWN:
            yield "EXT-03", "should", f"{short(extension.id)} is not an extension of the protocol."
        elif "." not in extension.id.partition("/")[0]:
            yield "EXT-03", "should", f"The prefix of {short(extension.id)} is not a reversed domain."
        settings = extension.settings
        if type(settings) is dict and ("config" in settings or len(_ENVELOPE & settings.keys()) > 1):
            named = ", ".join(sorted(_ENVELOPE & settings.keys()))
            yield "EXT-04", "should", f"The settings of {short(extension.id)} stand in an envelope with {named}."

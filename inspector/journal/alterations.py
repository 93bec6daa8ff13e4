"""The decision of a message filter about a message, and its member in the line of a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

Sender = Literal["client", "server"]
_REPLIES = ("refused", "answered")


class Alteration(NamedTuple):
    """One thing that was done to a message."""

    by: str
    """Who did it: the name of an addon."""
    did: str
    """`changed`, `refused`, `answered`, `delayed by 2 s`, or `header NAME`: it was sent with this HTTP header."""
    before: bytes | None = None
    """The exact bytes before, if they were changed."""


@dataclass(slots=True)
class Filtered:
    """A message after the filter."""

    data: bytes
    message: Any
    """The same, parsed; None for bytes that are not JSON."""
    alterations: list[Alteration] = field(default_factory=list)
    passes: bool = True
    """Whether the other side gets it."""
    reply: bytes | None = None
    """The response that its sender gets instead, if it does not pass."""
    delay: float = 0.0
    """Seconds to wait before it passes, or its sender gets the reply."""
    headers: list[tuple[str, str]] = field(default_factory=list)
    """HTTP header fields for the request with this message."""

    @property
    def reply_alterations(self) -> list[Alteration]:
        """The maker of the reply."""
        return [Alteration(step.by, step.did) for step in self.alterations[-1:]]


class ConnectionFilter(Protocol):
    """The filter of one connection."""

    @property
    def handles_messages(self) -> bool:
        """Whether `judge` can do anything to a message now; it is asked before."""

    def judge(self, sender: Sender, data: bytes, message: Any) -> Filtered:
        """Decide about one message. Never raises."""

    def opened(self) -> None:
        """Handle the start of the connection."""

    def ended(self) -> None:
        """Handle its end. Idempotent."""


class AlterationRecord(NamedTuple):
    """One alteration as a recording has it."""

    by: str
    did: str
    before: str
    """The message before, as text; empty if it was not changed."""


def read(fields: Mapping[str, Any]) -> list[AlterationRecord]:
    """Return what filters did to a message, from the members of its line."""
    steps = []
    members = fields.get("addon")
    for step in members if isinstance(members, list) else ():
        if isinstance(step, dict):
            by, did, before = (str(step.get(key, "")) for key in ("by", "did", "before"))
            steps.append(AlterationRecord(by, did, before or str(step.get("before_b64", ""))))
    return steps


def names_in(header: Mapping[str, Any]) -> list[str]:
    """Return the addons of a recording, as its header names them."""
    names = header.get("addons")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def authors(fields: Mapping[str, Any]) -> list[str]:
    """Return who altered a message: its text or time may not be its sender's. A header does not count."""
    return [step.by for step in read(fields) if not step.did.startswith("header ")]


def was_answered(fields: Mapping[str, Any]) -> bool:
    """Whether a filter made or delayed a response, so that its time and outcome are not its sender's alone."""
    return any(step.did in _REPLIES or step.did.startswith("delayed ") for step in read(fields))


def was_withheld(fields: Mapping[str, Any]) -> bool:
    """Whether a request in a recording was refused or answered by a filter: the other side did not get it."""
    steps = read(fields)
    return bool(steps) and steps[-1].did in _REPLIES


def recorded(alterations: Sequence[Alteration], texts: Sequence[tuple[str, bool] | None]) -> list[dict[str, str]]:
    """Return the member `addon` of a line. `texts` are those before, without secrets, and which are base64."""
    steps: list[dict[str, str]] = []
    for step, before in zip(alterations, texts, strict=True):
        fields = {"by": step.by, "did": step.did}
        if before is not None:
            fields["before_b64" if before[1] else "before"] = before[0]
        steps.append(fields)
    return steps

"""`inspector listen`: prints notifications of a server as they arrive."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from inspector.cli.options import ASK, FOR, Option
from inspector.cli.output import Output
from inspector.cli.verb import Verb
from inspector.errors import NotOffered

if TYPE_CHECKING:
    from inspector.cli.notification_lines import Notices
    from inspector.cli.verb import Invocation
    from inspector.client.session import Session

NAME = 200
_LISTS = ("tools", "resources", "prompts")


def run(invocation: Invocation) -> int:
    """Subscribe and print every notification until interrupted, until --for is over, or until the connection closes."""
    from inspector.cli import headless, notification_lines

    uris: list[str] = list(dict.fromkeys(invocation.option("resource", ())))
    made: list[Notices] = []

    def watcher(session: Session, out: Output) -> Notices:
        made.append(notification_lines.Notices(session, out))
        return made[0]

    async def work(session: Session, out: Output) -> int:
        (notices,) = made
        lists = [name for name in _LISTS if session.server.can(name, "listChanged")]
        await _ask(session, lists, uris)
        if session.server.era == "modern":
            notices.asked = len(lists) + len(uris)
        _tell_what(session, out, lists, uris)
        notices.tell()
        with suppress(TimeoutError):
            await asyncio.wait_for(notices.over.wait(), invocation.option("for"))
        if session.phase == "lost" and session.error is not None:
            raise session.error
        if notices.refused:
            out.note("The server ended the subscription.")
        return 0

    return headless.run(invocation, work, watcher=watcher)


async def _ask(session: Session, lists: list[str], uris: list[str]) -> None:
    """Subscribe to everything at once, on one stream if the era needs a stream. Raises the first rejection."""
    if session.server.era == "modern" and not lists and not uris:
        raise NotOffered(
            "The server declares no notifications to listen to (listChanged).",
            hint="To listen to a resource, add --resource URI.",
        )
    asked = await asyncio.gather(session.listen(), *(session.subscribe(uri) for uri in uris), return_exceptions=True)
    for outcome in asked:
        if isinstance(outcome, BaseException):
            raise outcome


def _tell_what(session: Session, out: Output, lists: list[str], uris: list[str]) -> None:
    """Print what was subscribed. Other notifications are printed too."""
    what = [f"the lists of {', '.join(lists)}"] if lists else []
    what += [out.safe(uri, NAME) for uri in uris]
    out.note(f"Listening to {', '.join(what) if what else 'all notifications'}; press Ctrl-C to stop.")
    refused = session.subscriptions.refused
    if refused:
        out.note(f"note: The server did not accept {out.safe(', '.join(refused), 10 * NAME)}.")


LISTEN = Verb(
    "listen",
    run,
    options=(
        ASK,
        Option("--resource", "Subscribe to this resource; repeatable", "URI", many=True),
        FOR,
    ),
)

"""`inspector check --webhook`: the checks may subscribe an address of the user."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.cli.options import FILE, Option
from inspector.cli.serve_options import ADDRESS
from inspector.cli.verb import VerbOptions
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.check.selection import CheckSelection
    from inspector.cli.verb import Invocation


def _use(invocation: Invocation, selection: CheckSelection) -> CheckSelection:
    url, where = invocation.option("webhook"), invocation.option("listen")
    if url is None or where is None:
        if url is not None or where is not None or invocation.option("certificate") is not None:
            raise UsageError(
                "--webhook, --listen and --certificate belong together.",
                hint="For example: --intrusive --webhook https://x.example/in --listen 127.0.0.1:8088",
            )
        return selection
    if not invocation.option("intrusive"):
        raise UsageError("--webhook works only with --intrusive.", hint="Add --intrusive, or remove --webhook.")
    from inspector.features.events.webhook_receiver import WebhookAddress

    allowed = selection.allowed
    more = {**allowed.more, "webhook": WebhookAddress.checked(url, where, invocation.option("certificate"))}
    return replace(selection, allowed=replace(allowed, more=more), drafts=selection.drafts | {"events"})


CHECK = VerbOptions(
    (
        Option("--webhook", "With --intrusive: subscribe this https URL to an event type, to check webhooks", "URL"),
        Option("--listen", "With --webhook: the loopback address where its deliveries arrive", ADDRESS),
        Option("--certificate", "With --listen: accept https; a PEM file with certificate and key", FILE),
    ),
    _use,
)

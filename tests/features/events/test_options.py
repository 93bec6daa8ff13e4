"""`inspector check --webhook URL --listen HOST:PORT`: an address for the checks, asked for as a whole."""

from __future__ import annotations

import pytest

from inspector.check.selection import CheckSelection
from inspector.cli.parser import scan
from inspector.features.events.options import CHECK
from inspector.features.events.webhook_receiver import WebhookAddress
from tests.cli.conftest import Run

HOOK = ("--webhook", "https://x.example/in", "--listen", "127.0.0.1:8088")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (HOOK[:2], "belong together"), (HOOK[2:], "belong together"), (("--certificate", "x.pem"), "belong together"),
        (HOOK, "works only with --intrusive"), (("--intrusive", *HOOK[:3], "192.0.2.1:80"), "is not a loopback address"),
    ],
)  # fmt: skip
def test_a_part_of_an_address_is_an_error(words: tuple[str, ...], says: str, run: Run) -> None:
    ran = run("check", *words, "http://127.0.0.1:9/mcp")
    assert (ran.code, says in ran.err) == (2, True)


def test_the_checks_get_the_address_and_run_though_events_are_a_draft() -> None:
    invocation = scan(["check", "--intrusive", *HOOK, "http://127.0.0.1:9/mcp"])
    selection = CHECK.use(invocation, CheckSelection())
    assert selection.allowed.more == {"webhook": WebhookAddress("https://x.example/in", "127.0.0.1", 8088)}
    assert selection.drafts == {"events"}
    assert CHECK.use(scan(["check", "http://127.0.0.1:9/mcp"]), CheckSelection()) == CheckSelection()

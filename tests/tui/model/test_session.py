"""The verbs of a session's screen."""

from __future__ import annotations

import pytest

from inspector.tui.model.session import SESSION_VERBS, SessionFacts

PROCESS = SessionFacts()
REMOTE = SessionFacts(is_process=False)
RECORDED = SessionFacts(live=False)


@pytest.mark.parametrize(
    ("facts", "works"),
    [
        (PROCESS, "reconnect restart watch export"),
        (REMOTE, "reconnect export"),
        (RECORDED, "export"),
        (RECORDED._replace(asked=True, can_go_back=True), "export question back"),
    ],
)
def test_which_verbs_work(facts: SessionFacts, works: str) -> None:
    asked = ("reconnect", "restart", "watch", "export", "question", "back")
    assert [name for name in asked if SESSION_VERBS.available(f"app.{name}", facts)] == [
        name for name in asked if name in works.split()
    ]
    for name in ("compose", "pin", "side-by-side", "revision", "extensions"):
        assert SESSION_VERBS.available(f"app.{name}", facts) is facts.live

"""The tab of skills: its panes have the width of the log."""

from __future__ import annotations

from inspector.tui.model.arrangement import Arrangement
from inspector.tui.model.widths import THREE_COLUMNS


def test_a_skill_has_the_width_of_the_log() -> None:
    assert Arrangement("skills", THREE_COLUMNS).visible() == {"skills", "skills-beside"}

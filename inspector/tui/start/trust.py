"""Asks for consent before it opens a config entry that is not the user's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from inspector.config.targets import Target
from inspector.config.trust import Consent, Exposure, TrustAnswer
from inspector.errors import TrustNeeded
from inspector.text import safe
from inspector.tui.keymap import KeyHint
from inspector.tui.themes import signs_now
from inspector.tui.widgets.dialog import QuestionDialog
from inspector.tui.widgets.fact_rows import Row, paragraph

_LINE = 800


async def opened(app: App[int], resolve: Callable[[Consent | None], Target]) -> Target | None:
    """Return the target of `resolve`, or None if the user refuses what it exposes.

    Raises what `resolve` raises, but `TrustNeeded` only if the entry changed during the question.
    """
    try:
        return resolve(None)
    except TrustNeeded as error:
        asked: Exposure = error.exposure
    answer = await app.push_screen_wait(AskTrust(asked))
    return None if answer == "no" else resolve(partial(_answer_to, asked, answer))


def _answer_to(asked: Exposure, answer: TrustAnswer, exposure: Exposure) -> TrustAnswer:
    """Return the answer if it was given to exactly this exposure."""
    return answer if exposure.fingerprint == asked.fingerprint else "no"


class AskTrust(QuestionDialog[TrustAnswer]):
    """Shows an exposure. No common key accepts it: Enter has no effect."""

    DEFAULT_CSS = """
    AskTrust > Pane { max-width: 100; max-height: 90%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "answer('once')", show=False, priority=True),
        Binding("a", "answer('always')", show=False, priority=True),
        Binding("n,escape,q", "answer('no')", show=False, priority=True),
        Binding("enter", "nothing", show=False, priority=True),
    ]

    def __init__(self, exposure: Exposure) -> None:
        keys = [
            KeyHint("o", "allow once", "o"),
            KeyHint("a", "allow always", "a"),
            KeyHint("esc", "do not open", "escape"),
        ]
        mark, facts = signs_now().finding, exposure.facts()
        rows = [
            *paragraph(f"{safe(str(exposure.path), _LINE)} is not your own {exposure.file}. This {exposure.part}:"),
            *(Row([(f"  {mark} ", "finding"), safe(fact, _LINE)], 4) for fact in facts),
            *paragraph(f"“Always” applies until the {exposure.part} changes."),
        ]
        super().__init__(f"Allow {safe(exposure.subject, 60)}?", rows, keys)

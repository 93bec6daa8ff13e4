"""Asks for consent before it opens a config entry that is not the user's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from inspector.config.targets import Target
from inspector.config.trust import Consent, Exposure, TrustAnswer
from inspector.errors import TrustNeeded
from inspector.text import safe
from inspector.tui.keymap import KeyHint
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import Row, RowSection, paragraph
from inspector.tui.widgets.facts_view import FactsView
from inspector.tui.widgets.pane import Pane

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


def _answer_to(asked: Exposure, answer: TrustAnswer, found: Exposure) -> TrustAnswer:
    """Return the answer if it was given to exactly this exposure."""
    return answer if found.fingerprint == asked.fingerprint else "no"


class AskTrust(ModalScreen[TrustAnswer]):
    """Shows an exposure. No common key accepts it: Enter has no effect."""

    DEFAULT_CSS = """
    AskTrust { align: center middle; }
    AskTrust > Pane { width: 90%; max-width: 100; height: auto; max-height: 90%; }
    AskTrust FactsView { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "answer('once')", show=False, priority=True),
        Binding("a", "answer('always')", show=False, priority=True),
        Binding("n,escape,q", "answer('no')", show=False, priority=True),
        Binding("enter", "nothing", show=False, priority=True),
    ]

    def __init__(self, exposure: Exposure) -> None:
        super().__init__()
        self._exposure = exposure

    def compose(self) -> ComposeResult:
        keys = [
            KeyHint("o", "allow once", "o"),
            KeyHint("a", "allow always", "a"),
            KeyHint("esc", "do not open", "escape"),
        ]
        edge = Pane(FactsView(), title=f"Allow {safe(self._exposure.subject, 60)}?", keys=keys)
        edge.tone = "ask"
        edge.styles.height = len(self._exposure.facts()) + 7
        yield edge

    def on_mount(self) -> None:
        view = self.query_one(FactsView)
        view.show(RowSection(self._rows()))
        view.focus()

    def _rows(self) -> list[Row]:
        where = safe(str(self._exposure.path), _LINE)
        mark = signs_now().finding
        facts = [Row([(f"  {mark} ", "finding"), safe(fact, _LINE)], 4) for fact in self._exposure.facts()]
        return [
            *paragraph(f"{where} is not your own {self._exposure.file}. This {self._exposure.part}:"),
            *facts,
            *paragraph(f"“Always” applies until the {self._exposure.part} changes."),
        ]

    def action_answer(self, answer: TrustAnswer) -> None:
        """Close with an answer."""
        self.dismiss(answer)

    def action_nothing(self) -> None:
        """Ignore the key."""

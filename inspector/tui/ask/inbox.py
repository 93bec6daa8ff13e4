"""The inbox: everything the server asks the user, open questions first, answered ones below."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from inspector.client.inbox import Question
from inspector.client.session_state import SessionState
from inspector.text import count
from inspector.tui.ask import labels
from inspector.tui.ask.question import AnswersBeside
from inspector.tui.keymap import bindings
from inspector.tui.model.catalog import INBOX_VERBS, InboxFacts
from inspector.tui.pane_keys import VerbsByRules
from inspector.tui.pane_messages import HintsChanged
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import ListRows, VirtualList

_TOPIC_CELLS = 12


class QuestionRows(ListRows[Question]):
    """A `RowSource` of questions: open ones first, oldest first, then the others, newest first."""

    def __init__(self) -> None:
        super().__init__(lambda question: question.key)

    def set_questions(self, questions: list[Question]) -> None:
        """Set the questions to show."""
        waiting = [question for question in questions if question.state == "open"]
        over = [question for question in reversed(questions) if question.state != "open"]
        self.rows = waiting + over

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw one row: kind, summary, status."""
        question, signs = self.rows[index], signs_now()
        waits = question.state == "open"
        sign = (
            (signs.asked, "ask") if waits else (signs.done if question.state == "answered" else signs.failed, "muted")
        )
        name = (f" {question.topic}", "bright" if waits else "muted")
        summary = paint.segments([("  " + labels.summary(question), "normal")])
        left = [*paint.cell([sign, name], _TOPIC_CELLS + 2), *summary]
        words, role = labels.standing(question)
        state = paint.segments("" if waits else [(words, role)], room=width // 2)
        return paint.spread(left, state, width)


class InboxPane(AnswersBeside, Pane, VerbsByRules):
    """The inbox. The selected question is shown and answered in the work pane."""

    RULES = INBOX_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("inbox"), *bindings("asked")]
    DEFAULT_CSS = """
    InboxPane > VirtualList { height: 1fr; }
    """

    class Highlighted(Message):
        """The cursor is on another question, or on none."""

        def __init__(self, question: Question | None) -> None:
            super().__init__()
            self.question = question

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, InboxPane.Highlighted)

    class Opened(Message):
        """A question was chosen: put the focus where it can be answered."""

        def __init__(self, question: Question) -> None:
            super().__init__()
            self.question = question

    class AskAgain(Message):
        """The user wants to answer questions again that were answered automatically."""

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(title="Inbox", id=id)
        self.session = session
        self._rows = QuestionRows()
        self._seen = -1
        empty = "The server has no questions for you.\nIts requests for sampling, elicitation and roots wait here."
        self._list = VirtualList(self._rows, empty=empty)

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._list

    def on_mount(self) -> None:
        self.tick()

    @property
    def question(self) -> Question | None:
        """The question under the cursor."""
        at = self._list.cursor
        return self._rows.rows[at] if 0 <= at < len(self._rows) else None

    def move_to(self, question: Question) -> None:
        """Put the cursor on a question."""
        self.tick()
        self._list.move_to(question.key)

    def announce(self) -> None:
        """Announce the question under the cursor: the pane beside the list may show something else."""
        self.post_message(self.Highlighted(self.question))

    def tick(self) -> None:
        """Add new questions and answers."""
        seen = self.session.changes["inbox"]
        if seen == self._seen:
            return
        self._seen = seen
        self._rows.set_questions(self.session.inbox.questions)
        self._list.source_changed()
        self._draw_edge()

    def _draw_edge(self) -> None:
        waiting = len(self.session.inbox.open())
        total = len(self._rows)
        self.tone = "ask" if waiting else ""
        declined = self.session.inbox.declined
        self.facts = [
            *([[(f"{count(declined)} declined unseen", "finding")]] if declined else []),
            *([[(f"{count(waiting)} waiting", "ask")]] if waiting else []),
            *([count(total)] if total > waiting else []),
        ]
        self.post_message(HintsChanged())

    def verb_facts(self) -> InboxFacts:
        """Return the facts on which the verbs depend."""
        live = self.session.commands is not None
        return InboxFacts(len(self._rows), self.asked_verbs(), live, standing=self._answers_stand)

    @property
    def _answers_stand(self) -> bool:
        """Whether a standing answer answers some kind of question automatically."""
        standing = self.session.inbox.standing
        answers = (standing.sampling, standing.elicitation, standing.roots)
        return self.session.commands is not None and any(answer not in (None, "ask") for answer in answers)

    def action_ask_again(self) -> None:
        """Remove the standing answers, so that the server's questions are shown again."""
        before = self.session.inbox.standing
        ask = {name: "ask" for name in ("sampling", "elicitation", "roots") if getattr(before, name) is not None}
        self.session.inbox.standing = before._replace(**ask)  # type: ignore[arg-type]
        self._draw_edge()
        self.post_message(self.AskAgain())

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        self.post_message(self.Highlighted(self.question))

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        if self.question is not None:
            self.post_message(self.Opened(self.question))

"""The pane of one question. It replaces the result of the call that waits for the answer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.worker import get_current_worker

from inspector.client.inbox import METHODS, Question
from inspector.client.session_state import SessionState
from inspector.text import duration, ellipsis, safe
from inspector.tui.ask import labels
from inspector.tui.ask.answer import MESSAGE_LINES, FormBody, RootsBody, TextBody, UrlBody, body_for, fill
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.log.rows import moment
from inspector.tui.model.ask import ASK_VERBS, AnswerBy, AskFacts
from inspector.tui.pane_keys import VerbsByRules, hints
from inspector.tui.pane_messages import Copy, HintsChanged, LeaveWork, ShowExchange
from inspector.tui.widgets import paint
from inspector.tui.widgets.content_blocks import json_text
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.form import FormView
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.links import look_at, open_in_browser
from inspector.tui.widgets.pane import CompactPane
from inspector.tui.widgets.paragraphs import Paragraph, Paragraphs

ASKER = 18
"""Cells of the server's name in the title that are shown at least; the last lines have all of it."""
SHORT_ASKER = 8
"""Those beside the key that sends an answer with errors."""
SENTENCE_FROM = 60
"""Cells from which that key has a sentence."""
_EDGE = 5
"""Cells of the edge beside its title and facts."""

BODIES_KEPT = 8
"""Questions whose unfinished answers are kept while the user looks at another question."""


def _title(
    question: Question, name: str, looks_back: bool, facts: Sequence[paint.Pieces], width: int, least: int
) -> paint.Pieces:
    """Return who asks, as far as the facts leave room for the name, and the status of the question."""
    waits = question.state == "open"
    rest: list[paint.Piece] = [" asks you" if waits and not looks_back else " asked"]
    if not waits:
        rest += [("  ", "muted"), labels.standing(question)]
    taken = sum(paint.width(paint.segments(part)) + 2 for part in (*facts, rest))
    return [ellipsis(name, max(width - taken - _EDGE, least)), *rest]


class QuestionPane(CompactPane, VerbsByRules):
    """One question: the user accepts, declines or cancels it here; afterwards the pane shows the answer."""

    RULES = ASK_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("ask"),
        *(binding for binding in bindings("form") if binding.action == "json"),
    ]
    keeps_title = True
    DEFAULT_CSS = """
    QuestionPane > #answer { height: 1fr; }
    QuestionPane > #said { max-height: 50%; }
    """

    class Next(Message):
        """The user wants the next open question."""

        def __init__(self, after: Question) -> None:
            super().__init__()
            self.after = after

    class Later(Message):
        """The user leaves the question open."""

    class Answered(Message):
        """The question has been answered."""

        def __init__(self, question: Question) -> None:
            super().__init__()
            self.question = question

    class KeepRoots(Message):
        """Answer every request for roots of this server with these URIs, in later sessions too."""

        def __init__(self, uris: tuple[str, ...]) -> None:
            super().__init__()
            self.uris = uris

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self.question: Question | None = None
        self._bodies: OrderedDict[tuple[int, Any], FormBody | UrlBody | TextBody] = OrderedDict()
        self._message_view = Paragraphs(max_lines=MESSAGE_LINES, after=1, id="said")
        self._answer = JsonView(id="answer")
        self._foot = Paragraphs(after=1, id="foot")
        self._state = ""
        self._sends_anyway = False
        self._from_now_on = False
        self.may_send: Callable[[], bool] = lambda: True
        """Whether the user has seen the question."""
        self.answered_from_list = False
        """The keys of the list beside it send the answer."""

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._message_view
        yield self._answer
        yield self._foot

    def on_mount(self) -> None:
        self._answer.display = False

    @property
    def body(self) -> FormBody | UrlBody | TextBody | None:
        """The widget that edits the answer, while the question is open."""
        return self._bodies.get(self.question.key) if self.question is not None else None

    @property
    def is_open(self) -> bool:
        """The question waits for an answer that can be given here."""
        return self.question is not None and self.question.state == "open" and self.session.commands is not None

    @property
    def _looks_back(self) -> bool:
        """The recording is shown at a moment when the question was still open."""
        return self.question is not None and self.question.state == "open" and self.session.commands is None

    # Show

    def answer_from_list(self, answers: bool) -> None:
        """Let the keys of the list beside it send the answer, or not."""
        if answers != self.answered_from_list:
            self.answered_from_list = answers
            self.refresh_state()

    async def show(self, question: Question) -> None:
        """Show a question or its answer; an unfinished answer is restored."""
        if question is not self.question:
            self._sends_anyway = self._from_now_on = False
        self.question = question
        self._state = question.state
        is_open = self.is_open or self._looks_back
        if is_open and question.key not in self._bodies:
            body = self._bodies[question.key] = body_for(question, self.session.inbox.standing)
            if self._looks_back:
                fill(body, self.session.answer_to(question)[1])
                body.disabled = True
            await self.mount(body, after=self._message_view)
        if not is_open:
            within = self.has_focus_within
            self._answer.display = True
            self._answer.load("" if question.answer is None else json_text(question.answer))
            if within:
                # Before the focused widget is removed: Textual would move the focus to any neighbour. And at once: the
                # result may get the focus next.
                self.screen.set_focus(self._answer)
        current_body = self.body
        if is_open and current_body is not None and self.has_focus_within and not current_body.has_focus_within:
            # Before the focused widget is hidden or removed: Textual would move the focus to any neighbour.
            current_body.focus_first()
        for key in [key for key in self._bodies if key != question.key or not is_open]:
            if len(self._bodies) > BODIES_KEPT or self._is_over(key):
                await self._bodies.pop(key).remove()
        for key, body in self._bodies.items():
            body.display = key == question.key and is_open
        self._answer.display = not is_open
        self.refresh_state()

    def _is_over(self, key: tuple[int, Any]) -> bool:
        return all(question.key != key for question in self.session.inbox.open())

    @property
    def is_stale(self) -> bool:
        """The question was answered or withdrawn by the server (C-CANC-02) since it was shown: call `show` again."""
        return self.question is not None and self.question.state != self._state

    def refresh_state(self) -> None:
        """Draw the title, the facts and the lines around the question."""
        question = self.question
        if question is None:
            return
        waits = question.state == "open"
        self.tone = "ask" if waits else ""
        waiting = self.session.inbox.open()
        place = waiting.index(question) + 1 if question in waiting else 0
        # Only the questions that still wait are counted: one alone needs no count.
        several = [f"{place} of {len(waiting)}"] if place and len(waiting) > 1 else []
        self.show_facts([*several, labels.kind(question)])
        paragraphs: list[Paragraph] = [(question.message, "bright")] if question.message else []
        if question.topic == "roots" and not waits:
            paragraphs = [(labels.summary(question), "bright")]
        if question.state in ("withdrawn", "lost"):
            paragraphs.append(("No answer was sent.", "muted"))
        self._message_view.show(paragraphs)
        self._foot.show(self._foot_lines(question))
        self._draw_keys()
        self.post_message(HintsChanged())

    def _draw_keys(self) -> None:
        """Show the keys that work now: the own ones, those of the list, or the one that leads here."""
        beside = self.is_open and not self.has_focus_within
        if beside and self.answered_from_list:
            keys = hints(self, *self.verbs_beside())
        else:
            keys = hints(self, "app.question") if beside else self.hints()
        note = self._note()
        if beside and self.compact:
            # The keys are hidden, and those of the footer are of the form.
            note = " ".join(f"{hint.label} {hint.title}" for hint in keys[:1])
        # The keys beside a list or a form work there.
        self.key_line.muted = not beside and not self.has_focus_within
        self.show_state(self.state_facts, keys, note=note)

    def set_compact(self, compact: bool) -> None:
        if compact != self.compact:
            super().set_compact(compact)
            self._draw_keys()

    def on_descendant_focus(self) -> None:
        # Textual calls the handler of the edge as well.
        self.call_next(self._draw_keys)

    on_descendant_blur = on_descendant_focus

    def verbs_beside(self) -> list[str]:
        """Return the verbs of the list beside it, while its keys answer the question."""
        roots = isinstance(self.body, RootsBody) and self.body.json is None
        return ["asked.answer", *(["asked.always"] if roots else []), "asked.decline", "asked.later"]

    def draw_state(self) -> None:
        super().draw_state()
        if self.question is not None:
            least = SHORT_ASKER if self._sends_anyway else ASKER
            name = labels.asker(self.session.server)
            self.title = _title(self.question, name, self._looks_back, self.facts, self.outer_size.width, least)

    on_resize = draw_state

    def _foot_lines(self, question: Question) -> list[Paragraph]:
        """Return who receives the answer, and for which request (C-ELIC-02)."""
        purpose = " for its request " if question.reply is None else " as input to its request "
        request: list[paint.Piece] = [(METHODS[question.topic], "ask"), (f" {safe(question.id, 20)}", "muted")]
        around = labels.inside(self.session, question)
        if question.state != "open":
            return []
        if self._looks_back:
            return [self._what_came(self.session, question)]
        to: list[paint.Piece] = [("Your answer goes to ", "faint"), labels.asker(self.session.server)]
        lines: list[Paragraph] = [[*to, (purpose, "faint"), *request, ("  ", "faint"), *around]]
        if question.problem:
            lines.append((question.problem, "error"))
        if self._sends_anyway and self.body is not None and not isinstance(self.body, FormBody):
            lines += [(problem, "error") for problem in self.body.to_fix()[:1]]
        if self._from_now_on and question.topic != "roots":
            lines.append(("Every question of this kind gets this answer from now on.", "ask"))
        return lines

    def _what_came(self, session: SessionState, question: Question) -> Paragraph:
        """Return how and when the question was answered after the moment shown."""
        n, state = session.reply_to(question)
        if not n:
            return ("never answered in this recording", "error")
        answered = session.journal.index.time(n)
        word = {"answered": "accept", "declined": "decline", "cancelled": "cancel"}.get(state, state)
        role = "received" if state == "answered" else "muted"
        later = duration(max(answered - question.t, 0))
        at = (moment(answered), "bright")
        return [("answered ", "muted"), (word, role), (f" {later} later, at ", "muted"), at]

    def _note(self) -> paint.Pieces:
        body = self.body if self.is_open else None
        wrong = body.to_fix() if body is not None else []
        if wrong and self._sends_anyway:
            key = next((hint.label for hint in hints(self, "ask.accept")), "")
            words = "again: send it anyway" if self.outer_size.width >= SENTENCE_FROM else "sends anyway"
            return [(f"{key} {words}", "finding")]
        if isinstance(body, FormBody):
            return body.note()
        untouched = isinstance(body, TextBody) and body.json is None and not body.editor.value.strip()
        return [(wrong[0], "muted" if untouched else "error")] if wrong else ""

    def on_form_view_changed(self, event: FormView.Changed) -> None:
        event.stop()
        self._sends_anyway = False

    def on_form_view_checked(self, event: FormView.Checked) -> None:
        event.stop()
        self.refresh_state()

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self._edited()

    def on_text_body_edited(self, event: TextBody.Edited) -> None:
        event.stop()
        self._edited()

    def _edited(self) -> None:
        if self._sends_anyway and self.question is not None:
            self._sends_anyway = False
            self._foot.show(self._foot_lines(self.question))
        self.say(self._note())

    # Answer

    def hints(self) -> list[KeyHint]:
        """Return the keys for the question."""
        return super().hints() if self.question is not None else []

    def verb_facts(self) -> AskFacts:
        """Return the facts on which the verbs depend."""
        question, body = self.question, self.body
        if question is None:
            return AskFacts(is_open=False)
        by = AnswerBy.FORM if isinstance(body, FormBody) else AnswerBy.TEXT
        if isinstance(body, RootsBody):
            by = AnswerBy.ROOTS
        elif isinstance(body, UrlBody):
            by = AnswerBy.REFUSED_LINK if body.link.refusal else AnswerBy.LINK
        return AskFacts(
            is_open=self.is_open,
            looks_back=self._looks_back,
            topic=question.topic,
            by=by,
            as_json=isinstance(body, (FormBody, TextBody)) and body.json_mode,
            ends_call=question.reply is not None,
            from_now_on=self._from_now_on,
            several=len(self.session.inbox.open()) > 1,
        )

    def action_accept(self) -> None:
        """Send the answer. If it has errors, show them first; press the key again to send it anyway."""
        if self.may_send():
            self._send()

    def _send(self) -> None:
        body = self.body
        if self.question is None or not self.is_open or body is None:
            return
        if isinstance(body, FormBody) and body.view.refuses_text("sent"):
            return
        if body.to_fix() and not self._sends_anyway:
            self._sends_anyway = True
            self.say(self._note())
            self._foot.show(self._foot_lines(self.question))
            body.focus_wrong()
            return
        self._stand(body.standing())
        body.accept()
        self._after()

    def action_decline(self) -> None:
        if self.question is not None and self.is_open:
            refusals: dict[str, dict[str, Any]] = {
                "elicitation": {"elicitation": "decline"},
                "sampling": {"sampling": "decline"},
            }
            self._stand(refusals.get(self.question.topic, {}))
            self.question.decline()
            self._after()

    def action_cancel(self) -> None:
        """Answer an elicitation with “cancel”."""
        if self.question is not None:
            self._stand({"elicitation": "cancel"})
            self.question.cancel()
            self._after()

    def action_later(self) -> None:
        """Leave the question open, and go back to the list."""
        self.post_message(LeaveWork())

    def _stand(self, answers: dict[str, Any]) -> None:
        """If the user chose so, give this answer to all questions of this kind."""
        if self._from_now_on and answers:
            self.session.inbox.standing = self.session.inbox.standing._replace(**answers)
            if isinstance(answers.get("roots"), tuple):
                self.post_message(self.KeepRoots(answers["roots"]))

    def _after(self) -> None:
        if self.question is not None:
            self.post_message(self.Answered(self.question))

    def action_standing(self) -> None:
        """Give this answer to every question of this kind from now on, or only to this one.

        Roots are sent at once and kept for this server, because they are the same each time.
        """
        body = self.body
        if self.is_open and isinstance(body, RootsBody):
            if self.may_send():
                self._from_now_on = body.json is None
                self._send()
        elif self.is_open:
            self._from_now_on = not self._from_now_on
            self.refresh_state()

    async def action_json(self) -> None:
        """Edit the whole result as JSON, or as text again; a form does this itself."""
        if isinstance(self.body, TextBody):
            await self.body.toggle_json()
            self.refresh_state()

    def action_next(self) -> None:
        if self.question is not None:
            self.post_message(self.Next(self.question))

    def action_open(self) -> None:
        """Open the URL in the browser. The screen shows it in full. Once it is open, the question is accepted."""
        body = self.body
        if not isinstance(body, UrlBody):
            return
        body.tell("opening")
        self.run_worker(partial(self._open, body), thread=True, group="open", exclusive=True, exit_on_error=False)

    def _open(self, body: UrlBody) -> None:
        problem = open_in_browser(look_at(self.session.journal.redactor.restored(body.link.url)))
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._opened, body, problem)

    def _opened(self, body: UrlBody, problem: str) -> None:
        if problem:
            body.tell(problem)
        elif body.question.state == "open":
            body.accept()
            self._after()

    def action_copy(self) -> None:
        """Copy the URL."""
        if isinstance(self.body, UrlBody):
            self.post_message(Copy(self.body.link.url, "the URL"))

    def action_its_messages(self) -> None:
        if self.question is not None:
            self.post_message(ShowExchange(self.question.n))

    def focus_inside(self) -> bool:
        """Focus the first field of the answer, or the answer itself."""
        body = self.body if self.is_open else None
        if body is not None:
            return self.has_focus_within or body.focus_first()
        if self._looks_back:
            return False
        self.screen.set_focus(self._answer)
        return True


class AnswersBeside:
    """A list whose keys act on the question beside it, while `asked()` returns the pane of one.

    Not a widget: Textual takes the style of a widget's first base only.
    """

    asked: Callable[[], QuestionPane | None] = staticmethod(lambda: None)

    def asked_verbs(self) -> tuple[str, ...]:
        """Return the verbs of the question beside it; none without one."""
        pane = self.asked()
        return tuple(pane.verbs_beside()) if pane is not None else ()

    def action_answer(self) -> None:
        """Send the answer; if it has errors, go to them."""
        pane = self.asked()
        if pane is not None:
            pane.action_accept()

    def action_always(self) -> None:
        pane = self.asked()
        if pane is not None:
            pane.action_standing()

    def action_decline(self) -> None:
        pane = self.asked()
        if pane is not None:
            pane.action_decline()

    def action_later(self) -> None:
        pane = self.asked()
        if pane is not None:
            pane.post_message(QuestionPane.Later())

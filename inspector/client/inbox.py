"""The server's questions: sampling, elicitation, roots. They wait in the inbox for an answer.

Standing answers are set by the user in advance; nothing is answered without the user's knowledge. Source:
specification, "Client features" of each revision (C-ROOT-*, C-SAMP-*, C-ELIC-*).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from inspector.client.answer_program import AnswerProgram
from inspector.errors import InspectorError
from inspector.protocol import jsonrpc
from inspector.protocol.members import object_at, text_at
from inspector.protocol.revisions import Features

QuestionTopic = Literal["sampling", "elicitation", "roots"]
QuestionStatus = Literal["open", "answered", "declined", "cancelled", "refused", "withdrawn", "lost"]

MAX_QUESTIONS = 100
"""Maximum questions in one message of the server."""

TOPICS: dict[str, QuestionTopic] = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
METHODS = {topic: method for method, topic in TOPICS.items()}


HUMAN_MODEL, STANDING_MODEL = "human", "inspector/standing-answer"
"""The model in a sampling result: a person typed it, or it is a standing answer."""


class StandingAnswers(NamedTuple):
    """The standing answers. `None` for a topic: the capability is not declared to the server.

    `"ask"` adds the question to the inbox. Sampling: `"decline"`, the text of the answer, or a program. Elicitation:
    `"defaults"`, `"decline"`, `"cancel"`, the content (a dict), or a program. Roots: the URIs.
    """

    sampling: str | AnswerProgram | None = None
    elicitation: str | dict[str, Any] | AnswerProgram | None = None
    roots: tuple[str, ...] | Literal["ask"] | None = None

    @property
    def unattended(self) -> StandingAnswers:
        """The same answers without those that ask a person."""
        return StandingAnswers(
            None if self.sampling == "ask" else self.sampling,
            None if self.elicitation == "ask" else self.elicitation,
            None if self.roots == "ask" else self.roots,
        )

    def capabilities(self, features: Features) -> dict[str, Any]:
        """Return the client capabilities for these answers, in the format of a revision; without extensions."""
        offered: dict[str, Any] = {}
        if self.roots is not None:
            offered["roots"] = {"listChanged": True} if features.roots_changed else {}
        if self.sampling is not None:
            offered["sampling"] = {"tools": {}} if features.sampling_tools and self.sampling == "ask" else {}
        if self.elicitation is not None and features.elicitation_form:
            offered["elicitation"] = {"form": {}} if features.elicitation_modes else {}
            if features.elicitation_url and self.elicitation == "ask":
                offered["elicitation"]["url"] = {}
        return offered


AnswerReceiver = Callable[["Question", Any, "tuple[int, str] | None"], None]
"""Receives an answer: the question, its result, or the code and message of an error."""


class Question:
    """One request of the server that needs an answer of the user."""

    def __init__(
        self,
        n: int,
        id: Any,
        topic: QuestionTopic,
        params: dict[str, Any],
        parent: int,
        t: int,
        inbox: Inbox,
        reply: AnswerReceiver | None = None,
    ) -> None:
        self.n = n
        """The number in the journal of the asking message: a request, or a result that requires input."""
        self.id = id
        """The request's id, or the key of an input request."""
        self.topic = topic
        self.params = params
        self.parent = parent
        """The number of our request during which it came, or 0."""
        self.t = t
        self.state: QuestionStatus = "open"
        self.answer: Any = None
        self.problem = ""
        """Why our answer was rejected, until the next answer."""
        self.reply = reply
        """Receives the answer, if it is not the response to a server request."""
        self._inbox = inbox

    @property
    def key(self) -> tuple[int, Any]:
        """Identifies the question in its session. One message may hold several, so its number is not enough."""
        return self.n, jsonrpc.id_key(self.id)

    @property
    def mode(self) -> str:
        """The mode of an elicitation: `form` or `url`; a missing mode is the form (C-ELIC-01)."""
        mode = self.params.get("mode", "form")
        return mode if isinstance(mode, str) else "form"

    @property
    def message(self) -> str:
        """The message of an elicitation. Untrusted."""
        return text_at(self.params, "message")

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of an elicitation."""
        return object_at(self.params, "requestedSchema")

    def accept(self, content: Any) -> None:
        """Accept: an elicitation with its content (None for a URL), roots with the root objects, sampling with the
        result.
        """
        if self.topic == "elicitation":
            result: dict[str, Any] = {"action": "accept"}
            if content is not None:
                # The schema of ElicitResult requires an object here, whatever the requested schema.
                result["content"] = object_at(content)
        elif self.topic == "roots":
            result = {"roots": content}
        else:
            result = content
        self._inbox.settle(self, "answered", result=result)

    def reply_text(self, text: str, model: str = HUMAN_MODEL) -> None:
        """Answer a sampling request with a text. A text above `maxTokens` is sent complete, with a notice."""
        self.accept(sampling_result(text, model))
        self._inbox.report_length(self, text)

    def decline(self) -> None:
        """Decline: an elicitation is declined; sampling and roots get an error (C-SAMP-01)."""
        if self.topic == "elicitation":
            self._inbox.settle(self, "declined", result={"action": "decline"})
        else:
            what = "sampling request" if self.topic == "sampling" else "request for roots"
            self._inbox.settle(self, "declined", error=(jsonrpc.USER_REJECTED, f"User rejected {what}"))

    def cancel(self) -> None:
        """Dismiss: an elicitation is cancelled, any other question declined."""
        if self.topic == "elicitation":
            self._inbox.settle(self, "cancelled", result={"action": "cancel"})
        else:
            self.decline()

    async def answer_with(self, program: AnswerProgram) -> str:
        """Answer with what a program prints. If that is of no use, decline; returns why, else an empty text."""
        try:
            answer = await program.ask(METHODS[self.topic], self.params)
            if self.topic == "sampling" and isinstance(answer, str):
                self.reply_text(answer, program.name)
            elif isinstance(answer, dict) and (self.topic == "sampling" or "action" in answer):
                self.send(answer)
            else:
                expected = "a string or an object" if self.topic == "sampling" else "an object with “action”"
                raise InspectorError(f"its output is not {expected}")
        except InspectorError as error:
            self.decline()
            return f"{program.name} gave no answer: {error.message}. The question was declined."
        return ""

    def send(self, result: Any) -> None:
        """Answer with exactly this result, valid or not (edited by hand)."""
        self._inbox.settle(self, "answered", result=result)


def sampling_result(text: str, model: str) -> dict[str, Any]:
    """Return a `CreateMessageResult` with one text."""
    return {
        "role": "assistant",
        "content": {"type": "text", "text": text},
        "model": model,
        "stopReason": "endTurn",
    }


def excess(text: str, params: dict[str, Any]) -> str:
    """Return a sentence if the text has more words than `maxTokens` allows tokens (C-SAMP-02); else empty.

    The limit is meant for a model. A person or a program chose this text: cutting it would change its meaning. A word
    has at least one token, so a reported text is too long in any case.
    """
    limit, words = params.get("maxTokens"), len(text.split())
    if type(limit) is not int or limit < 0 or words <= limit:
        return ""
    return (
        f"The sampling answer has {words:,} words; the server allows {limit:,} tokens (maxTokens). It was sent "
        "complete."
    )


class Inbox:
    """The questions of a session, newest last. Answered ones remain up to a limit."""

    KEPT = 500
    OPEN_LIMIT = 1000
    """Open questions at once; further ones are declined, so that a hostile server cannot fill the memory."""

    def __init__(
        self,
        standing: StandingAnswers,
        reply: AnswerReceiver,
        changed: Callable[[], None],
        defaults: Callable[[dict[str, Any]], Any],
    ) -> None:
        self.standing = standing
        self.questions: list[Question] = []
        self.declined = 0
        """Questions that were declined because `OPEN_LIMIT` others were open."""
        self.on_open: Callable[[Question], None] | None = None
        self.on_closed: Callable[[Question], None] | None = None
        self.on_declined: Callable[[], None] | None = None
        """Called (cheap) with each such question."""
        self.on_program: Callable[[Question, AnswerProgram], object] | None = None
        """Starts a program that answers a question."""
        self._open: dict[Question, None] = {}
        self._trim_at = self.KEPT
        self.on_note: Callable[[str, Question], object] | None = None
        """Receives a notice for the user about a sent answer."""
        self._reply = reply
        self._changed = changed
        self._defaults = defaults

    def open(self) -> list[Question]:
        """The questions that wait for an answer, oldest first."""
        return list(self._open)

    def show(self, questions: list[Question]) -> None:
        """Replace the questions by these, each with its state: those of a recording at some moment."""
        self.questions = questions
        self._open = {question: None for question in questions if question.state == "open"}

    def ask(
        self,
        n: int,
        id: Any,
        topic: QuestionTopic,
        params: dict[str, Any],
        parent: int,
        t: int,
        *,
        reply: AnswerReceiver | None = None,
    ) -> Question:
        """Handle a new question: apply the standing answer, or keep it open. `reply` receives the answer instead of the
        server.
        """
        question = Question(n, id, topic, params, parent, t, self, reply)
        if len(self._open) >= self.OPEN_LIMIT:
            self._decline(question)
            return question
        self.questions.append(question)
        self._open[question] = None
        if len(self.questions) > self._trim_at:
            self._trim()
        self._changed()
        if self.on_open is not None:
            self.on_open(question)
        if topic == "sampling":
            self._standing_sampling(question)
        elif topic == "elicitation":
            self._standing_elicitation(question)
        elif isinstance(self.standing.roots, tuple):
            question.accept([root_object(uri) for uri in self.standing.roots])
        return question

    def _decline(self, question: Question) -> None:
        """Decline a question without showing it, count it, and report it."""
        self.declined += 1
        question.decline()  # This reports the change as well.
        if self.on_declined is not None:
            self.on_declined()

    def _trim(self) -> None:
        """Drop the oldest answered questions beyond the limit."""
        over = len(self.questions) - len(self._open) - self.KEPT
        kept: list[Question] = []
        for question in self.questions:
            if question.state == "open" or over <= 0:
                kept.append(question)
            else:
                over -= 1
        self.questions = kept
        self._trim_at = len(kept) + self.KEPT // 2

    def _standing_sampling(self, question: Question) -> None:
        answer = self.standing.sampling
        if answer == "decline":
            question.decline()
        elif isinstance(answer, AnswerProgram):
            self._ask_program(question, answer)
        elif answer is not None and answer != "ask":
            question.reply_text(answer, STANDING_MODEL)

    def _standing_elicitation(self, question: Question) -> None:
        answer = self.standing.elicitation
        if answer is None or answer == "ask":
            return
        if answer == "decline" or (question.mode == "url" and answer != "cancel"):
            question.decline()
        elif answer == "cancel":
            question.cancel()
        elif answer == "defaults":
            question.accept(self._defaults(question.schema))
        elif isinstance(answer, AnswerProgram):
            self._ask_program(question, answer)
        elif isinstance(answer, dict):
            question.accept(answer)

    def _ask_program(self, question: Question, program: AnswerProgram) -> None:
        if self.on_program is not None:
            self.on_program(question, program)

    def settle(
        self, question: Question, state: QuestionStatus, *, result: Any = None, error: tuple[int, str] | None = None
    ) -> None:
        """Send the answer to an open question; only once."""
        if question.state != "open":
            return
        question.state = state
        question.answer = result if error is None else {"error": {"code": error[0], "message": error[1]}}
        self._close(question)
        (question.reply or self._reply)(question, result, error)
        self._changed()

    def report_length(self, question: Question, text: str) -> None:
        """Notify the user if the answer to a sampling request is longer than the server allows."""
        sentence = excess(text, question.params)
        if sentence and question.state == "answered" and self.on_note is not None:
            self.on_note(sentence, question)

    def withdraw(self, id: Any) -> Question | None:
        """Remove a question that the server cancelled: no answer is sent (C-CANC-02)."""
        key = jsonrpc.id_key(id)
        for question in self._open:
            if question.reply is None and jsonrpc.id_key(question.id) == key:
                self.drop(question)
                return question
        return None

    def drop(self, question: Question) -> None:
        """Close a question whose answer is not needed any more."""
        if question.state == "open":
            self._end(question, "withdrawn")

    def lose_all(self) -> None:
        """Close all questions: the connection is lost."""
        for question in self.open():
            self._end(question, "lost")

    def _end(self, question: Question, state: QuestionStatus) -> None:
        question.state = state
        self._close(question)
        self._changed()

    def _close(self, question: Question) -> None:
        if question in self._open:
            del self._open[question]
            if self.on_closed is not None:
                self.on_closed(question)


def root_object(uri: str) -> dict[str, Any]:
    """Return a `Root` for a URI, named by its last part."""
    from urllib.parse import unquote

    name = unquote(uri.rstrip("/").rsplit("/", 1)[-1])
    return {"uri": uri, "name": name} if name else {"uri": uri}

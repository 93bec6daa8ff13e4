"""What the server asks of us: sampling, elicitation, roots. Questions wait in the inbox until somebody answers.

Standing answers are the user's, given beforehand; nothing is ever answered behind the user's back.
Source: specification, "Client features" of each revision (C-ROOT-*, C-SAMP-*, C-ELIC-*).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from inspector.protocol import jsonrpc
from inspector.protocol.revisions import Features

Topic = Literal["sampling", "elicitation", "roots"]
State = Literal["open", "answered", "declined", "cancelled", "refused", "withdrawn", "lost"]

MOST_QUESTIONS = 100
"""Questions that one answer of the server may ask."""
TASKS_EXTENSION = "io.modelcontextprotocol/tasks"

TOPICS: dict[str, Topic] = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}


HUMAN_MODEL, STANDING_MODEL = "human", "inspector/standing-answer"
"""The model that a sampling answer names: somebody typed it, or it was given beforehand."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How questions are answered without asking. `None` for a topic: it is not offered to the server at all.

    `"ask"` puts them into the inbox. Sampling: `"decline"` or the text to answer with. Elicitation: `"defaults"`,
    `"decline"`, `"cancel"` or the content (a dict). Roots: the URIs.
    """

    sampling: str | None = None
    elicitation: str | dict[str, Any] | None = None
    roots: tuple[str, ...] | Literal["ask"] | None = None

    def capabilities(self, features: Features) -> dict[str, Any]:
        """The client capabilities that these answers back, in the words of a revision."""
        offered: dict[str, Any] = {}
        if self.roots is not None:
            offered["roots"] = {"listChanged": True} if features.roots_changed else {}
        if self.sampling is not None:
            offered["sampling"] = {"tools": {}} if features.sampling_tools and self.sampling == "ask" else {}
        if self.elicitation is not None and features.elicitation_form:
            offered["elicitation"] = {"form": {}} if features.elicitation_modes else {}
            if features.elicitation_url and self.elicitation == "ask":
                offered["elicitation"]["url"] = {}
        if features.tasks_extension:
            offered["extensions"] = {TASKS_EXTENSION: {}}
        return offered


Reply = Callable[["Question", Any, "tuple[int, str] | None"], None]
"""Takes an answer: the question, its result, or the code and message of an error."""


class Question:
    """One request of the server that wants an answer from the user."""

    def __init__(
        self,
        n: int,
        id: Any,
        topic: Topic,
        params: dict[str, Any],
        parent: int,
        t: int,
        inbox: Inbox,
        reply: Reply | None = None,
    ) -> None:
        self.n = n
        """The number in the journal of the message that asks: a request, or a result that wants input."""
        self.id = id
        """The request's id, or the key of an input request."""
        self.topic = topic
        self.params = params
        self.parent = parent
        """The number of the request of ours inside which it came, or 0."""
        self.t = t
        self.state: State = "open"
        self.answer: Any = None
        self.problem = ""
        """Why an answer of ours was not taken, until the next one."""
        self.reply = reply
        """Who takes the answer, where it is not an answer to a request of the server."""
        self._inbox = inbox

    @property
    def key(self) -> tuple[int, Any]:
        """What identifies the question in its session. One message may ask several: its number is not enough."""
        return self.n, jsonrpc.id_key(self.id)

    @property
    def mode(self) -> str:
        """Of an elicitation: `form` or `url`; a missing mode is the form (C-ELIC-01)."""
        mode = self.params.get("mode", "form")
        return mode if isinstance(mode, str) else "form"

    @property
    def message(self) -> str:
        """Of an elicitation: what the server says. Untrusted."""
        text = self.params.get("message")
        return text if isinstance(text, str) else ""

    @property
    def schema(self) -> dict[str, Any]:
        """Of an elicitation: what it wants to know, as a JSON Schema."""
        schema = self.params.get("requestedSchema")
        return schema if isinstance(schema, dict) else {}

    def accept(self, content: Any) -> None:
        """Elicitation: accept, with the content (None for a URL). Roots: the root objects. Sampling: the result."""
        if self.topic == "elicitation":
            result: dict[str, Any] = {"action": "accept"}
            if content is not None:
                # The schema of ElicitResult wants an object here, whatever the server asks for.
                result["content"] = content if isinstance(content, dict) else {}
        elif self.topic == "roots":
            result = {"roots": content}
        else:
            result = content
        self._inbox.settle(self, "answered", result=result)

    def reply_text(self, text: str, model: str = HUMAN_MODEL) -> None:
        """Sampling: answer with a text as the model would. A text above `maxTokens` is sent whole, with a note."""
        self.accept(sampling_result(text, model))
        self._inbox.report_length(self, text)

    def decline(self) -> None:
        """Say no: an elicitation is declined; sampling and roots are refused with an error (C-SAMP-01)."""
        if self.topic == "elicitation":
            self._inbox.settle(self, "declined", result={"action": "decline"})
        else:
            what = "sampling request" if self.topic == "sampling" else "request for roots"
            self._inbox.settle(self, "declined", error=(jsonrpc.USER_REJECTED, f"User rejected {what}"))

    def cancel(self) -> None:
        """Dismiss without a choice: an elicitation is cancelled, anything else is declined."""
        if self.topic == "elicitation":
            self._inbox.settle(self, "cancelled", result={"action": "cancel"})
        else:
            self.decline()

    def send(self, result: Any) -> None:
        """Answer with exactly this result, whatever it is (edited by hand)."""
        self._inbox.settle(self, "answered", result=result)


def sampling_result(text: str, model: str) -> dict[str, Any]:
    """A `CreateMessageResult` with one text."""
    return {
        "role": "assistant",
        "content": {"type": "text", "text": text},
        "model": model,
        "stopReason": "endTurn",
    }


def excess(text: str, params: dict[str, Any]) -> str:
    """A sentence if the text has more words than `maxTokens` allows tokens (C-SAMP-02); empty if it does not.

    The limit is one for a model. A person, or a program, chose this text: cutting it would change what they said.
    A word has one token at least, so a text that is reported is too long in any case.
    """
    limit, words = params.get("maxTokens"), len(text.split())
    if type(limit) is not int or limit < 0 or words <= limit:
        return ""
    return (
        f"The sampling answer has {words:,} words; the server allows {limit:,} tokens (maxTokens). It was sent whole."
    )


class Inbox:
    """The questions of a session, newest last. Answered ones stay, to be looked at, up to a bound."""

    KEPT = 500
    OPEN_LIMIT = 1000
    """Questions open at once; more are declined, so that a hostile server cannot fill the memory."""

    def __init__(
        self,
        standing: Standing,
        reply: Reply,
        changed: Callable[[], None],
        defaults: Callable[[dict[str, Any]], Any],
    ) -> None:
        self.standing = standing
        self.questions: list[Question] = []
        self.declined = 0
        """Questions that were declined because `OPEN_LIMIT` others were open."""
        self.on_open: Callable[[Question], None] | None = None
        self.on_closed: Callable[[Question], None] | None = None
        self.on_declined: Callable[[int], None] | None = None
        """Told how many have been declined so: of the first, and then whenever ten times as many were."""
        self._open: dict[Question, None] = {}
        self._trim_at = self.KEPT
        self.on_note: Callable[[str, Question], object] | None = None
        """Gets a sentence for the user about an answer that was sent."""
        self._reply = reply
        self._changed = changed
        self._defaults = defaults

    def open(self) -> list[Question]:
        """The questions that wait for an answer, oldest first."""
        return list(self._open)

    def show(self, questions: list[Question]) -> None:
        """Have exactly these questions, each as it stands: those of a recording at some moment."""
        self.questions = questions
        self._open = {question: None for question in questions if question.state == "open"}

    def ask(
        self,
        n: int,
        id: Any,
        topic: Topic,
        params: dict[str, Any],
        parent: int,
        t: int,
        *,
        reply: Reply | None = None,
    ) -> Question:
        """A question arrived: answer it by the standing answer, or let it wait. `reply` takes the answer instead."""
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
        """Decline a question that will not be shown, count it, and say so."""
        self.declined += 1
        question.decline()  # Tells of the change, too.
        if self.on_declined is not None and str(self.declined).strip("0") == "1":
            self.on_declined(self.declined)

    def _trim(self) -> None:
        """Forget the oldest of those that are over."""
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
        elif isinstance(answer, dict):
            question.accept(answer)

    def settle(
        self, question: Question, state: State, *, result: Any = None, error: tuple[int, str] | None = None
    ) -> None:
        """Send the answer to a question that is open; once only."""
        if question.state != "open":
            return
        question.state = state
        question.answer = result if error is None else {"error": {"code": error[0], "message": error[1]}}
        self._close(question)
        (question.reply or self._reply)(question, result, error)
        self._changed()

    def report_length(self, question: Question, text: str) -> None:
        """Tell the user if the text that answered a sampling request is longer than the server allows."""
        sentence = excess(text, question.params)
        if sentence and question.state == "answered" and self.on_note is not None:
            self.on_note(sentence, question)

    def withdraw(self, id: Any) -> Question | None:
        """The server took its request back: no answer is sent (C-CANC-02)."""
        key = jsonrpc.id_key(id)
        for question in self._open:
            if question.reply is None and jsonrpc.id_key(question.id) == key:
                self.drop(question)
                return question
        return None

    def drop(self, question: Question) -> None:
        """Nobody wants the answer to this question any more."""
        if question.state == "open":
            self._end(question, "withdrawn")

    def lose_all(self) -> None:
        """The connection is gone: nobody waits for the answers any more."""
        for question in self.open():
            self._end(question, "lost")

    def _end(self, question: Question, state: State) -> None:
        question.state = state
        self._close(question)
        self._changed()

    def _close(self, question: Question) -> None:
        if question in self._open:
            del self._open[question]
            if self.on_closed is not None:
                self.on_closed(question)


def root_object(uri: str) -> dict[str, Any]:
    """A `Root` for a URI, named by its last part."""
    from urllib.parse import unquote

    name = unquote(uri.rstrip("/").rsplit("/", 1)[-1])
    return {"uri": uri, "name": name} if name else {"uri": uri}

"""Callbacks that answer the server's questions: the program that opened the session is the user."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from inspector.library.results import Elicitation, SamplingRequest

if TYPE_CHECKING:
    from inspector.client.inbox import Inbox, Question

CALLBACK_MODEL = "inspector/callback"
"""The model in a sampling result whose callback returned only a text."""

SamplingAnswer: TypeAlias = "str | Mapping[str, Any] | None"
"""The text of the model's answer, a full `CreateMessageResult`, or None to decline."""
ElicitationAnswer: TypeAlias = "Mapping[str, Any] | str | None"
"""The content (for a URL: `{}` after the visit), `"defaults"`, `"cancel"`, or None or `"decline"` to decline."""
SamplingCallback: TypeAlias = Callable[[SamplingRequest], "SamplingAnswer | Awaitable[SamplingAnswer]"]
ElicitationCallback: TypeAlias = Callable[[Elicitation], "ElicitationAnswer | Awaitable[ElicitationAnswer]"]


class CallbackRunner:
    """Passes an inbox's open questions to the callbacks. A callback's exception is stored for the caller that waits."""

    def __init__(
        self, inbox: Inbox, sampling: SamplingCallback | None, elicitation: ElicitationCallback | None
    ) -> None:
        self._inbox = inbox
        self._sampling = sampling
        self._elicitation = elicitation
        self._asked: set[Question] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._raised: BaseException | None = None

    def ask_new(self) -> None:
        """Pass on the questions that are new."""
        waiting = self._inbox.open()
        for question in waiting:
            if question not in self._asked:
                task = asyncio.get_running_loop().create_task(self._ask(question))
                self._tasks.add(task)
                task.add_done_callback(self._ended)
        self._asked = set(waiting)

    async def _ask(self, question: Question) -> None:
        try:
            if question.topic == "sampling" and self._sampling is not None:
                answer: Any = self._sampling(SamplingRequest(question.params))
                _settle_sampling(question, await answer if isinstance(answer, Awaitable) else answer)
            elif question.topic == "elicitation" and self._elicitation is not None:
                asked = Elicitation(question.params)
                answer = self._elicitation(asked)
                _settle_elicitation(question, asked, await answer if isinstance(answer, Awaitable) else answer)
        finally:
            question.decline()  # No effect on an answered question.

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and self._raised is None:
            self._raised = error

    def raise_problem(self) -> None:
        """Raise a callback's exception, once."""
        error, self._raised = self._raised, None
        if error is not None:
            raise error

    async def close(self) -> None:
        """Cancel the callbacks that are still running."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def _settle_sampling(question: Question, answer: Any) -> None:
    if isinstance(answer, str):
        question.reply_text(answer, CALLBACK_MODEL)
    elif isinstance(answer, Mapping):
        question.send(dict(answer))
    elif answer is None:
        question.decline()
    else:
        raise TypeError(f"A sampling callback must return a text, a mapping or None, not {type(answer).__name__}.")


def _settle_elicitation(question: Question, asked: Elicitation, answer: Any) -> None:
    if isinstance(answer, Mapping):
        question.accept(dict(answer) if asked.mode == "form" else None)
    elif answer == "defaults":
        question.accept(asked.defaults())
    elif answer == "cancel":
        question.cancel()
    elif answer is None or answer == "decline":
        question.decline()
    else:
        raise TypeError(
            f"An elicitation callback must return a mapping, “defaults”, “cancel” or None, not {answer!r:.80}."
        )

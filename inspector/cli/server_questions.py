"""Answers requests of the server on the terminal (`--ask`), one after the other, field by field.

Requests are shown on stderr, answers are read from stdin; stdout is for the result. Requests that an option answers
(`--sampling`, `--elicit`, `--root`) are not shown.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.addresses import shown_url
from inspector.cli.login_prompts import TerminalLines
from inspector.client.inbox import root_object
from inspector.file_uris import to_uri
from inspector.protocol import jsonrpc, views
from inspector.protocol.forms.form import UNSET, Form

if TYPE_CHECKING:
    from inspector.cli.output import Output
    from inspector.client.inbox import Question
    from inspector.client.session import Session
    from inspector.protocol.forms.form import Field

TEXT = 4000
"""Characters shown of a message of the server."""
NAME = 200
MAX_URL = 8000
MAX_CHOICES = 50
MAX_TRIES = 10
"""Wrong answers to one question, after which it is cancelled."""
MAX_REPLY_LINES = 10_000
"""Lines of a reply as the model; it ends with the last of them."""
_YES_NO = {"y": "true", "yes": "true", "n": "false", "no": "false"}


class _Left(Exception):
    """The user declined or cancelled while answering."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


class QuestionPrompts:
    """Shows the requests in a session's inbox to the user at the terminal. `close` ends it.

    `hold` is called with True while a request is on the screen, so that nothing else is drawn over it.
    """

    def __init__(self, session: Session, out: Output, hold: Callable[[bool], None]) -> None:
        self._session = session
        self._out = out
        self._hold = hold
        self._lines = TerminalLines(sys.stdin.fileno())
        self._new = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run())

    def session_changed(self) -> None:
        """The session has changed: there may be a new request."""
        self._new.set()

    async def close(self) -> None:
        """Show no more requests, and stop reading stdin. Idempotent."""
        self._task.cancel()
        await asyncio.wait([self._task])
        self._lines.close()
        self._hold(False)

    async def _run(self) -> None:
        while True:
            waiting = self._session.inbox.open()
            if not waiting:
                self._new.clear()
                await self._new.wait()
                continue
            self._hold(True)
            await self._ask(waiting[0])
            self._hold(False)

    async def _ask(self, question: Question) -> None:
        """Show one request; a user who does not want to answer declines it."""
        answer = asyncio.get_running_loop().create_task(self._answer(question))
        try:
            # The server may withdraw its request or disconnect while the user types.
            while not answer.done() and question.state == "open":
                self._new.clear()
                changed = asyncio.get_running_loop().create_task(self._new.wait())
                await asyncio.wait([answer, changed], return_when=asyncio.FIRST_COMPLETED)
                changed.cancel()
            if not answer.done():
                self._say(f"\nThe request is {question.state} and needs no answer.")
                return
            answer.result()
        except _Left as left:
            question.cancel() if left.how == "cancel" else question.decline()
            self._say("Cancelled." if left.how == "cancel" else "Declined.")
        finally:
            answer.cancel()

    async def _answer(self, question: Question) -> None:
        if question.topic == "sampling":
            await self._sampling(question)
        elif question.topic == "roots":
            await self._roots(question)
        elif question.mode == "url":
            await self._url(question)
        else:
            await self._form(question)

    # Elicitation

    async def _form(self, question: Question) -> None:
        self._title("asks for input", question.message)
        form = Form(question.schema)
        await self._consent("Enter to answer, d to decline, c to cancel: ")
        done: set[str] = set()
        while (field := next((one for one in form.fields() if one.path and one.path not in done), None)) is not None:
            done.add(field.path)
            await self._field(form, field)
        errors = form.errors()
        if errors:
            self._say(
                "".join(f"\n  {self._safe(path or 'answer')}: {self._safe(reason)}" for path, reason in errors.items())
            )
            await self._consent("This does not match the schema. Enter to send it anyway, d to decline, c to cancel: ")
        content = form.value()
        question.accept(content if isinstance(content, dict) else {})

    async def _field(self, form: Form, field: Field) -> None:
        """Ask for one field until its value is valid; an empty line takes the default, or leaves it unset."""
        if field.kind == "object":
            return  # Its members are separate fields.
        about = ", ".join(filter(None, (field.hint, "required" if field.required else "")))
        self._say(f"\n{self._safe(field.label, NAME)} ({about})")
        if field.description:
            self._say(f"  {self._safe(field.description, TEXT)}")
        for number, choice in enumerate(field.choices[:MAX_CHOICES], 1):
            self._say(f"  {number}  {self._safe(choice.label, NAME)}")
        default = f" [{self._safe(field.default_text, NAME)}]" if field.default is not UNSET else ""
        ways = " (y/n)" if field.kind == "boolean" else ""
        for _ in range(MAX_TRIES):
            text = await self._line(f"{self._safe(field.name, 60)}{ways}{default}: ")
            if not text and field.default is not UNSET:
                form.put(field.path, field.default)
                return
            if not text and not (field.required and field.kind != "string"):
                if field.required:
                    form.put(field.path, "")
                else:
                    form.unset(field.path)
            elif text:
                value, problem = _read(form, field, text)
                if problem:
                    self._say(f"  {self._safe(text, 80)} {self._safe(problem)}")
                    continue
                form.put(field.path, value)
            problem = form.errors().get(field.path, "")
            if not problem:
                return
            self._say(f"  {self._safe(problem)}")
        raise self._too_often()

    async def _url(self, question: Question) -> None:
        url = question.params.get("url")
        self._title("asks you to open a URL", question.message)
        url_text = shown_url(url, MAX_URL) if isinstance(url, str) else self._safe(url, MAX_URL)
        self._say(f"\n  {self._out.safe(url_text)}\n")
        await self._consent("Open it only if you trust it. Enter when done, d to decline, c to cancel: ")
        question.accept(None)

    # Sampling and roots

    async def _sampling(self, question: Question) -> None:
        messages = question.params.get("messages")
        self._title("asks a model for a reply", "")
        for message in messages if isinstance(messages, list) else ():
            role = message.get("role") if isinstance(message, dict) else "?"
            self._say(f"\n  {self._safe(role, 40)}: {self._safe(_message_text(message), TEXT)}")
        await self._consent("\nEnter to reply as the model, d to decline: ")
        self._say("Type the reply. End it with a line that contains only a dot.")
        lines: list[str] = []
        while len(lines) < MAX_REPLY_LINES and (line := await self._line("")) != ".":
            lines.append(line)
        question.reply_text("\n".join(lines))

    async def _roots(self, question: Question) -> None:
        folder = str(Path.cwd())
        self._title("asks for its roots (folders that it may use)", "")
        answer = await self._line(f"Enter for {self._safe(folder, NAME)}, or type another folder, or d to decline: ")
        if answer == "d":
            raise _Left("decline")
        path = Path(answer).expanduser().absolute() if answer else Path(folder)
        question.accept([root_object(to_uri(str(path)))])

    # Terminal

    def _title(self, what: str, message: str) -> None:
        name = self._session.server.name or "The server"
        self._say(f"\n{self._safe(name, NAME)} {what}{':' if message else '.'}")
        if message:
            self._say("\n".join(self._out.wrapped(message[:TEXT], "  ")))

    async def _consent(self, prompt: str) -> None:
        """Continue on Enter; raises `_Left` for d and c."""
        for _ in range(MAX_TRIES):
            answer = (await self._line(prompt)).strip().lower()
            if not answer:
                return
            if answer in ("d", "decline", "c", "cancel"):
                raise _Left("cancel" if answer[0] == "c" else "decline")
            self._say(f"  {self._safe(answer, 80)} is not one of the answers.")
        raise self._too_often()

    def _too_often(self) -> _Left:
        # A program that answers wrongly would be asked without end.
        self._say(f"  {MAX_TRIES} answers were wrong.")
        return _Left("cancel")

    async def _line(self, prompt: str) -> str:
        self._out.aside(prompt)
        line = await self._lines.next()
        if line is None:
            raise _Left("cancel")
        return line

    def _say(self, text: str) -> None:
        self._out.ask(text)

    def _safe(self, value: object, limit: int = NAME) -> str:
        return self._out.safe(value, limit)


def _read(form: Form, field: Field, text: str) -> tuple[Any, str]:
    """The value of a line: a choice by its number, label or value; several separated by commas."""
    if field.kind == "boolean":
        text = _YES_NO.get(text.strip().lower(), text)
    if not field.choices:
        return form.read(field.path, text)
    names: dict[str, Any] = {}
    for number, choice in enumerate(field.choices, 1):
        names.setdefault(str(number), choice.value)
    for choice in field.choices:  # A value that is written out wins over a number.
        names[choice.label] = choice.value
        names[choice.value if isinstance(choice.value, str) else jsonrpc.encode(choice.value).decode()] = choice.value
    words = [word.strip() for word in text.split(",")] if field.kind == "multi" else [text.strip()]
    unknown = next((word for word in words if word not in names), None)
    if unknown is not None:
        return UNSET, "is not one of the choices"
    values = [names[word] for word in words]
    return (values if field.kind == "multi" else values[0]), ""


def _message_text(message: Any) -> str:
    """The text of a sampling message; other content by its type."""
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else [content]
    parts = []
    for block in blocks:
        view = views.View(block)
        parts.append(view.text("text") or f"({view.text('type') or 'no content'})")
    return " ".join(parts)

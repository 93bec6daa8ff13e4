"""A shell script that sends the client's messages again: with curl over HTTP, through a pipe over stdio.

The messages are exactly the recorded ones except for redacted values: those are required variables, except for the
session id, which the script reads from the response to its own `initialize`. An answer to a question of the server is
sent after the server has asked: over HTTP the enclosing request runs in the background, over stdio the script searches
the server's output for the question.

Of selected messages, the handshake before the first of them is part of the script: many servers refuse everything else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO

from inspector.formats.http_exchanges import HttpExchanges, headers_of
from inspector.formats.quoting import (
    REDACTED,
    SECRET,
    SESSION,
    VARIABLE,
    fields_to_send,
    one_line,
    posix_word,
    program_part,
    remark,
    variable,
)
from inspector.formats.selection import Selection, left_out
from inspector.journal.filters.conditions import subjects_of
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import View
from inspector.version import __version__

_STATE = "A requestState in it is the recorded one: the server may refuse it, because it made it for that session."
_HANDSHAKES = Query(dir=Dir.SEND, shape=Shape.REQUEST, method="initialize", state=State.DONE)
_INITIALIZED = Query(dir=Dir.SEND, shape=Shape.NOTIFICATION, method="notifications/initialized")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the script to `out`, message by message."""
    script = _Script(journal, _with_handshake(journal, Selection(journal, numbers)))
    out.write("#!/bin/sh\n")
    out.write(f"# Sends the messages of a recorded session again. Written by inspector {__version__}.\n")
    out.write(f"# The recording: {remark(journal.header.get('id'))}\nset -eu\n")
    out.writelines(f': "${{{name}:?must be set: the recording does not contain it}}"\n' for name in script.secrets())
    out.writelines(script.over_http() if script.http else script.over_stdio())
    return [
        *left_out(
            script.missing,
            "message that is not text, or was not sent over HTTP",
            "messages that are not text, or were not sent over HTTP",
        ),
        *([_STATE] if script.has_state else []),
    ]


def _with_handshake(journal: Journal, chosen: Selection) -> Selection:
    """Return the selection with the last successful handshake before its first message, if it has none itself."""
    if chosen.everything:
        return chosen
    index = journal.index
    first = next((n for n in chosen if index.dir(n) is Dir.SEND or index.pair(n)), 0)
    begun = _HANDSHAKES.last(index, 0, first) if first else 0
    if not begun or any(n in chosen or index.pair(n) in chosen for n in _HANDSHAKES.forwards(index, 0, chosen.count)):
        return chosen
    ready = _INITIALIZED.first(index, begun, chosen.count)
    return Selection(journal, (begun, *((ready,) if ready else ()), *chosen))


class _Script:
    def __init__(self, journal: Journal, chosen: Selection) -> None:
        self._journal = journal
        self._index = journal.index
        self._chosen = chosen
        self._heads = HttpExchanges(journal)
        self._target = View(journal.header.get("target"))
        self.http = bool(self._target.text("url"))
        self.missing = 0
        self.has_state = False

    def secrets(self) -> list[str]:
        """Return the variables that must be set to run the script."""
        secrets: dict[str, None] = {}
        if not self.http:
            names = self._target.array("env")
            secrets.update((name, None) for name in names if isinstance(name, str) and VARIABLE.fullmatch(name))
            if any(isinstance(argument, str) and REDACTED.search(argument) for argument in self._target.array("argv")):
                secrets[SECRET] = None
        for event in self._sent():
            head = self._heads.head_of(event.n)
            if REDACTED.search(event.text):
                secrets[SECRET] = None
            if not head:
                continue
            fields = next(self._journal.events(head, head)).fields
            if REDACTED.search(View(fields).text("url")):
                secrets[SECRET] = None
            for name, value in headers_of(fields):
                if REDACTED.search(value):
                    secrets[variable(name)] = None
        secrets.pop(SESSION, None)
        return sorted(secrets)

    def _sent(self) -> Iterator[Event]:
        """Yield the client's selected messages; a request also if its response is selected."""
        index = self._index
        for n in range(1, self._chosen.count + 1):
            if index.dir(n) is not Dir.SEND or index.kind(n) not in (Kind.RPC, Kind.INVALID):
                continue
            answer = index.pair(n) if index.shape(n) is Shape.REQUEST else 0
            if n in self._chosen or (answer and answer in self._chosen):
                yield next(self._journal.events(n, n))

    def _comment(self, event: Event, indent: str = "") -> str:
        name = next(iter(subjects_of(event.message)), "")
        what = self._index.method(event.n)
        if self._index.shape(event.n) in (Shape.RESULT, Shape.ERROR):
            what = f"answer to {what}"
        lines = [f"{event.n}: {remark(f'{what} {name}'.strip() or 'a message')}"]
        if "requestState" in View(event.message).object("params"):
            self.has_state = True
            lines.append("Its requestState is the recorded one: the server may refuse it.")
        return "".join(f"{indent}# {line}\n" for line in lines)

    # stdio

    def over_stdio(self) -> Iterator[str]:
        """Yield the commands that pipe the messages to the server, and keep the pipe open for the responses."""
        answers = any(self._index.shape(event.n) in (Shape.RESULT, Shape.ERROR) for event in self._sent())
        if answers:
            yield program_part("until_asked")
        asked: Counter[str] = Counter()
        if self._target.text("cwd"):
            yield f"cd -- {posix_word(self._target.text('cwd'))}\n"
        yield "{\n"
        opened = False
        for event in self._sent():
            if event.raw is None or _NO_TEXT.search(event.raw):
                self.missing += 1
                continue
            yield self._comment(event, "  ")
            if self._index.shape(event.n) in (Shape.RESULT, Shape.ERROR):
                method = self._index.method(event.n)
                asked[method] += 1
                yield f"  until_asked {posix_word(method)} {asked[method]}\n"
            yield f"  printf '%s\\n' {_message(event)}\n"
            if not opened:
                opened = True
                yield '  sleep "${PAUSE:-1}"  # for the server to start\n'
        argv = [argument for argument in self._target.array("argv") if isinstance(argument, str)]
        yield (
            '  sleep "${WAIT:-2}"  # for the last responses\n} | '
            + (" ".join(map(posix_word, argv)) or '"$@"')
            + (' | tee "$SEEN"\n' if answers else "\n")
        )

    # HTTP

    def over_http(self) -> Iterator[str]:
        """Yield a curl command for each message sent by POST."""
        yield f'{SESSION}=""\nHEAD=$(mktemp)\ntrap \'rm -f "$HEAD"\' EXIT\n'
        waiting = False
        for event in self._sent():
            head = self._heads.head_of(event.n)
            if not head or event.raw is None or _NO_TEXT.search(event.raw):
                self.missing += 1
                continue
            answers = self._index.shape(event.n) in (Shape.RESULT, Shape.ERROR)
            if waiting and not answers:
                waiting = False
                yield "wait\n"
            asked_back = any(self._index.shape(m) is Shape.REQUEST for m in self._chosen.inside(event.n))
            yield f"\n{self._comment(event)}{self._curl(event, head)}"
            if asked_back:
                waiting = True
                yield ' &\nsleep "${PAUSE:-1}"\n'
            else:
                yield "\n"
            if self._index.method(event.n) == "initialize":
                yield (
                    f"{SESSION}=$(tr -d '\\r' < \"$HEAD\" | "
                    "sed -n 's/^[Mm][Cc][Pp]-[Ss]ession-[Ii][Dd]: *//p' | tail -n 1)\n"
                )
        if waiting:
            yield "wait\n"

    def _curl(self, event: Event, head: int) -> str:
        fields = next(self._journal.events(head, head)).fields
        url = View(fields).text("url") or self._target.text("url")
        words = [
            f"{{ printf '%s' {_message(event)} |",
            f'curl -gsSN --proto =http,https --max-time "${{WAIT:-60}}" -D "$HEAD" -X POST --url {posix_word(url)}',
        ]
        words += [
            f"-H {posix_word(f'{name}: {value}', variable(name))}" for name, value in fields_to_send(headers_of(fields))
        ]
        return " \\\n    ".join([*words, "--data-binary @- || true; echo; }"]).replace("| \\\n", "|\n", 1)


def _message(event: Event) -> str:
    """Return a message as a shell word: on one line, with terminal control characters escaped.

    Those can only be in strings, where an escape means the same (RFC 8259 section 7).
    """
    text = one_line(event.text)
    if event.kind is Kind.RPC and not (text.isascii() and text.isprintable()):
        text = "".join(map(_visible, text))
    return posix_word(text)


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))

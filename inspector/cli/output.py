"""What is printed: results to stdout, everything else to stderr, errors as a sentence or as one line of JSON.

Text of a server goes out through `Output.safe` only; JSON goes out in UTF-8, with the characters that a terminal obeys
written as escapes.
"""

from __future__ import annotations

import io
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, Protocol

from inspector.cli.program import renamed
from inspector.errors import InspectorError, ServerExited, UsageError

NAME_CELLS = 48
"""Cells to which a column other than the last is filled up."""
LAST_CELLS = 24
"""Cells that the last column gets if the others can spare them."""
LEAST_CELLS = 12
"""Cells below which a column does not give way."""
GAP = 2
PIPED = 2000
"""Characters of one cell where there is no screen whose width would end it."""
LAST_WORDS = 20
MOST_HELD = 200
"""Notes that wait for the end of a command; of more the newest."""

_ASCII = str.maketrans({"“": '"', "”": '"', "…": "...", "—": "-", "–": "-", "‘": "'", "’": "'", "·": ".", "×": "x"})


class _Held:
    """Notes that wait for the end of the command: with `--json` an error is the only line on stderr and holds them.

    Of many the newest are kept, and how many others there were.
    """

    def __init__(self) -> None:
        self._texts: deque[str] = deque(maxlen=MOST_HELD)
        self._added = 0

    def add(self, text: str) -> None:
        self._texts.append(text)
        self._added += 1

    def take(self) -> list[str]:
        """All of them, once."""
        left_out = self._added - len(self._texts)
        found = [*([f"note: {left_out:,} earlier notes are left out."] if left_out else []), *self._texts]
        self._texts.clear()
        self._added = 0
        return found


class Asked(Protocol):
    """What was said to a verb, as far as it is about printing (`inspector.cli.verb.Invocation`)."""

    out: Output | None

    @property
    def json(self) -> bool:
        """Whether the result is wanted as JSON."""

    @property
    def quiet(self) -> bool:
        """Whether stderr is for errors only."""


class Output:
    """Where a command prints. Streams are looked up when they are used, so that they can be exchanged."""

    def __init__(self, *, json: bool = False, quiet: bool = False) -> None:
        self.json = json
        self.quiet = quiet
        self.before_result: Callable[[], None] | None = None
        """Tells on stderr what came before the result."""
        self.unread = False
        """Whoever read stdout has gone: what is printed from now on reaches nobody."""
        self._held = _Held()
        self._failed = False
        """The line with the error has been printed."""
        self._ascii: bool | None = None

    @classmethod
    def of(cls, said: Asked) -> Output:
        """The one output of a command."""
        if said.out is None:
            said.out = cls(json=said.json, quiet=said.quiet)
        return said.out

    @property
    def ascii(self) -> bool:
        """Whether only ASCII can be counted on."""
        if self._ascii is None:
            from inspector.text import wants_ascii

            self._ascii = wants_ascii(os.environ, getattr(sys.stdout, "encoding", None))
        return self._ascii

    @property
    def width(self) -> int | None:
        """Cells in a line of stdout; None where it is no screen."""
        given = os.environ.get("COLUMNS", "")
        if given.isascii() and given.isdigit() and 0 < int(given) < 10_000:
            return max(int(given), 20)
        try:
            return max(os.get_terminal_size(sys.stdout.fileno()).columns, 20)
        except (OSError, ValueError, AttributeError):
            return None

    def safe(self, value: object, limit: int | None = None, *, multiline: bool = False) -> str:
        """Text that is not ours, so that it stands where it is put."""
        from inspector.text import safe

        return safe(value, limit, multiline=multiline, ascii=self.ascii)

    def wrapped(self, value: object, indent: str = "") -> list[str]:
        """Text that is not ours in safe lines, wrapped to the screen and indented."""
        from inspector.text import lines

        width = None if self.width is None else max(self.width - len(indent), 20)
        return [indent + line for line in lines(value, width, ascii=self.ascii)]

    # Results

    def line(self, text: str = "") -> None:
        """One line of the result. What is not ours in it has gone through `safe`."""
        self.lines((text,))

    def lines(self, lines: Iterable[str]) -> None:
        """Lines of the result, printed at once."""
        text = "".join(f"{line}\n" for line in lines)
        if self.ascii:
            text = text.translate(_ASCII)
        if text:
            self._result(text.encode("ascii" if self.ascii else "utf-8", "backslashreplace"))

    def document(self, value: Any) -> None:
        """The result as one JSON document, from a value."""
        from inspector.protocol import jsondepth, jsonrpc

        try:
            text = jsonrpc.encode(value).decode()
        except RecursionError:
            raise InspectorError(
                "The result is nested too deeply to be printed.", hint="Its recording holds it."
            ) from None
        if jsondepth.LEFT_OUT in text:
            self.warn(
                f"note: What is nested deeper than {jsondepth.DEEPEST} levels is left out; the recording holds it."
            )
        self.document_text(text)

    def document_text(self, text: str) -> None:
        """The result as one JSON document, from its exact text."""
        self.documents((text,))

    def documents(self, texts: Iterable[str]) -> None:
        """JSON documents, a line each, from their exact text."""
        from inspector.text import escape_json

        printed: list[str] = []
        for text in texts:
            if "NaN" in text or "Infinity" in text:
                from inspector.export.exact import strict

                text, changed = strict(text)
                if changed:
                    self.note("note: The server sent NaN or Infinity, which are no JSON: printed as null and 1e999.")
            printed.append(f"{escape_json(text)}\n")
        if printed:
            self._result("".join(printed).encode("utf-8"))

    def pretty(self, text: str) -> None:
        """JSON text for people: indented, safe, every number as it is written."""
        from inspector.protocol.jsontext import pretty

        self.lines(self.safe(line) for line in pretty(text))

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Rows of safe cells in aligned columns. On a screen the widest columns give way, so that the last has room."""
        from inspector.text import cell_len, ellipsis, signs

        cut, screen = signs(self.ascii).cut, self.width
        columns = [column for column in zip(*rows, strict=True) if any(column)]
        if not columns:
            return
        widths = [min(max(map(cell_len, column)), NAME_CELLS) for column in columns]
        if screen is not None:
            widths[-1] = min(widths[-1], LAST_CELLS)
            while sum(widths) + GAP * (len(widths) - 1) > screen and max(widths[:-1], default=0) > LEAST_CELLS:
                widths[widths.index(max(widths[:-1]))] -= 1
        printed = []
        for cells in zip(*columns, strict=True):
            line = ""
            for cell, width in zip(cells[:-1], widths, strict=False):
                shown = cell if screen is None else ellipsis(cell, width, cut)
                line += shown + " " * (max(width - cell_len(shown), 0) + GAP)
            line += cells[-1]
            printed.append((line if screen is None else ellipsis(line, screen, cut)).rstrip())
        self.lines(printed)

    @contextmanager
    def stream(self) -> Iterator[IO[str]]:
        """Stdout as a UTF-8 file, for a result written piece by piece. Writing stops where the reader has gone."""
        with self.binary_stream() as binary:
            file = io.TextIOWrapper(binary, encoding="utf-8", errors="backslashreplace", newline="\n")
            try:
                yield file
                file.flush()
            finally:
                with suppress(OSError):
                    file.detach()

    @contextmanager
    def binary_stream(self) -> Iterator[IO[bytes]]:
        """Stdout as a binary file."""
        try:
            if sys.stdout is None:
                with open(os.devnull, "wb") as nowhere:
                    yield nowhere
                return
            sys.stdout.flush()
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            _silence(sys.stdout)
        except OSError as error:
            _silence(sys.stdout)
            raise UsageError(f"The result cannot be written to stdout: {error.strerror or error}.") from None

    def _result(self, data: bytes) -> None:
        if self.before_result is not None:
            self.before_result()
        try:
            _write(sys.stdout, data)
        except BrokenPipeError:
            self.unread = True
            _silence(sys.stdout)
        except OSError as error:
            _silence(sys.stdout)
            raise UsageError(f"The result cannot be written to stdout: {error.strerror or error}.") from None

    # Everything else

    def note(self, text: str) -> None:
        """A remark of ours for a person, unless that is not wanted."""
        if not self.quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """A remark that is not an error and yet must be read: what was asked for has not been done in full."""
        if self.json:
            self._held.add(text)
        else:
            self.aside(f"{text}\n")

    def finish(self) -> None:
        """Print the notes that waited. Call it when the command is done."""
        held = self._held.take()
        if held and not self._failed:
            self.aside("".join(f"{text}\n" for text in held))

    def hold_with(self, other: Output) -> None:
        """Hold notes where `other` does, which prints them."""
        self._held = other._held

    def aside(self, text: str) -> None:
        """Safe text on stderr as it is. A stderr that cannot be written is nobody's concern."""
        if self.ascii:
            text = text.translate(_ASCII)
        self._aside(text.encode("ascii" if self.ascii else "utf-8", "backslashreplace"))

    def error(self, error: InspectorError, *, recording: bool = False) -> None:
        """What went wrong: one line of JSON, or the sentence, the server's last words, the hint; and the recording."""
        if isinstance(error, UsageError):  # Other messages may repeat what a server said.
            error.message = renamed(error.message)
        hint = renamed(error.hint.command_line)
        if self.json:
            from inspector.export.exact import strict
            from inspector.protocol import jsonrpc
            from inspector.text import escape_json

            held = self._held.take()
            body = error.as_json() | ({"hint": hint} if hint else {}) | ({"notes": held} if held else {})
            self._failed = True
            self._aside(escape_json(strict(jsonrpc.encode({"error": body}).decode())[0]).encode() + b"\n")
            return
        lines = [f"error: {self._ours(error.message)}"]
        if isinstance(error, ServerExited) and error.stderr:
            lines += (f"  {self.safe(line, 500)}" for line in error.stderr[-LAST_WORDS:])
        if hint:
            lines.append(f"hint: {self._ours(hint)}")
        if recording and error.recording and not self.quiet:
            lines.append(f"recording: {self.safe(error.recording)}")
        self.aside("\n".join(lines) + "\n")

    def _ours(self, text: str) -> str:
        """A sentence of ours that may hold text of a server."""
        return self.safe(text.translate(_ASCII) if self.ascii else text, 2000)

    def _aside(self, data: bytes) -> None:
        try:
            _write(sys.stderr, data)
        except (OSError, ValueError):
            _silence(sys.stderr)


def _write(stream: IO[str] | None, data: bytes) -> None:
    if stream is None:
        return
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(data.decode("utf-8", "replace"))
    else:
        stream.flush()
        buffer.write(data)
    stream.flush()


def _silence(stream: IO[str] | None) -> None:
    """Send what a stream still holds nowhere: its reader has gone, or its disk is full."""
    try:
        if stream is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        pass

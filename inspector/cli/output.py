"""Printing: results to stdout, other text to stderr, errors as a sentence or as one line of JSON.

Text from a server is printed only through `Output.safe`. JSON is UTF-8 with terminal control characters escaped.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from inspector.cli.program_name import renamed
from inspector.errors import ConnectionProblem, InspectorError, ServerError, ServerExited, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.config.command_lines import CommandLine
    from inspector.config.targets import Target

NAME_CELLS = 48
"""The width in cells up to which columns other than the last are padded."""
LAST_CELLS = 24
"""The minimum width in cells of the last column, if the other columns can be narrower."""
MIN_CELLS = 12
"""The width in cells below which a column is not narrowed."""
GAP = 2
PIPED = 2000
"""The most characters of one cell if the output is not a terminal."""
LAST_LINES = 20
MAX_HELD = 200
"""The most notes that wait for the end of a command; older ones are dropped."""

_ASCII = str.maketrans({"“": '"', "”": '"', "…": "...", "—": "-", "–": "-", "‘": "'", "’": "'", "·": ".", "×": "x"})


class _Held:
    """Notes held until the end of a command: with `--json` one line on stderr has the error and the notes.

    The newest are kept, and the number of dropped ones.
    """

    def __init__(self) -> None:
        self._texts: deque[str] = deque(maxlen=MAX_HELD)
        self._added = 0

    def add(self, text: str) -> None:
        self._texts.append(text)
        self._added += 1

    def pop_all(self) -> list[str]:
        """Return all notes once."""
        left_out = self._added - len(self._texts)
        notes = [*([f"note: {left_out:,} earlier notes were dropped."] if left_out else []), *self._texts]
        self._texts.clear()
        self._added = 0
        return notes


class Output:
    """The output of a command. Streams are looked up on use, so that tests can replace them."""

    def __init__(
        self,
        *,
        json: bool = False,
        quiet: bool = False,
        verb: str = "",
        line_for: Callable[[str, Target | None], CommandLine] | None = None,
    ) -> None:
        """`line_for` gives the command line of another verb on the target of `verb`; hints repeat it."""
        self.json = json
        self.quiet = quiet
        self._verb = verb
        self._line_for = line_for
        self.before_result: Callable[[], None] | None = None
        """Prints messages on stderr that came before the result."""
        self.target: Target | None = None
        """The target, if the command line does not name it as its own."""
        self.unread = False
        """The reader of stdout has closed it: no more output is possible."""
        self._held = _Held()
        self._failed = False
        """The error line has been printed."""
        self._ascii: bool | None = None

    @property
    def ascii(self) -> bool:
        """Whether the output must be ASCII."""
        if self._ascii is None:
            from inspector.text import wants_ascii

            self._ascii = wants_ascii(os.environ, getattr(sys.stdout, "encoding", None))
        return self._ascii

    @property
    def width(self) -> int | None:
        """The width of stdout in cells; None if it is not a terminal."""
        given = os.environ.get("COLUMNS", "")
        if given.isascii() and given.isdigit() and 0 < int(given) < 10_000:
            return max(int(given), 20)
        try:
            # A terminal that was never told its size has 0 columns.
            return max(os.get_terminal_size(sys.stdout.fileno()).columns or 80, 20)
        except (OSError, ValueError, AttributeError):
            return None

    def safe(self, value: object, limit: int | None = None, *, multiline: bool = False) -> str:
        """Untrusted text, escaped for a terminal."""
        from inspector.text import safe

        return safe(value, limit, multiline=multiline, ascii=self.ascii)

    def wrapped(self, value: object, indent: str = "") -> list[str]:
        """Untrusted text in escaped lines, wrapped to the width of the terminal and indented."""
        from inspector.text import lines

        width = None if self.width is None else max(self.width - len(indent), 20)
        return [indent + line for line in lines(value, width, ascii=self.ascii)]

    # Results

    def line(self, text: str = "") -> None:
        """Print one line of the result. Untrusted parts must have gone through `safe`."""
        self.lines((text,))

    def lines(self, lines: Iterable[str]) -> None:
        """Print lines of the result at once."""
        text = "".join(f"{line}\n" for line in lines)
        if self.ascii:
            text = text.translate(_ASCII)
        if text:
            self._result(text.encode("ascii" if self.ascii else "utf-8", "backslashreplace"))

    def document(self, value: Any) -> None:
        """Print the result as one JSON document, from a value."""
        from inspector.protocol import jsonrpc
        from inspector.protocol.exact_json import depth

        try:
            text = jsonrpc.encode(value).decode()
        except RecursionError:
            raise InspectorError(
                "The result is nested too deeply to print.", hint="Use the recording to see it."
            ) from None
        if depth.LEFT_OUT in text:
            self.warn(
                f"note: The output omits values nested deeper than {depth.MAX_DEPTH} levels; the recording has them."
            )
        self.document_text(text)

    def document_text(self, text: str) -> None:
        """Print the result as one JSON document, from its exact text."""
        self.documents((text,))

    def documents(self, texts: Iterable[str]) -> None:
        """Print JSON documents from their exact text, one per line."""
        from inspector.text import escape_json

        printed: list[str] = []
        for text in texts:
            if "NaN" in text or "Infinity" in text:
                from inspector.formats.json_edits import strict

                text, changed = strict(text)
                if changed:
                    self.note(
                        "note: The server sent NaN or Infinity, which are not JSON. They are printed as null and 1e999."
                    )
            printed.append(f"{escape_json(text)}\n")
        if printed:
            self._result("".join(printed).encode("utf-8"))

    def pretty(self, text: str) -> None:
        """Print JSON text for people: indented, safe, with every number unchanged."""
        from inspector.protocol.exact_json.text import pretty

        self.lines(self.safe(line) for line in pretty(text))

    @staticmethod
    def needed(rows: Sequence[Sequence[str]]) -> int:
        """The cells that `table` needs for rows without cutting one."""
        from inspector.text import cell_len

        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        return sum(widths) + GAP * max(len(widths) - 1, 0)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Print rows of safe cells in aligned columns.

        On a terminal the widest columns are narrowed for the last one.
        """
        from inspector.text import cell_len, ellipsis, signs

        cut, screen = signs(self.ascii).cut, self.width
        columns = [column for column in zip(*rows, strict=True) if any(column)]
        if not columns:
            return
        widths = [min(max(map(cell_len, column)), NAME_CELLS) for column in columns]
        if screen is not None:
            widths[-1] = min(widths[-1], LAST_CELLS)
            while sum(widths) + GAP * (len(widths) - 1) > screen and max(widths[:-1], default=0) > MIN_CELLS:
                widths[widths.index(max(widths[:-1]))] -= 1
        printed = []
        for cells in zip(*columns, strict=True):
            line = ""
            for cell, width in zip(cells[:-1], widths, strict=False):
                text = cell if screen is None else ellipsis(cell, width, cut)
                line += text + " " * (max(width - cell_len(text), 0) + GAP)
            line += cells[-1]
            printed.append((line if screen is None else ellipsis(line, screen, cut)).rstrip())
        self.lines(printed)

    @contextmanager
    def stream(self) -> Iterator[IO[str]]:
        """Stdout as a UTF-8 file, for a result written in parts. Writing stops when the reader closes it."""
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
        if sys.stdout is None:
            raise UsageError("The result cannot be written: stdout is closed.")
        try:
            _write(sys.stdout, data)
        except BrokenPipeError:
            self.unread = True
            _silence(sys.stdout)
        except OSError as error:
            _silence(sys.stdout)
            raise UsageError(f"The result cannot be written to stdout: {error.strerror or error}.") from None

    # Stderr

    def note(self, text: str) -> None:
        """Print a note for the user, unless --quiet is set."""
        if not self.quiet:
            self.warn(text)

    def written(self, path: Path, detail: str = "") -> None:
        """Say that a file was written; `detail` is safe."""
        self.note(f"written: {self.safe(str(path))}{detail}")

    def warn(self, text: str) -> None:
        """Print a warning, also with --quiet: the command could not do everything."""
        if self.json:
            self._held.add(text)
        else:
            self.aside(f"{text}\n")

    def ask(self, text: str) -> None:
        """Print lines that belong to a question: at once, also with --json, because the user answers by them."""
        self.aside(f"{text}\n")

    def confirms(self, question: str) -> bool:
        """Ask on the terminal; whether the answer is yes."""
        self.aside(f"{question} [y/N]: ")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def finish(self) -> None:
        """Print the held notes. Call it at the end of the command."""
        held = self._held.pop_all()
        if held and not self._failed:
            self.aside("".join(f"{text}\n" for text in held))

    def hold_with(self, other: Output) -> None:
        """Hold notes in `other`, which prints them."""
        self._held = other._held

    def aside(self, text: str) -> None:
        """Print safe text on stderr unchanged. A stderr that cannot be written is ignored."""
        if self.ascii:
            text = text.translate(_ASCII)
        self._aside(text.encode("ascii" if self.ascii else "utf-8", "backslashreplace"))

    def error(self, error: InspectorError, *, recording: bool = False) -> None:
        """Print an error: one line of JSON, or the message with what belongs to it, and the hint."""
        from inspector.text import ended

        if isinstance(error, UsageError):  # Other messages may contain text of a server.
            error.message = ended(renamed(error.message))
        hint = renamed(self.hint(error))
        if self.json:
            from inspector.formats.json_edits import strict
            from inspector.protocol import jsonrpc
            from inspector.text import escape_json

            held = self._held.pop_all()
            body = error.as_json() | ({"hint": hint} if hint else {}) | ({"notes": held} if held else {})
            self._failed = True
            self._aside(escape_json(strict(jsonrpc.encode({"error": body}).decode())[0]).encode() + b"\n")
            return
        lines = [f"error: {self._ours(error.message)}"]
        if isinstance(error, ServerExited) and error.stderr:
            from inspector.log_lines import display_lines

            lines += (f"  {self.safe(line, 500)}" for line in display_lines(error.stderr)[-LAST_LINES:])
        if isinstance(error, ServerError) and error.data is not None:
            from inspector.protocol import jsonrpc

            lines.append(f"  data: {self.safe(jsonrpc.compact_json(error.data), 500)}")
        if hint:
            lines.append(f"hint: {self._ours(hint)}")
        if recording and error.recording and not self.quiet:
            lines.append(f"recording: {self.safe(error.recording)}")
        self.aside("\n".join(lines) + "\n")

    def hint(self, error: InspectorError) -> str:
        """The hint of an error; commands in it repeat the options and the target of this command line."""
        line_for, target = self._line_for, self.target
        if line_for is None:
            return error.hint.command_line
        hint = error.hint.after_command(lambda verb: line_for(verb, target).opened)
        if isinstance(error, ConnectionProblem) and error.connecting and self._verb != "doctor":
            hint = f"{hint} To find the cause, run {self.command('doctor')}".lstrip()
        return hint

    def command(self, verb: str, option: str = "") -> str:
        """The command line of a verb on the target of this command, with its connection options and one more."""
        if self._line_for is None:
            return f"inspector {verb}"
        line = self._line_for(verb, self.target)
        return str(line.adding(option, option) if option else line)

    def _ours(self, text: str) -> str:
        """One of our sentences, which may contain text of a server."""
        return self.safe(text.translate(_ASCII) if self.ascii else text, 2000)

    def _aside(self, data: bytes) -> None:
        try:
            _write(sys.stderr, data)
        except (OSError, ValueError):
            _silence(sys.stderr)


class ProgressLine:
    """One line on stderr that is drawn again; nothing with --quiet.

    Without a terminal (a pipe, a CI job) a line is printed every `LOG_EVERY` seconds, and none with --json.
    """

    LOG_EVERY = 30.0

    def __init__(self, out: Output) -> None:
        self.is_shown = not out.quiet and bool(sys.stderr and sys.stderr.isatty())
        self._out = out
        self._text = ""
        self._last_logged = time.monotonic()

    def draw(self, text: str) -> None:
        """Replace the line; an empty text removes it."""
        if self.is_shown:
            if text != self._text:
                self._out.aside(("\r\x1b[K" if self._text else "") + text)
                self._text = text
        elif text and not self._out.json and time.monotonic() - self._last_logged >= self.LOG_EVERY:
            self._last_logged = time.monotonic()
            self._out.note(text)


class ErrorKept(Output):
    """Keeps an error, for a command that prints it in its place."""

    failure: InspectorError | None = None

    def error(self, error: InspectorError, *, recording: bool = False) -> None:
        """Keep the error."""
        self.failure = error


def has_user() -> bool:
    """Whether there is a user to ask: stdin and stderr are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


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
    """Redirect a stream to /dev/null, because its reader has gone or its disk is full."""
    try:
        if stream is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        pass

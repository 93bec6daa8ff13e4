"""The file that is imported: its lines or its text, of which no more is read at once than fits into memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspector.config.files import open_regular
from inspector.errors import UsageError
from inspector.imports.json_places import Document
from inspector.protocol.jsonrpc import NotJson, parse

LARGEST_DOCUMENT = 512 << 20
"""Bytes of a file that is one JSON document."""
LONGEST_LINE = 128 << 20
"""Bytes of a line; a longer one is left out, and that is said."""
SAMPLE = 1 << 20
"""Bytes at the beginning of a file by which its format is recognised."""
SAMPLE_LINES = 20


class Source:
    """One file."""

    def __init__(self, path: Path) -> None:
        """Raises `UsageError` where the file cannot be read or is empty."""
        self.path = path
        try:
            with open_regular(path) as file:
                self._begin = file.read(SAMPLE)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
        if not self._begin.strip():
            raise UsageError(f"{path} is empty: there is nothing to import.")

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Each line that is not blank, by its number from 1, without its line end; None for one that is too long."""
        with open_regular(self.path) as file:
            number = 0
            while line := file.readline(LONGEST_LINE):
                number += 1
                if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                    while line and not line.endswith(b"\n"):
                        line = file.readline(LONGEST_LINE)
                    yield number, None
                    continue
                line = line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n") if number == 1 else line.rstrip(b"\r\n")
                if line.strip():
                    yield number, line

    def document(self, *path: str) -> Document:
        """The file as one JSON document with an array at `path`. Raises `UsageError` for one that is too large."""
        with open_regular(self.path) as file:
            content = file.read(LARGEST_DOCUMENT + 1)
        if len(content) > LARGEST_DOCUMENT:
            size = self.path.stat().st_size
            raise UsageError(
                f"{self.path} has {size:,} bytes; a file that is one JSON document may have {LARGEST_DOCUMENT:,}.",
                hint="Have the other tool write less of it.",
            )
        return Document(_decoded(content), path)

    def names(self, *path: str) -> set[str]:
        """The names of the members on the way to an array at `path`, as far as they stand in the beginning."""
        return Document(_decoded(self._begin), path).names

    def first_values(self) -> Iterator[Any]:
        """The values of the first lines, as far as they are JSON."""
        for line in self._begin.split(b"\n")[:SAMPLE_LINES]:
            try:
                yield parse(line)
            except NotJson:
                continue

    def names_of_item(self) -> set[str]:
        """The names of the members of the first item, where the file is an array of objects."""
        text = _decoded(self._begin).lstrip()
        return Document(text[1:].lstrip(), (None,)).names if text.startswith("[") else set()


def _decoded(data: bytes) -> str:
    """Text in which bytes that are no UTF-8 stand as they are; UTF-16 with its mark is read, too."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def value_of(text: str) -> Any:
    """The value of a JSON text; None where it is none."""
    try:
        return parse(encoded(text))
    except NotJson:
        return None


def encoded(text: str) -> bytes:
    """The bytes of a text that came out of a file: those that were no UTF-8, and half surrogate pairs, as they were."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")

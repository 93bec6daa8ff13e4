"""The file to import: its lines or its text, read in portions that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspector.config.foreign_files import open_regular
from inspector.errors import UsageError
from inspector.imports.json_positions import JsonArrayDocument
from inspector.protocol.jsonrpc import NotJson, parse

MAX_DOCUMENT = 512 << 20
"""Maximum bytes of a file that is one JSON document."""
MAX_LINE = 128 << 20
"""Maximum bytes of a line; a longer one is skipped with a note."""
SAMPLE = 1 << 20
"""Bytes at the start of a file that determine its format."""
SAMPLE_LINES = 20


class Source:
    """One file."""

    def __init__(self, path: Path) -> None:
        """Raises `UsageError` if the file cannot be read or is empty."""
        self.path = path
        try:
            with open_regular(path) as file:
                self._begin = file.read(SAMPLE)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
        if not self._begin.strip():
            raise UsageError(f"{path} is empty.")

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield the number, from 1, and the bytes of each line. Skips blank lines; None for a line that is too long."""
        with open_regular(self.path) as file:
            number = 0
            while line := file.readline(MAX_LINE):
                number += 1
                if len(line) == MAX_LINE and not line.endswith(b"\n"):
                    while line and not line.endswith(b"\n"):
                        line = file.readline(MAX_LINE)
                    yield number, None
                    continue
                line = line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n") if number == 1 else line.rstrip(b"\r\n")
                if line.strip():
                    yield number, line

    def document(self, *path: str) -> JsonArrayDocument:
        """Return the file as one JSON document with an array at `path`. Raises `UsageError` if it is too large."""
        with open_regular(self.path) as file:
            content = file.read(MAX_DOCUMENT + 1)
        if len(content) > MAX_DOCUMENT:
            size = self.path.stat().st_size
            raise UsageError(
                f"{self.path} has {size:,} bytes; the limit for one document is {MAX_DOCUMENT:,}.",
                hint="Export a smaller part of it with the other tool.",
            )
        return JsonArrayDocument(_decoded(content), path)

    def names(self, *path: str) -> set[str]:
        """Return the member names on the path to an array at `path`, from the start of the file."""
        return JsonArrayDocument(_decoded(self._begin), path).names

    def first_values(self) -> Iterator[Any]:
        """Yield the values of the first lines that are JSON."""
        for line in self._begin.split(b"\n")[:SAMPLE_LINES]:
            try:
                yield parse(line)
            except NotJson:
                continue

    def names_of_item(self) -> set[str]:
        """Return the names of the first item's members, if the file is an array of objects."""
        text = _decoded(self._begin).lstrip()
        return JsonArrayDocument(text[1:].lstrip(), (None,)).names if text.startswith("[") else set()


def _decoded(data: bytes) -> str:
    """Return the text of UTF-8, or of UTF-16 with a byte order mark. Invalid bytes are kept as surrogates."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def value_of(text: str) -> Any:
    """Return the value of a JSON text; None if it is not JSON."""
    try:
        return parse(encoded(text))
    except NotJson:
        return None


def encoded(text: str) -> bytes:
    """Return the bytes of a text from a file: bytes that were not UTF-8 and unpaired surrogates are unchanged."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")

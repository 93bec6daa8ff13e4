"""Messages that a file has as JSON within JSON: their exact text if the file has it."""

from __future__ import annotations

from typing import Any

from inspector.imports.json_positions import members
from inspector.imports.source import encoded, value_of
from inspector.protocol.jsonrpc import encode


def message_bytes(text: str) -> bytes:
    """Return a message as in the file, on one line.

    A tool that formats its files over several lines also formats the message: then it is written without white space.
    """
    if "\n" not in text and "\r" not in text:
        return encoded(text)
    value = value_of(text)
    return encode(value) if value is not None else encoded(text)


def amount(value: Any) -> float:
    """Return a valid number of milliseconds; 0 for anything else."""
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e13 else 0.0


class ImportedEntry:
    """One object of a file: its value, and the exact text of its members."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places = members(text)
        self.value: dict[str, Any] = {}
        value = value_of(text)
        self.readable = type(value) is dict
        if type(value) is dict:
            self.value = value

    def get(self, name: str) -> Any:
        """Return the value of a member; None if it is missing."""
        return self.value.get(name)

    def text(self, name: str) -> str:
        """Return the value of a member that is a text, or an empty text."""
        found = self.value.get(name)
        return found if isinstance(found, str) else ""

    def number(self, name: str) -> float:
        """Return the value of a member as milliseconds; 0 if it is not a number."""
        return amount(self.value.get(name))

    def exact(self, name: str) -> bytes | None:
        """Return the text of a member, unless it is missing or null."""
        start, end = self._places.get(name, (0, 0))
        text = self._text[start:end]
        return message_bytes(text) if text and text != "null" else None

"""One format of recordings, and a reader of collections of other tools, as core and features bring them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from inspector.journal.journal import Journal

if TYPE_CHECKING:
    from inspector.formats.recording_builder import FormatReader

Writer = Callable[[Journal, IO[str], "Iterable[int] | None"], list[str]]
"""Writes events to a file, and returns sentences about what the format does not contain.

Without numbers it selects the events itself.
"""


class Format(NamedTuple):
    """One format. A module is named `MODULE:NAME`, within this package unless it has dots."""

    summary: str
    suffix: str = ""
    """The suffix of its files."""
    write: str = ""
    """Its `Writer`; empty for a format that is only read."""
    read: str = ""
    """Its `FormatReader`; empty for a format that is only written."""
    signs: str = ""
    """The parts by which a file of this format is known."""
    findings: bool = False
    """Whether it contains the findings."""
    json: bool = False
    """Whether all of it is JSON, or each line: terminal control characters are then escaped while writing."""
    bodies: bool = False
    """Whether it consists of messages: those without a recorded body are omitted."""
    addons: bool = False
    """Whether it contains what addons did to a message."""

    def writer(self) -> Writer:
        """Load the writer."""
        return cast("Writer", _load(self.write))

    def reader(self) -> FormatReader:
        """Load the reader."""
        return cast("FormatReader", _load(self.read))


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module if "." in module else f"inspector.formats.{module}"), name)


class ImportedCalls(NamedTuple):
    """The result of an import of saved calls."""

    format: str
    files: list[Path]
    flows: int
    steps: int
    notes: list[str]
    """Sentences about the parts that are not in the flows."""


class CallsImporter(NamedTuple):
    """Makes files of saved calls from collections of other tools."""

    tools: Mapping[str, str]
    """The name of each tool by the word for `--from`."""
    recognised: Callable[[Path], str | None]
    """The word for the tool whose collection a file or folder is."""
    read: Callable[[Path, Path, str], ImportedCalls]
    """Writes the calls of a collection into a folder."""

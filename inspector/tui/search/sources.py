"""The sources of a search, as results without widgets. Those that read files run in a thread and can be stopped."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from inspector.client.recordings_folder import newest_first, read_info
from inspector.client.state.catalog import KINDS, ListName
from inspector.config.paths import recordings_path
from inspector.journal.filters import Filter, parse
from inspector.journal.filters.completion import quoted
from inspector.journal.filters.conditions import Scan
from inspector.journal.filters.text import Needle, message_regions
from inspector.journal.format import dumps
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import NotJson, excerpt
from inspector.protocol.jsonrpc import parse as parse_json
from inspector.protocol.summaries import answer_summary
from inspector.protocol.views import View
from inspector.text import quantity
from inspector.text import when as day

if TYPE_CHECKING:
    from inspector.calls.collection import Collection

GroupId = Literal["tools", "arguments", "resources", "templates", "prompts", "messages", "open", "calls", "recordings"]
TITLES: dict[GroupId, str] = {
    "tools": "Tools",
    "arguments": "Arguments",
    "resources": "Resources",
    "templates": "Resource templates",
    "prompts": "Prompts",
    "messages": "Messages of this session",
    "open": "Other open sessions",
    "calls": "Saved calls",
    "recordings": "Earlier sessions",
}
"""The groups in the order of the screen."""

MAX_COUNT = 200
"""Results of a group that are kept; further ones are counted."""
MAX_COUNTED = 10_000
"""Matching messages of the session up to which they are counted."""
MAX_IN_FILE = 500
"""Matching messages of a recording up to which they are counted: the next file is more interesting."""
MAX_LENGTH = 100
"""Characters of a text that is searched for."""
_TEXT = 2000
"""Characters of a description that are searched."""
_DEFAULT = 20
"""Characters of a default that are shown."""
_BEFORE, _AROUND = 8, 120
"""Characters before a word that was found, and in all, that show why a message is a result."""
MAX_EXCERPTED = 1 << 16
"""Bytes of a message that is read again for that."""
_DEPTH = 8
_MAX_ARGUMENTS = 500
_SLICE = 1 << 14
"""Events that are searched between two looks at whether the search is still wanted."""
_BLOCK = 1 << 18
LARGE = 100 << 20
"""Bytes from which a recording is searched after the others: one of a gigabyte takes seconds."""
_LONG_LINE = 1 << 20
"""Bytes of a line beyond which it is searched in parts."""
_LINE = 1 << 16
"""Bytes of a line that are read for its number."""

_RAW = b',"raw":'
_PROCESS = re.compile(rb'"pid":\d+')
"""The number of a process: no user looks for it in earlier sessions."""

StillWanted = Callable[[], bool]
"""Whether the search goes on; False after the text has changed or the screen was left."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result. `name` and `text` come from a server or a file: untrusted."""

    group: GroupId
    name: str
    text: str = ""
    note: str = ""
    key: Hashable = None
    """What to open: see the source."""


class SearchTerms:
    """The typed text: words that must all occur, in any case."""

    def __init__(self, text: str) -> None:
        self.all = text[:MAX_LENGTH].split()
        self._folded = [word.casefold() for word in self.all]

    def __bool__(self) -> bool:
        return bool(self.all)

    def fit(self, *texts: object) -> bool:
        """Whether each word occurs in one of some texts."""
        joined = "\n".join(text[:_TEXT] for text in texts if isinstance(text, str)).casefold()
        return all(word in joined for word in self._folded)

    def around(self, text: str) -> str:
        """Return the part of a text with the first word that it has; empty if it has none."""
        line = text[:_LINE]
        low = line.lower()
        if len(low) != len(line):  # A letter that becomes two in lower case.
            return ""
        places = [at for word in self.all if (at := low.find(word.lower())) >= 0]
        if not places:
            return ""
        begin = max(min(places) - _BEFORE, 0)
        return ("…" if begin else "") + " ".join(line[begin : begin + _AROUND].split())

    @property
    def filter(self) -> str:
        """The filter that leaves the messages with these words."""
        return " ".join(quoted(word) for word in self.all)


def items(words: SearchTerms, catalog: Any, name: ListName) -> Iterator[SearchHit | None]:
    """Yield the items of a list whose name, title or description fits, and None for each other one.

    The key is the list's name and the address.
    """
    kind = KINDS[name]
    for item in catalog[name].items:
        address = item.get(kind.id_field)
        texts = [item.get(key) for key in ("description", "title", "name")]
        if isinstance(address, str) and words.fit(address, *texts):
            described = next(filter(_is_text, texts), "")
            note = item.get("mimeType")
            yield SearchHit(name, address, described, note if isinstance(note, str) else "", (name, address))
        else:
            yield None


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


def arguments(words: SearchTerms, catalog: Any) -> Iterator[SearchHit | None]:
    """Yield the arguments of tools whose name or description fits, and None for each other one.

    The key is that of the tool.
    """
    for item in catalog["tools"].items:
        tool = item.get("name")
        if not isinstance(tool, str):
            continue
        for path, schema in _properties(item.get("inputSchema")):
            within = schema.get("items")
            choices = schema.get("enum") or (within.get("enum") if type(within) is dict else None)
            listed = ", ".join(str(choice)[:MAX_LENGTH] for choice in choices[:50]) if type(choices) is list else ""
            described = schema.get("description") or schema.get("title")
            if words.fit(path, described, listed):
                kind, default = schema.get("type"), schema.get("default")
                about = (kind, described, listed and f"one of {listed}")
                text = "  ".join(part for part in (path, *about) if isinstance(part, str) and part)
                note = "" if default is None else f"default {excerpt(default, _DEFAULT)}"
                yield SearchHit("arguments", tool, text, note, ("tools", tool))
            else:
                yield None


def _properties(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path and the schema of the properties in a schema, outer ones first, a bounded number of them."""
    waiting: list[tuple[str, Any, int]] = [("", schema, 0)]
    given = 0
    for path, outer, depth in waiting:
        if type(outer) is not dict or depth > _DEPTH:
            continue
        properties = outer.get("properties")
        for name, inner in list(properties.items())[:_MAX_ARGUMENTS] if type(properties) is dict else ():
            if type(inner) is not dict or given >= _MAX_ARGUMENTS:
                continue
            given += 1
            yield f"{path}{name}", inner
            waiting.append((f"{path}{name}.", inner, depth + 1))
        waiting.append((f"{path.rstrip('.')}[].", outer.get("items"), depth + 1))


def messages(words: SearchTerms, journal: Journal, last: int, still_wanted: StillWanted) -> Iterator[list[int]]:
    """Yield the numbers of the messages with the words among the events up to `last`, newest first, slice by slice."""
    filter: Filter = parse(words.filter)
    scan = Scan(journal)
    for high in range(last, 0, -_SLICE):
        if not still_wanted():
            return
        yield list(filter.forwards(scan, max(high - _SLICE + 1, 1), high))[::-1]


def flows(words: SearchTerms, collection: Collection) -> Iterator[SearchHit | None]:
    """Yield the saved calls whose file, name or text fits, and None for each other step.

    The key is the path and the number of the step, or 0.
    """
    for flow in collection.flows:
        if words.fit(flow.name, flow.path.name):
            yield SearchHit("calls", flow.path.name, flow.name, quantity(len(flow.steps), "step"), (flow.path, 0))
            continue
        for number in range(1, len(flow.steps) + 1):
            text = excerpt(flow.raw_step(number), _TEXT)
            if words.fit(text):
                yield SearchHit("calls", flow.path.name, f"step {number}  {text}", "", (flow.path, number))
                break
            yield None


def recordings(
    words: SearchTerms, mine: Path | None, still_wanted: StillWanted, open_now: Container[Path] = ()
) -> Iterator[SearchHit]:
    """Yield the recordings of the state folder that have all words, in one message or in their target, newest first.

    It skips `mine`; those in `open_now` are a group of their own. The key is the path and the number of the first such
    event; the text has the day, and what stands around the first word. Words are searched in the bytes of the file, in
    the spellings that a recording usually has for them.
    """
    forms = [Needle(word).usual for word in words.all]
    for path, octets in sorted(newest_first(recordings_path()), key=lambda entry: entry[1] >= LARGE):
        if not still_wanted():
            return
        if path == mine:
            continue
        match = _matches(path, forms, still_wanted)
        # Only found recordings are described: describing a hundred takes longer than searching the first.
        if match is not None and not (info := read_info(path, octets)).problem:
            first, amount, line = match
            more = "+" if amount >= MAX_IN_FILE else ""
            amount_text = f"{amount:,}{more} {'message' if amount == 1 else 'messages'}" if amount else "its target"
            group: GroupId = "open" if path in open_now else "recordings"
            text = _message_of(line)
            result_text = _result_in_words(text)
            parts = (day(info.started), result_text, "" if words.fit(result_text) else words.around(text))
            where = "  ".join(part for part in parts if part)
            yield SearchHit(group, info.name, where, amount_text, (info.path, first))


Forms = Sequence[tuple[bytes, ...]]
"""The spellings of each word, for bytes in lower case."""


def _matches(path: Path, forms: Forms, still_wanted: StillWanted) -> tuple[int, int, bytes] | None:
    """Find the lines that have all words: the number of the first event, their number, and the first line.

    It is (1, 0) if only the target in the header has them, and None if nothing has. A long line is not returned.
    """
    forms = sorted(forms, key=lambda spellings: -max(map(len, spellings)))
    overlap = max(len(form) for spellings in forms for form in spellings) - 1
    first = amount = 0
    line = b""
    in_header = False
    rest, place = b"", 0
    """What was read of an unfinished line, and where it begins in the file."""
    begun, had_words = b"", [False] * len(forms)
    """The start of a line that is too long to be held, and the words that its earlier parts have."""
    with suppress(OSError), open(path, "rb") as file:
        while still_wanted() and amount < MAX_IN_FILE:
            block = file.read(_BLOCK)
            data = rest + block
            if not data:
                break
            end = data.rfind(b"\n") + 1 if block else len(data)
            low, at = data[:end].lower(), 0
            if begun and end:
                at = low.find(b"\n") + 1 or end
                if all(_note(forms, had_words, low, 0, at)):
                    first = first or _number(begun)
                    amount += 1
                begun, had_words = b"", [False] * len(forms)
            for start, stop in _lines_with(low, forms[0], at):
                if place + start == 0:
                    in_header = _target_has_all(data[start:stop], forms)
                    continue
                if not _has_all(low, start, stop, forms):
                    continue
                line = line or data[start : min(stop, start + _LINE)]
                first = first or _number(data[start:stop])
                amount += 1
            rest, place = data[end:], place + end
            if len(rest) > _LONG_LINE:
                # Its keys before the message are not text.
                message = 0 if begun else rest.find(_RAW, 0, _LINE) + len(_RAW)
                begun = begun or rest[:_LINE]
                _note(forms, had_words, rest.lower(), message, len(rest))
                place += len(rest) - overlap
                rest = rest[len(rest) - overlap :]
            if not block:
                break
    return (first, amount, line) if amount else (1, 0, b"") if in_header else None


def _note(forms: Forms, has_word: list[bool], data: bytes, start: int, end: int) -> list[bool]:
    """Note which words a part of a line has, besides those that were found before."""
    for at, spellings in enumerate(forms):
        has_word[at] = has_word[at] or any(data.find(form, start, end) >= 0 for form in spellings)
    return has_word


def _has_all(data: bytes, start: int, stop: int, forms: Forms) -> bool:
    """Whether the texts of a line, and not only its keys and numbers, have all words."""
    regions = message_regions(data, start, stop) or [(start, stop)]
    if len(regions) == 1 and (process := _PROCESS.search(data, *regions[0])) is not None:
        regions = [(regions[0][0], process.start()), (process.end(), regions[0][1])]
    return all(
        any(data.find(form, begin, end) >= 0 for form in spellings for begin, end in regions) for spellings in forms
    )


def _target_has_all(header: bytes, forms: Forms) -> bool:
    """Whether the target of a recording has all words. What else the header has is about the recording itself."""
    with suppress(NotJson):
        value = parse_json(header)
        target = dumps(value.get("target")).lower().encode("utf-8", "surrogatepass") if type(value) is dict else b""
        return all(any(form in target for form in spellings) for spellings in forms)
    return False


def _result_in_words(text: str) -> str:
    """Describe the result of a tool as the log does; nothing for another message, or one that is cut off."""
    with suppress(NotJson):
        result = View(parse_json(text.encode("utf-8", "surrogatepass"))).object("result")
        return answer_summary(View(result))[0] if "content" in result else ""
    return ""


def _message_of(line: bytes) -> str:
    """Return the message in a line of a recording, cut off if the line is; empty without one."""
    with suppress(NotJson):
        value = parse_json(line)
        raw = value.get("raw") if type(value) is dict else None
        return raw if type(raw) is str else ""
    text = line.partition(_RAW)[2].decode("utf-8", "replace")
    return text.replace('\\"', '"').strip('"}')


def _lines_with(data: bytes, forms: Sequence[bytes], at: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of the lines from `at` on that have one of some texts, each once, ascending."""
    while at < len(data):
        places = [place for form in forms if (place := data.find(form, at)) >= 0]
        if not places:
            return
        start = data.rfind(b"\n", 0, min(places)) + 1
        stop = data.find(b"\n", min(places))
        stop = len(data) if stop < 0 else stop
        yield start, stop
        at = stop + 1


def _number(line: bytes) -> int:
    """Return the number of the event of a line; 1 for the header."""
    if len(line) <= _LINE:
        with suppress(NotJson):
            value = parse_json(line)
            n = value.get("n") if type(value) is dict else None
            return n if type(n) is int and n > 0 else 1
    head = line[:100].partition(b'{"n":')[2].partition(b",")[0]
    return int(head) if head.isdigit() else 1

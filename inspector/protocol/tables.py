"""Tables: a list of objects, or comma- or tab-separated text, as rows and columns.

A table has the text of the server and the position of each row in it; a row is parsed on demand. So numbers keep their
spelling, and 100,000 rows take little more memory than their text. Reading and sorting a large table takes longer than
a frame: do it in a thread. Sources: RFC 8259, RFC 4180.
"""

from __future__ import annotations

import csv
import io
import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.exact_json.tokens import escape_step, unquote

MAX_COLUMNS = 2_000
"""Most columns of a table; further keys of its objects are only in their JSON."""

CELL_LIMIT = 2_000
"""Characters of a nested value that are written for a cell."""

_MAX_DEPTH = 50
_LOOKED_AT = 50
"""Records of a text that decide whether it is delimited."""
_MAX_NAME = 60


class WrittenNumber(str):
    """A number as it was written."""

    __slots__ = ()


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()
"""The value of a cell without a key in its object or a field in its record."""


class Column:
    """One column: its name, whether most of its values are numbers, and the length of its longest number."""

    __slots__ = ("is_numeric", "longest", "name", "numbers", "others")

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_numeric = False
        self.longest = 0
        self.numbers = 0
        self.others = 0

    def __repr__(self) -> str:
        return f"Column({self.name!r})"


class Table:
    """Rows and columns. `pointer` is the JSON pointer of the list in its value (`""` for text)."""

    pointer = ""
    beside: Sequence[tuple[str, str]] = ()
    """Members beside the list in its object: name, and the value as text."""
    has_more = False
    """Whether some keys have no column, because there are more than `MAX_COLUMNS`."""

    def __init__(self) -> None:
        self.columns: list[Column] = []

    def __len__(self) -> int:
        raise NotImplementedError

    def cells(self, row: int) -> Sequence[Any]:
        """Return the values of a row, one per column: str, `WrittenNumber`, bool, None, list, dict or `MISSING`."""
        raise NotImplementedError

    def json(self, row: int) -> str:
        """Return a row as JSON: an object as the server wrote it, or one made from a record."""
        raise NotImplementedError

    def place(self, pointer: str) -> tuple[int, int | None] | None:
        """Return the row and the column of the value at a JSON pointer; None if it is not shown."""
        if not pointer.startswith(f"{self.pointer}/"):
            return None
        steps = pointer[len(self.pointer) + 1 :].split("/")
        if not (steps[0].isascii() and steps[0].isdigit()) or len(steps[0]) > 9 or int(steps[0]) >= len(self):
            return None
        name = steps[1].replace("~1", "/").replace("~0", "~") if len(steps) > 1 else None
        column = next((at for at, candidate in enumerate(self.columns) if candidate.name == name), None)
        return int(steps[0]), column

    # Order and filter

    def ordered(
        self, rows: Iterable[int], column: int, *, descending: bool = False, stopped: Callable[[], bool] = bool
    ) -> array[int]:
        """Return `rows` sorted by a column: numbers by value, then text, then other values; missing values last.

        Rows of equal values keep their order. `stopped` is called at intervals; True cancels the sort.
        """
        keyed: list[tuple[tuple[int, Any], int]] = []
        last: list[int] = []
        for done, row in enumerate(rows):
            value = self.cells(row)[column]
            if value is MISSING or value is None or value == "":
                last.append(row)
            else:
                keyed.append((_sort_key(value), row))
            if not done % 2_000 and stopped():
                return array("L")
        keyed.sort(key=lambda pair: pair[0], reverse=descending)
        return array("L", [*(row for _, row in keyed), *last])

    def matching(self, words: str, *, stopped: Callable[[], bool] = bool) -> array[int]:
        """Return the rows that match a filter, in their own order.

        Each word must be in a cell; `NAME:word` in the cell of that column, and `NAME:>5` compares. Words in lower case
        match any case; quotes keep spaces.
        """
        tests = _filter_tests(words, [column.name for column in self.columns])
        rows = array("L")
        for row in range(len(self)):
            if not row % 2_000 and stopped():
                return rows
            if self._may_match(row, tests) and _matches(self.cells(row), tests):
                rows.append(row)
        return rows

    def _may_match(self, row: int, tests: Sequence[_Test]) -> bool:
        return True

    # Save

    def csv(self, rows: Iterable[int], columns: Sequence[int]) -> bytes:
        """Return rows and columns as CSV (RFC 4180) in UTF-8. Values are written unchanged, nested ones as JSON."""
        out = io.StringIO(newline="")
        write = csv.writer(out).writerow
        write([self.columns[at].name for at in columns])
        for row in rows:
            cells = self.cells(row)
            write([cell_text(cells[at], limit=None) for at in columns])
        return out.getvalue().encode("utf-8", "surrogatepass")

    def formulas(self, rows: Iterable[int], columns: Sequence[int]) -> int:
        """Return how many cells a spreadsheet may run as a formula: text that starts with =, +, - or @."""
        formulas = 0
        for row in rows:
            cells = self.cells(row)
            for at in columns:
                value = cells[at]
                if type(value) is str and value[:1] in _FORMULA and not _NUMBER.fullmatch(value):
                    formulas += value != ""
        return formulas


class ObjectTable(Table):
    """A table of JSON objects, parsed from the text of their list."""

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        self._starts = array("L")
        self._ends = array("L")
        self._at: dict[str, int] = {}
        self._by_name: dict[str, Column] = {}

    def __len__(self) -> int:
        return len(self._starts)

    def cells(self, row: int) -> Sequence[Any]:
        cells = [MISSING] * len(self.columns)
        at = self._at
        for key, value in _read(self._text, self._starts[row])[0].items():
            place = at.get(key)
            if place is not None:
                cells[place] = value
        return cells

    def json(self, row: int) -> str:
        return self._text[self._starts[row] : self._ends[row]]

    def _may_match(self, row: int, tests: Sequence[_Test]) -> bool:
        # The text of most rows shows that they cannot match, without parsing them.
        text = self._text[self._starts[row] : self._ends[row]]
        return "\\" in text or all(test.pattern is None or test.pattern.search(text) for test in tests)

    def read(self, text: str, at: int) -> tuple[ObjectTable | None, int]:
        """Parse the list of objects at an offset; None if the value there is not such a list."""
        if text[at : at + 1] != "[":
            return None, _read(text, at)[1]
        starts, ends = self._starts, self._ends
        begin = at
        at = _skip(text, at + 1)
        if text[at : at + 1] == "{":
            # Only the text of the rows is kept, not the message around them: offsets count from the first.
            first, next_row = at, _NEXT_ROW.match
            while True:
                starts.append(at - first)
                members, at = _read(text, at)
                ends.append(at - first)
                self._take_columns(members)
                if text.startswith(",{", at):
                    at += 1
                    continue
                row = next_row(text, at)
                if row is None:
                    break
                at = row.end()
                if row[1]:
                    self._settle()
                    self._text = text[first : first + ends[-1]]
                    return self, at
        return None, _read(text, begin)[1]

    def _take_columns(self, members: dict[str, Any]) -> None:
        by_name = self._by_name
        for key, value in members.items():
            try:
                column = by_name[key]
            except KeyError:
                if len(self.columns) >= MAX_COLUMNS:
                    self.has_more = True
                    continue
                self._at[key] = len(self.columns)
                column = by_name[key] = Column(key)
                self.columns.append(column)
            if type(value) is WrittenNumber:
                column.numbers += 1
                if len(value) > column.longest:
                    column.longest = len(value)
            elif value is not None:
                column.others += 1

    def _settle(self) -> None:
        for column in self.columns:
            column.is_numeric = column.numbers > column.others


class TextTable(Table):
    """A table of delimited text whose first record names the columns."""

    def __init__(self, text: str, delimiter: str) -> None:
        super().__init__()
        self._text = text
        self._delimiter = delimiter
        self._starts = array("L")
        self._names: list[str] = []

    def __len__(self) -> int:
        return max(len(self._starts) - 2, 0)

    def _record(self, at: int) -> list[str]:
        return next(_csv_rows(self._text[self._starts[at] : self._starts[at + 1]], self._delimiter), [])

    def cells(self, row: int) -> Sequence[Any]:
        fields: list[Any] = self._record(row + 1)[: len(self.columns)]
        for at, value in enumerate(fields):
            if self.columns[at].is_numeric and value:
                fields[at] = WrittenNumber(value.strip())
        return fields + [MISSING] * (len(self.columns) - len(fields))

    def json(self, row: int) -> str:
        cells = self.cells(row)
        members = [
            f"{json.dumps(column.name, ensure_ascii=False)}: {_json_text(value, 0)}"
            for column, value in zip(self.columns, cells, strict=True)
            if value is not MISSING
        ]
        return "{" + ", ".join(members) + "}"

    def learn(self) -> None:
        """Find the records and the columns."""
        starts = self._starts
        ends = _LineEnds(self._text)
        widest = 0
        numeric: list[bool] = []
        longest: list[int] = []
        names: list[str] | None = None
        for record in csv.reader(ends, delimiter=self._delimiter):
            if not record or (names is not None and record == [""]):
                ends.begin()
                continue
            starts.append(ends.begun)
            ends.begin()
            if names is None:
                names = record
                continue
            if len(record) > widest:
                grown = min(len(record), MAX_COLUMNS) - len(numeric)
                numeric += [True] * grown
                longest += [0] * grown
                self.has_more = len(record) > MAX_COLUMNS
                widest = len(record)
            for at, value in enumerate(record[:MAX_COLUMNS]):
                if value and numeric[at]:
                    if _NUMBER.fullmatch(value.strip()):
                        longest[at] = max(longest[at], len(value.strip()))
                    else:
                        numeric[at] = False
        starts.append(len(self._text))
        names = (names or [])[:MAX_COLUMNS]
        for at in range(max(len(names), len(numeric))):
            column = Column((names[at].removeprefix("\ufeff") if at < len(names) else "") or f"column {at + 1}")
            column.is_numeric = at < len(numeric) and numeric[at] and longest[at] > 0
            column.longest = longest[at] if at < len(longest) else 0
            self.columns.append(column)


def table_of(text: str, path: Sequence[str] = ()) -> Table | None:
    """Return the table of the list of objects at a path of keys in a JSON text, or None."""
    try:
        table: ObjectTable | None = read_at(text, path, lambda text, at: ObjectTable().read(text, at))
    except (ValueError, RecursionError, StopIteration):
        return None
    if table is not None:
        table.pointer = "".join(f"/{escape_step(step)}" for step in path)
    return table


def table_of_text(text: str, mime_type: str = "") -> Table | None:
    """Return the table of delimited text; None if the text is not delimited.

    Text that is not declared as CSV or TSV must be at least three lines with the same number of fields, at least two,
    under a first line of names.
    """
    kind = mime_type.split(";")[0].strip().lower()
    declared = {"text/csv": ",", "application/csv": ",", "text/tab-separated-values": "\t"}.get(kind, "")
    if not declared and kind not in ("", "text/plain"):
        return None
    delimiter = _delimiter(text, declared)
    if not delimiter:
        return None
    table = TextTable(text, delimiter)
    try:
        table.learn()
    except csv.Error:
        return None
    return table if len(table) and table.columns else None


def _delimiter(text: str, declared: str) -> str:
    beginning = text[:20_000]
    for delimiter in ("\t", ",", ";"):
        if delimiter not in beginning.partition("\n")[0]:
            continue
        try:
            records = [record for record in _csv_rows(beginning, delimiter, _LOOKED_AT + 1) if record]
        except csv.Error:
            continue
        if len(text) > len(beginning) or len(records) > _LOOKED_AT:
            records = records[:-1]  # The last one may be cut.
        if declared and len(records) >= 2 and (delimiter == declared or len({*map(len, records)}) == 1):
            return delimiter
        if len(records) >= 3 and len({*map(len, records)}) == 1 and len(records[0]) >= 2 and _are_names(records[0]):
            return delimiter
    return declared if declared and text.strip().count("\n") >= 1 else ""


def _are_names(record: Sequence[str]) -> bool:
    return len({*record}) == len(record) and all(
        name and name == name.strip() and len(name) <= _MAX_NAME and name[-1] not in ".:!?{[" and not _is_number(name)
        for name in record
    )


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


class _LineEnds:
    """The lines of a text for a CSV reader, with the start of the current record."""

    def __init__(self, text: str) -> None:
        self._lines = iter(text.splitlines(keepends=True)) if "\r" in text and "\n" not in text else io.StringIO(text)
        self.begun = 0
        self._at = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._at += len(line)
        return line

    def begin(self) -> None:
        """Start the next record here."""
        self.begun = self._at


def _csv_rows(text: str, delimiter: str, limit: int = 1) -> Iterator[list[str]]:
    for done, record in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)):
        if done >= limit:
            return
        yield record


# Parse JSON at a place

_decoder = json.JSONDecoder(parse_int=WrittenNumber, parse_float=WrittenNumber, parse_constant=str, strict=False)
_read: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once  # type: ignore[attr-defined]
"""Parse the JSON value at an offset: returns the value and its end. Raises `StopIteration` or `ValueError` without
one."""

_BLANK = lazy_pattern(r"[ \t\n\r]*")
_NEXT_ROW = lazy_pattern(r"[ \t\n\r]*(?:,[ \t\n\r]*(?=\{)|(\]))")
"""The text between two objects of a list, or the end of the list as group 1."""
_STRING = lazy_pattern(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def read_at(text: str, path: Sequence[str], read: Callable[[str, int], tuple[Any, int]], at: int = 0) -> Any:
    """Return the result of `read(text, offset)` for the value at a path of keys, or None.

    Of duplicate keys the last counts. Other members are skipped at the speed of the C parser. Raises `ValueError`,
    `StopIteration` or `RecursionError` for text before the value that is not JSON.
    """
    value, _ = _read_member(text, path, read, _skip(text, at + (at == 0 and text.startswith("\ufeff"))))
    return value


def slice_at(text: str, path: Sequence[str]) -> str | None:
    """Return the exact text of the value at a path of keys; None if missing or invalid."""

    def cut(text: str, at: int) -> tuple[str, int]:
        end = _read(text, at)[1]
        return text[at:end], end

    try:
        value: str | None = read_at(text, path, cut)
    except (ValueError, RecursionError, StopIteration):
        return None
    return value


def _read_member(
    text: str, path: Sequence[str], read: Callable[[str, int], tuple[Any, int]], at: int
) -> tuple[Any, int]:
    if not path:
        return read(text, at)
    if text[at : at + 1] != "{":
        return None, _read(text, at)[1]
    member = None
    at = _skip(text, at + 1)
    if text[at : at + 1] == "}":
        return None, at + 1
    while True:
        name = _STRING.match(text, at)
        if name is None:
            raise ValueError("a key was expected")
        at = _skip(text, name.end())
        if text[at : at + 1] != ":":
            raise ValueError("a colon was expected")
        at = _skip(text, at + 1)
        if unquote(name[0]) == path[0]:
            member, at = _read_member(text, path[1:], read, at)
        else:
            at = _read(text, at)[1]
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            return member, at + 1
        if text[at : at + 1] != ",":
            raise ValueError("a comma was expected")
        at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


# Cells


def cell_text(value: Any, limit: int | None = CELL_LIMIT) -> str:
    """Return the text of a cell; `""` for nothing.

    Text is unchanged, numbers as written, nested values as compact JSON.
    """
    if isinstance(value, str):
        return str(value)
    if value is MISSING or value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = _json_text(value, 0)
    return text if limit is None else text[:limit]


def _json_text(value: Any, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return '"…"'
    if type(value) is WrittenNumber:
        return str(value)
    if isinstance(value, dict):
        inner = ", ".join(
            f"{json.dumps(key, ensure_ascii=False)}: {_json_text(item, depth + 1)}" for key, item in value.items()
        )
        return "{" + inner + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_json_text(item, depth + 1) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _sort_key(value: Any) -> tuple[int, Any]:
    if type(value) is WrittenNumber:
        return 0, _value_of(value)
    if isinstance(value, str):
        return 1, (value.casefold(), value)
    if isinstance(value, bool):
        return 2, value
    return 3, _json_text(value, 0)


def _value_of(number: str) -> Any:
    try:
        if len(number) <= 18:
            return int(number) if number.lstrip("-").isdigit() else float(number)
        return Decimal(number)
    except (ValueError, InvalidOperation):
        return 0


_NUMBER = lazy_pattern(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,6})?")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


# Filter


class _Test:
    """One word of a filter: in any cell, or in one column; or a comparison with a number."""

    __slots__ = ("column", "compare", "limit", "pattern")

    def __init__(self, column: int | None, pattern: re.Pattern[str] | None, compare: str = "", limit: Any = 0) -> None:
        self.column = column
        self.pattern = pattern
        self.compare = compare
        self.limit = limit

    def fits(self, value: Any) -> bool:
        if self.compare:
            if type(value) is not WrittenNumber:
                return False
            number = _value_of(value)
            return bool(
                (number > self.limit if self.compare[0] == ">" else number < self.limit)
                or (self.compare[1:] and number == self.limit)
            )
        return self.pattern is not None and self.pattern.search(cell_text(value, None)) is not None


_WORD = lazy_pattern(r'(?:"[^"]*"?|[^\s"])+')
_COMPARE = lazy_pattern(r"(>=|<=|>|<)(.+)")


def filter_patterns(words: str, names: Sequence[str]) -> list[tuple[int | None, re.Pattern[str]]]:
    """Return the texts of a filter, each with its column or None, so that matches can be marked."""
    return [(test.column, test.pattern) for test in _filter_tests(words, names) if test.pattern is not None]


def _filter_tests(words: str, names: Sequence[str]) -> list[_Test]:
    lower = {name.lower(): at for at, name in reversed([*enumerate(names)])}
    tests = []
    for word in _WORD.findall(words):
        name, colon, rest = word.partition(":")
        column = lower.get(name.strip('"').lower()) if colon and rest else None
        text = (word if column is None else rest).replace('"', "")
        compared = _COMPARE.fullmatch(text) if column is not None else None
        if compared and _is_number(compared[2]):
            tests.append(_Test(column, None, compared[1], _value_of(compared[2])))
        elif text:
            flags = re.IGNORECASE if text == text.lower() else 0
            tests.append(_Test(column, re.compile(re.escape(text), flags)))
    return tests


def _matches(cells: Sequence[Any], tests: Sequence[_Test]) -> bool:
    return all(
        test.fits(cells[test.column]) if test.column is not None else any(map(test.fits, cells)) for test in tests
    )

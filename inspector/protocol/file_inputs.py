"""The keyword `x-mcp-file`: a text property whose value is a file as a data URI.

Source: SEP-2356 (closed; its successor SEP-2631 is a draft without a final text). Only the keyword is used.
"""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from inspector.errors import UsageError
from inspector.protocol.jsonrpc import excerpt
from inspector.reasons import os_reason
from inspector.system.files import NO_WAIT, open_file

KEYWORD = "x-mcp-file"
MAX_COUNT = 10_000
"""Parts of a schema that are looked at."""
_BELOW = ("properties", "$defs", "definitions", "patternProperties")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")


class FileInput(NamedTuple):
    """A place in a schema with the keyword."""

    where: str
    """The JSON pointer of the schema that has it."""
    accept: tuple[str, ...]
    """MIME types and suffixes that it accepts; empty for all."""
    max_size: int | None
    """The most bytes of the file; None without a limit."""
    problem: str
    """What is wrong with it, as a clause; empty if it is right. A wrong one is ignored."""


def file_inputs(schema: Any) -> Iterator[FileInput]:
    """Yield the places in a schema that have the keyword. Never raises."""
    todo: list[tuple[str, Any]] = [("", schema)]
    for _ in range(MAX_COUNT):
        if not todo:
            return
        where, item = todo.pop()
        if type(item) is not dict:
            continue
        if KEYWORD in item:
            yield _file_input(where, item)
        for key in _BELOW:
            below = item.get(key)
            todo += ((f"{where}/{key}/{name}", value) for name, value in below.items()) if type(below) is dict else ()
        for key in _LISTS:
            below = item.get(key)
            todo += ((f"{where}/{key}/{n}", value) for n, value in enumerate(below)) if type(below) is list else ()
        todo.append((f"{where}/items", item.get("items")))


def _file_input(where: str, schema: dict[str, Any]) -> FileInput:
    value = schema[KEYWORD]
    if type(value) is not dict:
        return FileInput(where, (), None, f"it is {excerpt(value, 40)}, not an object")
    accept, limit = value.get("accept", []), value.get("maxSize")
    problems = []
    kind = schema.get("type")
    if kind != "string" and not (type(kind) is list and "string" in kind):
        problems.append(f"it stands on the type {excerpt(kind, 40)}, not on a string")
    if type(accept) is not list or not all(type(item) is str for item in accept):
        problems.append(f"accept is {excerpt(accept, 40)}, not a list of strings")
        accept = []
    if limit is not None and (type(limit) is not int or limit <= 0):
        problems.append(f"maxSize is {excerpt(limit, 40)}, not an integer above 0")
        limit = None
    return FileInput(where, tuple(accept), limit, " and ".join(problems))


class PickedFile(NamedTuple):
    """A file that the user picked. The value has neither its name nor its path (C-FILE-04)."""

    value: str
    """The base64 data URI."""
    size: int
    media_type: str
    sha256: str
    warnings: tuple[str, ...]
    """What the server may not accept; the user decides (C-FILE-03)."""


class FileValue(NamedTuple):
    """A file among the arguments of a call."""

    value: str
    """The data URI."""
    media_type: str
    size: int
    sha256: str


def file_values(schema: Any, arguments: dict[str, Any]) -> Iterator[FileValue]:
    """Yield the files among the arguments of a tool whose schema has the keyword (C-FILE-04). Never raises."""
    urls = [
        item
        for value in arguments.values()
        for item in (value if type(value) is list else (value,))
        if type(item) is str and item.startswith("data:")
    ]
    if not urls or all(file_input.problem for file_input in file_inputs(schema)):
        return
    for value in urls:
        head, comma, body = value.partition(",")
        if comma and head.endswith(";base64"):
            with suppress(ValueError):
                data = base64.b64decode(body, validate=True)
                kind = head.removeprefix("data:").removesuffix(";base64")
                yield FileValue(value, kind, len(data), hashlib.sha256(data).hexdigest())


MAX_SIZE = 64 << 20
"""Bytes of a file that can be picked."""


def file_input(schema: Any) -> FileInput | None:
    """Return the keyword of one text property; None without a right one (C-FILE-02)."""
    if type(schema) is not dict or KEYWORD not in schema:
        return None
    file_input = _file_input("", schema)
    return None if file_input.problem else file_input


def pick_file(path: Path, file_input: FileInput) -> PickedFile:
    """Read a file that the user picked. Raises `UsageError` for anything but a regular file of up to 64 MiB."""
    import mimetypes

    try:
        descriptor = open_file(path, os.O_RDONLY | NO_WAIT)
    except (OSError, ValueError) as error:
        reason = os_reason(error) if isinstance(error, OSError) else "its name is not valid"
        raise UsageError(f"{path} cannot be read: {reason}.") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UsageError(f"{path} is not a regular file.")
    with open(descriptor, "rb") as file:
        data = file.read(MAX_SIZE + 1)
    if len(data) > MAX_SIZE:
        raise UsageError(f"{path} is larger than {MAX_SIZE >> 20} MiB.")
    kind = mimetypes.guess_type(path.name, strict=False)[0] or "application/octet-stream"
    warnings = []
    if file_input.accept and not any(_fits(accepted, kind, path.suffix) for accepted in file_input.accept):
        warnings.append(f"the server accepts {', '.join(file_input.accept[:10])}, and this is {kind}")
    if file_input.max_size is not None and len(data) > file_input.max_size:
        warnings.append(f"the server accepts {file_input.max_size:,} bytes, and this file has {len(data):,}")
    value = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    return PickedFile(value, len(data), kind, hashlib.sha256(data).hexdigest(), tuple(warnings))


def _fits(accepted: str, kind: str, suffix: str) -> bool:
    """Whether a file has an accepted type (`image/png`, `image/*`) or suffix (`.pdf`)."""
    pattern = accepted.strip().lower()
    if pattern.startswith("."):
        return suffix.lower() == pattern
    return pattern in (kind, "*/*", f"{kind.partition('/')[0]}/*")

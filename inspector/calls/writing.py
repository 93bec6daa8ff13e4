"""The text of flows and steps, new flow files, and steps that are appended to a file.

Text is written, never YAML that was read and serialised again: the bytes that a person wrote stay as they are. A
string stays plain only where every reader of YAML 1.1 and 1.2 takes it for a string; else it is quoted.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from inspector import command_words
from inspector.calls.templates import literal
from inspector.calls.yaml_text import (
    MAX_NUMBER,
    MAX_SIZE,
    CallsError,
    Position,
    decode,
    read_bytes,
    read_yaml,
)
from inspector.config.output_files import OutputExists, already_exists, cannot_write
from inspector.documents import MAX_DEPTH
from inspector.errors import ConfigError
from inspector.system.files import open_file

SCHEMA = "flow.schema.json"
"""The file with the JSON Schema of flows, by which editors complete and check: the first line of a flow names it."""

WIDTH = 100
"""Columns up to which a map or a list is written in one line."""
_MAX_KEY = 200
"""Characters of a key that is written as `key:`. YAML readers give up at 1,024; a longer one begins with `? `."""
_MAX_DEPTH = MAX_DEPTH - 4
"""Levels of maps and lists in a step; the reader counts those around it, too."""

_PLAIN = re.compile(r"[^\W\d_$/][^\x00-\x1f]*|[$/_][^\x00-\x1f]*|\d+(?:\.\d+)? (?:ms|s|min|h)")
_UNSAFE_IN_FLOW = re.compile(r"[^\w $/.@=+*~()\\<>-]")
"""Characters that end a plain text between braces or brackets, at least for some readers."""
_READ_OTHERWISE = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
"""Words that YAML 1.1 or 1.2 reads as a boolean or as null, whatever their case."""
_URL = re.compile(r"https?://", re.IGNORECASE)
_SPACE = re.compile(r"\s")
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class CannotAppend(CallsError):
    """A step cannot be appended to a file without a change to what is written there."""

    code = "append"


def flow_text(
    name: str | None,
    server: str | None,
    steps: Sequence[Mapping[str, Any]],
    *,
    vars: Mapping[str, Any] | None = None,
    comment: str = "",
    schema: str = f"./{SCHEMA}",
) -> str:
    """Return the text of a flow file. `comment` stands above it; `schema` is the path from the file to `SCHEMA`."""
    text = [
        f"# yaml-language-server: $schema={schema}",
        *(f"# {printable(line)}".rstrip() for line in comment.splitlines()),
        "inspector: 1",
    ]
    for key, value in (("name", name), ("server", server), ("vars", vars)):
        if value:
            text += _entry(key, value, 0)
    text.append("steps:" if steps else "steps: []")
    for step in steps:
        text += _step(step, 2)
    return "\n".join(text) + "\n"


def request_step(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request as the keys of a step say it; `request` where no other key says all of it."""
    name, uri, args = params.get("name"), params.get("uri"), params.get("arguments", {})
    keys = set(params)
    if method == "tools/call" and name and isinstance(name, str) and isinstance(args, dict):
        if keys <= {"name", "arguments"} or (keys <= {"name", "arguments", "task"} and params["task"] == {}):
            return {"call": name} | ({"args": args} if args else {}) | ({"task": True} if "task" in keys else {})
    elif method == "prompts/get" and name and isinstance(name, str) and isinstance(args, dict):
        if keys <= {"name", "arguments"} and all(isinstance(value, str) for value in args.values()):
            return {"prompt": name} | ({"args": args} if args else {})
    elif method == "resources/read" and keys == {"uri"} and uri and isinstance(uri, str):
        return {"read": uri}
    elif method == "completion/complete" and keys == {"ref", "argument"}:
        step = _completion(params["ref"], params["argument"])
        if step:
            return step
    return {"request": method} | ({"params": dict(params)} if params else {})


def _completion(ref: Any, argument: Any) -> dict[str, Any]:
    if not isinstance(ref, dict) or not isinstance(argument, dict) or set(argument) != {"name", "value"}:
        return {}
    kind = {"ref/prompt": "name", "ref/resource": "uri"}.get(str(ref.get("type")), "")
    of, name, value = ref.get(kind), argument["name"], argument["value"]
    if set(ref) != {"type", kind} or not of or not name or not all(isinstance(part, str) for part in (of, name, value)):
        return {}
    return {"complete": f"prompt/{of}" if kind == "name" else of, "argument": name, "value": value}


def server_text(*, name: str = "", command: Sequence[str] = (), url: str = "") -> str | None:
    """Return the `server` of a flow for a config entry, a command or a URL. It inserts no variable.

    None for a text that would be read as another of the three: what is a URL in a recording never becomes a command.
    """
    if name:
        text = f"@{name}"
    elif command:
        # One word is not split again when it is read.
        alone = len(command) == 1 and not _SPACE.search(command[0])
        text = command[0] if alone else command_words.join_for_files(command)
    else:
        text = url
    kind = "name" if text.startswith("@") else "url" if _URL.match(text) else "command"
    return str(literal(text)) if kind == ("name" if name else "command" if command else "url") else None


def entry_lines(key: str, value: Any) -> list[str]:
    """Return the lines of one key and its value in the outermost map of a file."""
    return _entry(key, value, 0)


def step_text(step: Mapping[str, Any], *, indent: int = 2) -> str:
    """Return the lines of one step as an item of `steps:`, `indent` spaces in, each line with a line feed."""
    return "".join(line + "\n" for line in _step(step, indent))


def create_flow(path: Path, *, server: str | None = None, steps: Sequence[Mapping[str, Any]] = ()) -> None:
    """Write a new flow file, and the schema beside it where it is missing.

    Raises `OutputExists` where `path` exists, and `UsageError` where it cannot be written.
    """
    create_text(path, flow_text(None, server, steps))
    create_schema(path.parent)


def create_schema(folder: Path) -> None:
    """Write the JSON Schema of flows into a folder that does not have it. Raises `UsageError`."""
    import json

    from inspector.calls.models import flow_schema

    with suppress(OutputExists):
        create_text(folder / SCHEMA, json.dumps(flow_schema(), indent=2, ensure_ascii=False) + "\n")


def create_text(path: Path, text: str) -> None:
    """Write a new file, and the folders above it. It has the default mode, because a team shares it.

    Raises `OutputExists` where `path` exists, and `UsageError` where it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        raise already_exists(path) from None
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        with open(descriptor, "wb") as file:
            file.write(text.encode())
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise cannot_write(path, error) from None


def append_step(path: Path, step: Mapping[str, Any]) -> int:
    """Append `step` to the steps of a flow file and return the line on which it begins, from 1.

    The bytes before it stay. It takes the indentation, the line ends and the final line end (or its absence) of the
    file. Raises `CallsError`, and changes nothing, where the file cannot be read or does not end in a list of steps.
    """
    before = read_bytes(path)
    return _append_lines(path, before, _addition(path, before, step))


def append_expectation(path: Path, number: int, expect: Mapping[str, Any]) -> int:
    """Append the keys of `expect` to the last step, which has this number, and return their first line.

    The bytes before it stay: paths are added to the `result` that the step has, and no expectation is replaced. Raises
    `CallsError`, and changes nothing, where that is not possible.
    """
    before = read_bytes(path)
    return _append_lines(path, before, _longer_step(path, before, number, expect))


def can_append_expectation(path: Path, number: int, expect: Mapping[str, Any]) -> bool:
    """Whether `append_expectation` would succeed now."""
    try:
        _longer_step(path, read_bytes(path), number, expect)
    except CallsError:
        return False
    return True


def _append_lines(path: Path, before: bytes, added: bytes) -> int:
    """Append to a file that still has the bytes `before`; returns the first line that was added, from 1."""
    try:
        _append(path, before, added)
    except OSError as error:
        raise cannot_write(path, error) from None
    return _lines(before + added[: len(added) - len(added.lstrip(b"\r\n"))])


def _append(path: Path, before: bytes, added: bytes) -> None:
    descriptor = open_file(path, os.O_RDWR | os.O_APPEND)
    with open(descriptor, "r+b", buffering=0) as file:
        if file.read() != before:
            raise CannotAppend(path, None, "The file changed while the step was written.", hint="Save the step again.")
        try:
            written = 0
            while written < len(added):
                written += file.write(added[written:]) or 0
        except OSError:
            with suppress(OSError):
                file.truncate(len(before))
            raise


def _lines(text: bytes) -> int:
    """Return the number of the last line of `text`, which may be empty."""
    return len(re.split(rb"\r\n|\r|\n", text))


def _addition(path: Path, before: bytes, step: Mapping[str, Any]) -> bytes:
    old = read_yaml(path, before).value
    indent = _place(path, decode(path, before))
    return _verified(path, before, step_text(step, indent=indent), {**old, "steps": [*(old["steps"] or []), step]})


def _longer_step(path: Path, before: bytes, number: int, expect: Mapping[str, Any]) -> bytes:
    """The bytes that add `expect` to the last step. Raises `CannotAppend`."""
    import yaml

    old = read_yaml(path, before).value
    text = decode(path, before)
    _place(path, text)
    steps = old["steps"] or []
    if number != len(steps):
        raise _refused(path, None, f"Step {number} is not the last step", "Add the expectation by hand.")
    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    step, node = steps[-1], root.value[-1][1].value[-1]
    held = step.get("expect")
    if node.flow_style:
        raise _refused(path, node, "The step is between braces", "Write each key on a line of its own.")
    if "expect" not in step:
        lines = _entry("expect", expect, node.start_mark.column)
        merged = dict(expect)
    else:
        last = node.value[-1]
        if last[0].value != "expect" or not isinstance(held, Mapping) or last[1].flow_style:
            raise _refused(path, last[0], "“expect” is not a block at the end of the step", "Add it by hand.")
        lines, merged = _more_expected(path, last[1], held, expect)
    return _verified(path, before, "\n".join([*lines, ""]), {**old, "steps": [*steps[:-1], {**step, "expect": merged}]})


def _more_expected(
    path: Path, node: Any, held: Mapping[str, Any], expect: Mapping[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """The lines that add `expect` to what is expected already (at `node`), and both together. Raises `CannotAppend`."""
    lines: list[str] = []
    merged = dict(held)
    new = {key: value for key, value in expect.items() if key not in held}
    paths = {**expect["result"]} if "result" in expect and "result" in held else {}
    for key, value in expect.items():
        if key in held and key != "result" and not _same(held[key], value):
            raise _refused(path, node, f"The step has “{key}” already", "Change it by hand.")
    if paths:
        key, result = node.value[-1]
        if key.value != "result" or result.flow_style or not isinstance(held["result"], Mapping):
            raise _refused(path, key, "“result” is not a block at the end of the step", "Add the path by hand.")
        for place in paths:
            if place in held["result"]:
                raise _refused(path, key, f"The step has an expectation for {place} already", "Change it by hand.")
        lines += _map(paths, result.value[0][0].start_mark.column)
        merged["result"] = {**held["result"], **paths}
    lines += _map(new, node.start_mark.column)
    if not lines:
        raise _refused(path, node, "The step has this expectation already", "Nothing is left to do.")
    return lines, merged | new


def _verified(path: Path, before: bytes, lines: str, expected: Mapping[str, Any]) -> bytes:
    """`lines` as bytes to append, if the file is then read as `expected`. Raises `CannotAppend`."""
    text = decode(path, before)
    line_end = "\r" if "\r" in text and "\n" not in text else "\n"
    if text.count("\r\n") * 2 > text.count("\n"):
        line_end = "\r\n"
    lines = lines.replace("\n", line_end)
    ended = text.endswith(("\n", "\r"))
    # A block text at the end of the step needs the line end that the file did not have.
    for added in [lines] if ended else [line_end + lines.removesuffix(line_end), line_end + lines]:
        data = before + added.encode()
        if len(data) > MAX_SIZE:
            raise _refused(path, None, "The file would be larger than 1 MiB", "Create a new file for the step.")
        with suppress(CallsError):  # The lines do not continue the file: at an alias, for example.
            if _same(read_yaml(path, data).value, expected):
                return added.encode()
    last = Position(len(text.splitlines()), 1)
    if not ended:
        raise _refused(path, last, "The last text would get a line end that it does not have", "End the last line.")
    raise _refused(path, last, "The steps would not be those of before and the new one", "Add the step by hand.")


def _place(path: Path, text: str) -> int:
    """Return the column at which the next item of `steps:` begins, from 0. Raises `CannotAppend` where it has none."""
    import yaml

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or not root.value or root.value[0][0].value != "inspector":
        raise _refused(
            path,
            None,
            "The file is not a saved call: its first key is not “inspector”",
            "Choose the file of a saved call.",
        )
    if root.flow_style:
        raise _refused(path, root, "The file is one pair of braces", "Write each key on a line of its own.")
    last_key, last = root.value[-1]
    if all(key.value != "steps" for key, _ in root.value):
        raise _refused(path, None, "The file has no key “steps”", "Add a line “steps:” at its end.")
    if last_key.value != "steps":
        raise _refused(path, last_key, f"“{last_key.value}” stands after the steps", "Move “steps” to the end.")
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.DocumentEndEvent) and event.explicit:
            raise _refused(path, event, "The document ends with “...”", "Remove that line.")
    if isinstance(last, yaml.ScalarNode) and not last.value and not last.style:
        return int(last_key.start_mark.column) + 2
    if not isinstance(last, yaml.SequenceNode) or last.start_mark.index < last_key.start_mark.index:
        raise _refused(path, last_key, "“steps” is not a list", "Begin each step on a line of its own with “- ”.")
    if last.flow_style:
        raise _refused(path, last, "“steps” is in brackets", "Begin each step on a line of its own with “- ”.")
    return int(last.start_mark.column)


def _refused(path: Path, at: Any, reason: str, remedy: str) -> CannotAppend:
    """The error; `at` is a position or a part of the YAML document."""
    mark = getattr(at, "start_mark", None)
    position = Position(mark.line + 1, mark.column + 1) if mark is not None else at
    return CannotAppend(path, position, f"{reason}, so nothing was added.", hint=remedy)


def _same(left: Any, right: Any) -> bool:
    """Whether two plain values are equal, with 1, 1.0 and true told apart."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return list(left) == list(right) and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and bool(left == right)


def _step(step: Mapping[str, Any], indent: int) -> list[str]:
    level: list[Any] = [step]
    for _ in range(_MAX_DEPTH):
        parts = [item for item in level if isinstance(item, Mapping | list | tuple)]
        level = [inner for item in parts for inner in (item.values() if isinstance(item, Mapping) else item)]
    if level:
        raise ConfigError(f"A step has more than {_MAX_DEPTH} levels.", hint="Write a value with fewer levels.")
    return _item(step, indent)


def _item(value: Any, indent: int) -> list[str]:
    """Return the lines of one item of a block list."""
    if isinstance(value, Mapping) and value:
        lines = _map(value, indent + 2)
    elif isinstance(value, list | tuple) and value:
        lines = _list(value, indent + 2)
    else:
        return _with_head(" " * indent + "- ", value, indent)
    return [f"{' ' * indent}- {lines[0][indent + 2 :]}", *lines[1:]]


def _map(value: Mapping[str, Any], indent: int) -> list[str]:
    return [line for key, item in value.items() for line in _entry(key, item, indent)]


def _list(value: Sequence[Any], indent: int) -> list[str]:
    lines: list[str] = []
    for item in value:
        inline = _inline(item)
        fits = inline is not None and indent + 2 + len(inline) <= WIDTH
        lines += [f"{' ' * indent}- {inline}"] if fits else _item(item, indent)
    return lines


def _entry(key: str, value: Any, indent: int) -> list[str]:
    """Return the lines of one key and its value in a block map."""
    space = " " * indent
    name = _scalar(str(key), in_flow=False)
    if len(name) <= _MAX_KEY:
        head = f"{space}{name}:"
    else:
        return [f"{space}? {name}", *_with_head(f"{space}: ", value, indent)]
    inline = _inline(value)
    if (
        inline is not None
        and not _may_grow(key, value)
        and (len(head) + 1 + len(inline) <= WIDTH or not _has_parts(value))
    ):
        return [f"{head} {inline}"]
    if isinstance(value, Mapping):
        return [head, *_map(value, indent + 2)]
    if isinstance(value, list | tuple):
        return [head, *_list(value, indent + 2)]
    return _with_head(head + " ", value, indent)


def _with_head(head: str, value: Any, indent: int) -> list[str]:
    """Return the lines of a value that begins behind `head`, at the column `indent`."""
    if isinstance(value, Mapping) and value:
        return [head.rstrip(), *_map(value, indent + 2)]
    if isinstance(value, list | tuple) and value:
        return [head.rstrip(), *_list(value, indent + 2)]
    if isinstance(value, str) and _fits_block_text(value):
        space = " " * (indent + 2)
        chomp = "|" if value.endswith("\n") else "|-"
        return [f"{head}{chomp}", *(space + line if line else "" for line in value.removesuffix("\n").split("\n"))]
    return [head + _plain_or_quoted(value, in_flow=False)]


def _may_grow(key: str, value: Any) -> bool:
    """Whether expectations may be appended to a value later, which needs lines of their own."""
    if not isinstance(value, Mapping) or not value:
        return False
    return (key == "expect" and "result" in value) or (key == "result" and all(k[:1] in ("$", "/") for k in value))


def _has_parts(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple) and bool(value)


def _inline(value: Any) -> str | None:
    """Return a value as text of one line, or None where a text in it is better read over several."""
    if _has_parts(value):
        parts = list(_inline_parts(value))
        if None in parts:
            return None
        joined = ", ".join(part for part in parts if part is not None)
        return f"{{{joined}}}" if isinstance(value, Mapping) else f"[{joined}]"
    if isinstance(value, str) and _fits_block_text(value):
        return None
    return _plain_or_quoted(value, in_flow=False)


def _inline_parts(value: Any) -> Iterator[str | None]:
    room = WIDTH
    items = value.items() if isinstance(value, Mapping) else ((None, item) for item in value)
    for key, item in items:
        text = _inline(item) if _has_parts(item) or _is_block_text(item) else _plain_or_quoted(item, in_flow=True)
        if text is not None and key is not None:
            name = _scalar(str(key), in_flow=True)
            # Paths such as $.content[0] need no quotes on a line of their own.
            text = f"{name}: {text}" if name == _scalar(str(key), in_flow=False) else None
        room -= len(text or "")
        if text is None or room < 0:
            yield None
            return
        yield text


def _is_block_text(value: Any) -> bool:
    return isinstance(value, str) and _fits_block_text(value)


def _fits_block_text(value: str) -> bool:
    """Whether a text has several lines and is the same again when it is read from a block text."""
    body = value.removesuffix("\n")
    if "\n" not in body or value.endswith("\n\n") or body[0] in " \n":
        return False
    return all(line.isprintable() and line == line.rstrip() for line in body.split("\n"))


def _plain_or_quoted(value: Any, *, in_flow: bool) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return _scalar(value, in_flow=in_flow)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    raise TypeError(f"{type(value).__name__} is not plain data")


def _integer(value: int) -> str:
    if abs(value) >= 10**MAX_NUMBER:
        raise ConfigError(f"An integer has more than {MAX_NUMBER:,} digits.", hint="Write it as a string.")
    return int.__repr__(value)


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise ConfigError(f"JSON has no number {value}.", hint="Write it as a string.")
    digits, exponent, power = float.__repr__(value).partition("e")
    # YAML 1.1 reads a number as a float only with a point, and with a sign in the exponent.
    digits = digits if "." in digits else digits + ".0"
    return digits + (f"e{power if power[0] in '+-' else '+' + power}" if exponent else "")


def _scalar(text: str, *, in_flow: bool) -> str:
    """Return a string as one line of YAML: plain where it is safe, else quoted."""
    if _is_plain(text, in_flow=in_flow):
        return text
    if text.isprintable() and "'" not in text and ("\\" in text or '"' in text):
        return f"'{text}'"
    return '"' + "".join(map(_escaped, text)) + '"'


def _is_plain(text: str, *, in_flow: bool) -> bool:
    return (
        _PLAIN.fullmatch(text) is not None
        and text.isprintable()
        and text[-1] not in " :"
        and ": " not in text
        and " #" not in text
        and not (in_flow and _UNSAFE_IN_FLOW.search(text))
        and text.lower() not in _READ_OTHERWISE
    )


def _escaped(character: str) -> str:
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if 0xD800 <= code < 0xE000:
        raise ConfigError(
            f"A text holds half a surrogate pair (\\u{code:04x}), which YAML cannot.", hint="Leave it out."
        )
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(line: str) -> str:
    """A line of a comment, with spaces for what is not printable."""
    return "".join(character if character.isprintable() else " " for character in line)

"""Compares a result with the file that `same_as` names, or writes the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.calls.models import Expect
from inspector.calls.snapshots import read_snapshot, snapshot_path, write_snapshot
from inspector.compare.rules import DEFAULT
from inspector.compare.values import compare
from inspector.errors import ConfigError, UsageError
from inspector.flows.results import ExpectationResult
from inspector.flows.values import MAX_SHOWN, difference_text, shown

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.calls.variables import Variables


def same_as(
    expect: Expect, result: Any, variables: Variables, flow: Flow, at: tuple[int, int], *, update: bool
) -> ExpectationResult:
    """Whether a result equals the file that `expect` names. `update` writes the file if it does not."""
    from inspector.protocol import jsonrpc

    text = f"same as {expect.same_as}"

    def failed(expected: str, found: str, note: str = "", path: str = "") -> ExpectationResult:
        return ExpectationResult(text, False, path=path, expected=expected, found=found, note=note, at=at)

    try:
        path = snapshot_path(flow.path, expect.same_as)
    except UsageError as error:
        return failed("a file of this folder", error.message)
    value = variables.secrets.mask_value(_without_server(result))
    missing = failed(f"the file {expect.same_as}", "no such file", "Run with --update to write it.")
    if path.exists():
        try:
            data = read_snapshot(path)
            expected = _without_server(jsonrpc.parse(data.removeprefix(b"\xef\xbb\xbf")))
        except (ConfigError, jsonrpc.NotJson) as problem:
            missing = failed("a JSON file", f"a file that cannot be read: {problem}")
        else:
            return _compared(expect, expected, value, variables, path, text, at, update=update)
    return _written(path, value, text, at) if update else missing


def _compared(
    expect: Expect,
    expected: Any,
    found: Any,
    variables: Variables,
    path: Path,
    text: str,
    at: tuple[int, int],
    *,
    update: bool,
) -> ExpectationResult:
    ignore, unordered = (list(map(variables.insert_text, paths)) for paths in (expect.ignore, expect.unordered))
    try:
        rules = DEFAULT.plus(ignore=ignore, unordered=unordered)
    except UsageError as error:  # With the value of a variable in it.
        return ExpectationResult(text, False, expected="paths to ignore", found=error.message, at=at)
    compared = compare(expected, found, rules, limit=MAX_SHOWN)
    if compared.same:
        return ExpectationResult(text, True, at=at)
    if update:
        return _written(path, found, text, at)
    first = compared.differences[0]
    return ExpectationResult(
        text,
        False,
        path=str(first.path),
        expected="nothing" if first.kind == "added" else shown(first.a),
        found="nothing" if first.kind == "removed" else shown(first.b),
        note="\n".join([*map(difference_text, compared.differences), *["and more"] * compared.truncated]),
        at=at,
    )


def _written(path: Path, value: Any, text: str, at: tuple[int, int]) -> ExpectationResult:
    try:
        write_snapshot(path, value)
    except UsageError as error:
        return ExpectationResult(text, False, expected=f"the file {path.name}", found=error.message, at=at)
    return ExpectationResult(f"{text} (written)", True, at=at)


def _without_server(result: Any) -> Any:
    """A result without the members that tell of the revision and the server, not of what was asked for."""
    if not isinstance(result, dict):
        return result
    return {name: value for name, value in result.items() if name not in ("_meta", "resultType")}

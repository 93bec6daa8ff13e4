"""Whether what came back is what a step expects. Equality and paths are those of `compare`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.calls.matching import MAX_SHOWN, Failure, Matching, clip, difference_text, excerpt, same, wants_nothing
from inspector.calls.models import Counted, Expect, ExpectedError, ExpectedToolError, given
from inspector.calls.results import ExpectationResult
from inspector.calls.snapshots import read_snapshot, snapshot_path, write_snapshot
from inspector.compare.json_places import ROOT, ValuePath, places
from inspector.compare.rules import DEFAULT
from inspector.compare.values import compare
from inspector.config.foreign_files import nearest
from inspector.errors import ConfigError, UsageError
from inspector.protocol.result_shape import schema_errors
from inspector.text import quantity

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.calls.variables import Variables
    from inspector.calls.yaml_text import Place

_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_SCHEMA_RULE = "TOOL-09 "
"""The rule that structured content matches the output schema."""
MAX_MEMBERS = 100
"""Members of an expected object that are told one by one."""


@dataclass(slots=True)
class Observed:
    """Everything that one step brought, to be judged."""

    result: Any = None
    has_result: bool = False
    error: dict[str, Any] | None = None
    """The JSON-RPC error."""
    failure: str = ""
    """Why there is neither: a timeout, a lost connection, an answer that is not valid."""
    why: str = ""
    """More about the failure: the last lines that the server wrote."""
    seconds: float = 0.0
    """From sent to answer, without the time of a person."""
    output_schema: Any = None
    """Of the tool, where it has one."""
    findings: list[str] = field(default_factory=list)
    """Findings of level MUST in the exchange."""
    progress: list[Any] = field(default_factory=list)
    """The parameters of progress notifications."""
    log: list[Any] = field(default_factory=list)
    """The parameters of log messages."""
    notifications: list[Any] = field(default_factory=list)
    """All notifications: method and params."""
    asked: list[Any] = field(default_factory=list)
    """What the server asked: method and params."""


def judge(
    expect: Expect,
    observed: Observed,
    variables: Variables,
    flow: Flow,
    place: Sequence[str | int],
    *,
    update: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> list[ExpectationResult]:
    """Judge one answer. `place` is that of the step in its flow; `update` writes the files of `same_as`.

    `stopped` is asked for each value: judging a large result can run in a thread and be given up there. Raises
    `JudgingStopped` then.
    """
    return list(_Judge(expect, observed, variables, flow, tuple(place), update, stopped).results())


def seconds_of(duration: str) -> float:
    """The seconds of a duration as it is written in a flow, such as `800 ms`."""
    number = duration.rstrip("mshin ")
    return float(number) * _UNITS[duration[len(number) :].strip()]


class _Judge:
    def __init__(
        self,
        expect: Expect,
        observed: Observed,
        variables: Variables,
        flow: Flow,
        place: Place,
        update: bool,
        stopped: Callable[[], bool],
    ) -> None:
        self.expect = expect
        self.observed = observed
        self.variables = variables
        self.flow = flow
        self.place = place
        self.update = update
        self._matching = Matching(variables, flow, stopped)
        self.step_at = flow.located.position(place)

    def results(self) -> Iterator[ExpectationResult]:
        expect, observed = self.expect, self.observed
        if observed.failure:
            yield self._judged("an answer", False, "an answer", observed.failure, note=observed.why)
            return
        wants_error = given(expect, "error") and expect.error is not False
        wants_tool_error = given(expect, "tool_error") and expect.tool_error is not False
        if observed.error is not None and not wants_error:
            yield self._judged("no error", False, "no error", _shown_error(observed.error))
            yield from self._around()
            return
        if wants_error:
            yield from self._error()
        else:
            yield from self._default(wants_tool_error)
        if wants_tool_error:
            yield from self._tool_error()
        failed = isinstance(observed.result, dict) and observed.result.get("isError") is True
        if observed.has_result and (wants_tool_error or not failed):
            yield from self._result()
        elif observed.has_result:
            pass  # What the result of a tool that failed lacks says nothing more.
        elif expect.result:
            yield self._judged("a result", False, "a result", "an error", at=self._at("result"))
        yield from self._around()

    def _default(self, wants_tool_error: bool) -> Iterator[ExpectationResult]:
        observed = self.observed
        passed = ["no error"]
        result = observed.result if isinstance(observed.result, dict) else {}
        failed = result.get("isError") is True
        if failed and not wants_tool_error:
            text = _texts(result)
            yield self._judged("no tool error", False, "no isError", f"isError: {clip(text)}" if text else "isError")
        elif observed.output_schema is not None and not failed:
            problems = _schema_problems(observed.output_schema, result)
            if problems:
                yield self._judged(
                    "the result fits the tool's outputSchema",
                    False,
                    "a structuredContent that fits the outputSchema",
                    problems[0],
                    note="; ".join(problems[1:MAX_SHOWN]),
                )
            else:
                passed.append("the result fits its schema")
        findings = observed.findings
        if observed.output_schema is not None and len(passed) == 1:
            findings = [finding for finding in findings if not finding.startswith(_SCHEMA_RULE)]  # That is said above.
        if findings and not given(self.expect, "findings"):
            yield self._judged(
                "no finding of level MUST",
                False,
                "no finding of level MUST",
                clip(findings[0]),
                note="; ".join(map(clip, findings[1:MAX_SHOWN])),
            )
        if not failed or wants_tool_error:
            yield ExpectationResult(", ".join(passed), True, at=self.step_at)

    def _error(self) -> Iterator[ExpectationResult]:
        expected, observed, at = self.expect.error, self.observed, self._at("error")
        text = "an error"
        if not isinstance(expected, (bool, ExpectedError)):
            text = f"error {self.variables.insert(expected)}"
        elif isinstance(expected, ExpectedError) and given(expected, "code"):
            text = f"error {self.variables.insert(expected.code)}"
        if observed.error is None:
            yield self._judged(text, False, text, f"a result: {excerpt(observed.result)}", at=at)
            return
        error = observed.error
        code = self.variables.insert(expected.code if isinstance(expected, ExpectedError) else expected)
        checks_code = not isinstance(expected, (bool, ExpectedError)) or (
            isinstance(expected, ExpectedError) and given(expected, "code")
        )
        ok = not checks_code or same(code, error.get("code"))
        yield self._judged(text, ok, text, _shown_error(error), at=at)
        if isinstance(expected, ExpectedError):
            for name in ("message", "data"):
                if given(expected, name):
                    yield from self._value(getattr(expected, name), error.get(name), ROOT / "error" / name, at)

    def _tool_error(self) -> Iterator[ExpectationResult]:
        at = self._at("tool_error")
        result = self.observed.result if isinstance(self.observed.result, dict) else {}
        ok = result.get("isError") is True
        actual = excerpt(self.observed.result) if self.observed.has_result else "an error"
        yield self._judged("tool error", ok, "isError", actual, at=at)
        expected = self.expect.tool_error
        if ok and isinstance(expected, ExpectedToolError) and given(expected, "text"):
            yield from self._value(expected.text, _texts(result), ROOT / "content", at)

    def _result(self) -> Iterator[ExpectationResult]:
        expect = self.expect
        for path, expected in expect.result.items():
            yield from self._at_path(path, expected)
        if given(expect, "schema_"):
            from inspector.calls.collection import schema_at

            violations = schema_at(self.flow, expect.schema_).errors(self.observed.result, limit=MAX_SHOWN)
            problems = [f"{violation.path or '/'}: {violation.message}" for violation in violations]
            first, *more = map(clip, problems or [""])
            expected, at = "a value that matches the schema", self._at("schema")
            yield self._judged(
                "the result matches the schema", not problems, expected, first, note="; ".join(more), at=at
            )
        if expect.same_as:
            at = self._at("same_as")
            yield same_as(expect, self.observed.result, self.variables, self.flow, at, update=self.update)

    def _at_path(self, path: str, expected: Any) -> Iterator[ExpectationResult]:
        at = self.flow.located.position((*self.place, "expect", "result", path), key=True)
        path = self.variables.insert_text(path)
        matches = places(self.observed.result, path)
        try:
            first = next(matches, None)
        except UsageError as error:  # With the value of a variable in it.
            yield self._judged(f"{path} {self._matching.describe(expected)}", False, "a path", error.message, at=at)
            return
        is_absent = wants_nothing(expected)
        if first is None:
            note = "" if is_absent else _near_member(self.observed.result, path)
            text, phrase = f"{path} {self._matching.describe(expected)}", self._matching.phrase(expected)
            yield self._judged(text, is_absent, phrase, "nothing at this path", note=note, at=at, path=path)
            return
        second = next(matches, None)
        if second is None:
            yield from self._value(expected, first[1], first[0], at)
            return
        count = 0
        failures: list[Failure] = []
        for place, value in (item for some in ((first, second), matches) for item in some):
            count += 1
            if len(failures) < MAX_SHOWN:
                failures += self._matching.failures(expected, value, place)
        text = f"{path} {self._matching.describe(expected)}"
        if not failures:
            yield ExpectationResult(f"{text} ({quantity(count, 'value')})", True, path=path, at=at)
        for failure in failures[:MAX_SHOWN]:
            yield _of_failure(failure, text, at)

    def _value(self, expected: Any, actual: Any, place: ValuePath, at: tuple[int, int]) -> Iterator[ExpectationResult]:
        """Judge one value; the members of an expected object are told one by one."""
        if isinstance(expected, dict) and isinstance(actual, dict) and 0 < len(expected) <= MAX_MEMBERS:
            for name, inner in expected.items():
                if name in actual:
                    yield from self._value(inner, actual[name], place / name, at)
                elif wants_nothing(inner):
                    there = place / name
                    yield ExpectationResult(f"{there} {self._matching.describe(inner)}", True, path=str(there), at=at)
                else:
                    yield _of_failure(self._matching.missing(inner, actual, place, name), f"{place / name} exists", at)
            return
        text = f"{place} {self._matching.describe(expected)}"
        failures = self._matching.failures(expected, actual, place)
        if not failures:
            yield ExpectationResult(text, True, path=str(place), at=at)
        for failure in failures[:MAX_SHOWN]:
            yield _of_failure(failure, text, at)

    def _around(self) -> Iterator[ExpectationResult]:
        expect, observed = self.expect, self.observed
        if expect.within:
            limit = seconds_of(expect.within)
            actual = f"{observed.seconds * 1000:,.0f} ms"
            text, expected = f"within {expect.within}", f"at most {expect.within}"
            yield self._judged(text, observed.seconds <= limit, expected, actual, at=self._at("within"))
        for name, noun in (
            ("progress", "progress notification"),
            ("log", "log message"),
            ("notifications", "notification"),
            ("asked", "question"),
        ):
            if given(expect, name):
                yield from self._came(name, noun, getattr(expect, name), getattr(observed, name))

    def _came(self, name: str, noun: str, expected: Any, came: list[Any]) -> Iterator[ExpectationResult]:
        at = self._at(name)
        count = len(came)

        def judged(text: str, ok: bool, note: str = "") -> ExpectationResult:
            return self._judged(text, ok, text, quantity(count, noun), note=note, at=at)

        if isinstance(expected, bool):
            yield judged(f"at least 1 {noun}" if expected else f"no {noun}", bool(count) is expected)
        elif isinstance(expected, int):
            yield judged(quantity(expected, noun), count == expected)
        elif isinstance(expected, str):
            text = str(self.variables.insert(expected))
            ok = any(text in json.dumps(item, ensure_ascii=False) for item in came)
            yield judged(f"a {noun} with {excerpt(text)}", ok)
        elif isinstance(expected, Counted):
            if given(expected, "min"):
                least = self._matching.number(expected.min)
                yield judged(f"at least {quantity(least, noun)}", count >= least)
            if given(expected, "max"):
                limit = self._matching.number(expected.max)
                yield judged(f"at most {quantity(limit, noun)}", count <= limit)
            if given(expected, "any"):
                ok = any(self._matching.holds(expected.any, item) for item in came)
                yield judged(f"a {noun}: {self._matching.phrase(expected.any)}", ok)
            if given(expected, "each"):
                bad = [item for item in came if not self._matching.holds(expected.each, item)]
                yield judged(
                    f"each {noun}: {self._matching.phrase(expected.each)}",
                    not bad,
                    f"Found: {excerpt(bad[0])}" if bad else "",
                )

    def _judged(
        self,
        text: str,
        ok: bool,
        expected: str,
        actual: str,
        *,
        note: str = "",
        at: tuple[int, int] | None = None,
        path: str = "",
    ) -> ExpectationResult:
        """The result, with what was expected and found if it failed."""
        expected, actual = ("", "") if ok else (expected, actual)
        return ExpectationResult(text, ok, path, expected, actual, note, at or self.step_at)

    def _at(self, key: str) -> tuple[int, int]:
        return self.flow.located.position((*self.place, "expect", key), key=True)


def _of_failure(failure: Failure, text: str, at: tuple[int, int]) -> ExpectationResult:
    return ExpectationResult(text, False, str(failure.path), failure.expected, failure.actual, failure.note, at)


def _texts(result: dict[str, Any]) -> str:
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _shown_error(error: dict[str, Any]) -> str:
    return clip(f"error {error.get('code')}: {error.get('message')}")


def _schema_problems(schema: Any, result: dict[str, Any]) -> list[str]:
    from inspector.errors import SchemaError
    from inspector.protocol.validation import Validator

    try:
        problems = schema_errors(_validator(json.dumps(schema, sort_keys=True)), result, MAX_SHOWN)
    except (SchemaError, ValueError, RecursionError):
        try:
            problems = schema_errors(Validator(schema), result, MAX_SHOWN)
        except SchemaError:
            return []  # The judge has a finding on the schema itself.
    return [clip(f"{problem.path or '/'}: {problem.message}") for problem in problems]


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    from inspector.protocol.validation import Validator

    return Validator(json.loads(schema))


def _near_member(value: Any, path: str) -> str:
    """Name the member of an object that a path probably means."""
    from inspector.compare.json_places import parse_glob

    for step in parse_glob(path):
        if step.any_depth or step.key is None:
            return ""
        if isinstance(value, dict):
            if step.key not in value:
                near = nearest(str(step.key), list(value)[:1000])
                return f"The object has “{near}”." if near else ""
            value = value[step.key]
        elif isinstance(value, list) and isinstance(step.key, int):
            if step.key >= len(value):
                return f"The list has {quantity(len(value), 'item')}."
            value = value[step.key]
        else:
            return ""
    return ""


def same_as(
    expect: Expect, result: Any, variables: Variables, flow: Flow, at: tuple[int, int], *, update: bool
) -> ExpectationResult:
    """Compare a result with the file that `expect` names. `update` writes the file if they differ."""
    from inspector.protocol import jsonrpc

    text = f"same as {expect.same_as}"

    def failed(expected: str, actual: str, note: str = "") -> ExpectationResult:
        return ExpectationResult(text, False, expected=expected, found=actual, note=note, at=at)

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
    actual: Any,
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
    compared = compare(expected, actual, rules, limit=MAX_SHOWN)
    if compared.same:
        return ExpectationResult(text, True, at=at)
    if update:
        return _written(path, actual, text, at)
    first = compared.differences[0]
    return ExpectationResult(
        text,
        False,
        path=str(first.path),
        expected="nothing" if first.kind == "added" else excerpt(first.a),
        found="nothing" if first.kind == "removed" else excerpt(first.b),
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

"""Whether what came back is what a step expects. Equality and paths are those of `compare`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.calls.models import MATCHERS, Counted, Expect, ExpectedError, ExpectedToolError, Matcher, given
from inspector.calls.regex import BadPattern, Pattern
from inspector.calls.snapshots import read_snapshot, snapshot_path, write_snapshot
from inspector.compare.json_places import ROOT, places
from inspector.compare.json_places import ValuePath as Place
from inspector.compare.lossless_json import type_of
from inspector.compare.rules import DEFAULT, EXACT
from inspector.compare.values import compare
from inspector.config.foreign_files import nearest
from inspector.errors import ConfigError, UsageError
from inspector.flows.results import ExpectationResult
from inspector.protocol.result_shape import schema_errors
from inspector.text import quantity

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.calls.variables import Variables

SHOWN = 300
"""Characters of a value that are shown."""
MAX_SHOWN = 20
"""Differences, violations and failures that are listed."""
MAX_MEMBERS = 100
"""Members of an expected object that are told one by one."""
MAX_ALIGNED = 10_000
"""Items of lists above which their differences are not listed."""
MAX_SEARCHED = 16 << 20
"""Characters of a text above which no regular expression is searched in it."""

_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_CONTENT_TYPES = ("text", "image", "audio", "resource", "resource_link")
_SCHEMA_RULE = "TOOL-09 "
"""The rule that structured content matches the output schema."""
_ARTICLES = {
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
    "text": "a text block",
    "image": "an image block",
    "audio": "an audio block",
    "resource": "a resource block",
    "resource_link": "a resource link",
}
_ESCAPED = re.compile(r"[\\.+*?()|\[\]{}^$#&\-~]")


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


def _wants_nothing(expected: Any) -> bool:
    return isinstance(expected, Matcher) and given(expected, "exists") and not expected.exists


class JudgingStopped(Exception):
    """The result is not wanted any more."""


def seconds_of(duration: str) -> float:
    """The seconds of a duration as it is written in a flow, such as `800 ms`."""
    number = duration.rstrip("mshin ")
    return float(number) * _UNITS[duration[len(number) :].strip()]


class _Failure(NamedTuple):
    """One place where an expectation does not hold."""

    path: Place
    expected: str
    found: str
    note: str = ""


class _Judge:
    def __init__(
        self,
        expect: Expect,
        observed: Observed,
        variables: Variables,
        flow: Flow,
        place: tuple[str | int, ...],
        update: bool,
        stopped: Callable[[], bool],
    ) -> None:
        self.expect = expect
        self.observed = observed
        self.variables = variables
        self.flow = flow
        self.place = place
        self.update = update
        self.stopped = stopped
        self._checks: dict[int, list[Callable[[Matcher, Any, Place], Iterator[_Failure]]]] = {}
        self.step_at = flow.line_of(*place)

    def results(self) -> Iterator[ExpectationResult]:
        expect, observed = self.expect, self.observed
        if observed.failure:
            yield self._failed("an answer", "an answer", observed.failure, note=observed.why)
            return
        wants_error = given(expect, "error") and expect.error is not False
        wants_tool_error = given(expect, "tool_error") and expect.tool_error is not False
        if observed.error is not None and not wants_error:
            yield self._failed("no error", "no error", _shown_error(observed.error))
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
            yield self._failed("a result", "a result", "an error", at=self._at("result"))
        yield from self._around()

    # The default checks

    def _default(self, wants_tool_error: bool) -> Iterator[ExpectationResult]:
        observed = self.observed
        passed = ["no error"]
        result = observed.result if isinstance(observed.result, dict) else {}
        failed = result.get("isError") is True
        if failed and not wants_tool_error:
            text = _texts(result)
            yield self._failed("no tool error", "no isError", f"isError: {_clip(text)}" if text else "isError")
        elif observed.output_schema is not None and not failed:
            problems = _schema_problems(observed.output_schema, result)
            if problems:
                yield self._failed(
                    "the result fits the tool's outputSchema",
                    "a structuredContent that fits the outputSchema",
                    problems[0],
                    note="; ".join(problems[1:MAX_SHOWN]),
                )
            else:
                passed.append("the result fits its schema")
        findings = observed.findings
        if observed.output_schema is not None and len(passed) == 1:
            findings = [each for each in findings if not each.startswith(_SCHEMA_RULE)]  # That is said above.
        if findings and not given(self.expect, "findings"):
            yield self._failed(
                "no finding of level MUST",
                "no finding of level MUST",
                _clip(findings[0]),
                note="; ".join(map(_clip, findings[1:MAX_SHOWN])),
            )
        if not failed or wants_tool_error:
            yield ExpectationResult(", ".join(passed), True, at=self.step_at)

    # Errors that are wanted

    def _error(self) -> Iterator[ExpectationResult]:
        expected, observed, at = self.expect.error, self.observed, self._at("error")
        wanted = "an error"
        if not isinstance(expected, (bool, ExpectedError)):
            wanted = f"error {self.variables.insert(expected)}"
        elif isinstance(expected, ExpectedError) and given(expected, "code"):
            wanted = f"error {self.variables.insert(expected.code)}"
        if observed.error is None:
            yield self._failed(wanted, wanted, f"a result: {shown(observed.result)}", at=at)
            return
        found = observed.error
        code = self.variables.insert(expected.code if isinstance(expected, ExpectedError) else expected)
        checks_code = not isinstance(expected, (bool, ExpectedError)) or (
            isinstance(expected, ExpectedError) and given(expected, "code")
        )
        ok = not checks_code or _same(code, found.get("code"))
        yield ExpectationResult(
            wanted, ok, expected=wanted if not ok else "", found=_shown_error(found) if not ok else "", at=at
        )
        if isinstance(expected, ExpectedError):
            for name in ("message", "data"):
                if given(expected, name):
                    yield from self._value(getattr(expected, name), found.get(name), ROOT / "error" / name, at)

    def _tool_error(self) -> Iterator[ExpectationResult]:
        at = self._at("tool_error")
        result = self.observed.result if isinstance(self.observed.result, dict) else {}
        ok = result.get("isError") is True
        found = "" if ok else shown(self.observed.result) if self.observed.has_result else "an error"
        yield ExpectationResult("tool error", ok, expected="" if ok else "isError", found=found, at=at)
        expected = self.expect.tool_error
        if ok and isinstance(expected, ExpectedToolError) and given(expected, "text"):
            yield from self._value(expected.text, _texts(result), ROOT / "content", at)

    # The result

    def _result(self) -> Iterator[ExpectationResult]:
        expect = self.expect
        for path, expected in expect.result.items():
            yield from self._at_path(path, expected)
        if given(expect, "schema_"):
            from inspector.calls.collection import schema_at

            violations = schema_at(self.flow, expect.schema_).errors(self.observed.result, limit=MAX_SHOWN)
            found = [f"{each.path or '/'}: {each.message}" for each in violations]
            yield ExpectationResult(
                "the result matches the schema",
                not found,
                expected="a value that matches the schema" if found else "",
                found=_clip(found[0]) if found else "",
                note="; ".join(map(_clip, found[1:])),
                at=self._at("schema"),
            )
        if expect.same_as:
            yield self._same_as()

    def _at_path(self, path: str, expected: Any) -> Iterator[ExpectationResult]:
        at = self.flow.located.position((*self.place, "expect", "result", path), key=True)
        path = self.variables.insert_text(path)
        found = places(self.observed.result, path)
        try:
            first = next(found, None)
        except UsageError as error:  # With the value of a variable in it.
            yield self._failed(f"{path} {self._describe(expected)}", "a path", error.message, at=at)
            return
        wants_nothing = _wants_nothing(expected)
        if first is None:
            note = "" if wants_nothing else _near_member(self.observed.result, path)
            text = f"{path} {self._describe(expected)}"
            yield ExpectationResult(
                text,
                wants_nothing,
                path=path,
                expected="" if wants_nothing else self._wanted(expected),
                found="" if wants_nothing else "nothing at this path",
                note=note,
                at=at,
            )
            return
        second = next(found, None)
        if second is None:
            yield from self._value(expected, first[1], first[0], at)
            return
        count = 0
        failures: list[_Failure] = []
        for place, value in (item for some in ((first, second), found) for item in some):
            count += 1
            if len(failures) < MAX_SHOWN:
                failures += self._failures(expected, value, place)
        text = f"{path} {self._describe(expected)}"
        if not failures:
            yield ExpectationResult(f"{text} ({quantity(count, 'value')})", True, path=path, at=at)
        for failure in failures[:MAX_SHOWN]:
            yield self._of_failure(failure, text, at)

    def _value(self, expected: Any, found: Any, place: Place, at: tuple[int, int]) -> Iterator[ExpectationResult]:
        """Judge one value; the members of an expected object are told one by one."""
        if isinstance(expected, dict) and isinstance(found, dict) and 0 < len(expected) <= MAX_MEMBERS:
            for name, inner in expected.items():
                if name in found:
                    yield from self._value(inner, found[name], place / name, at)
                elif _wants_nothing(inner):
                    there = place / name
                    yield ExpectationResult(f"{there} {self._describe(inner)}", True, path=str(there), at=at)
                else:
                    yield self._of_failure(self._missing(inner, found, place, name), f"{place / name} exists", at)
            return
        text = f"{place} {self._describe(expected)}"
        failures = self._failures(expected, found, place)
        if not failures:
            yield ExpectationResult(text, True, path=str(place), at=at)
        for failure in failures[:MAX_SHOWN]:
            yield self._of_failure(failure, text, at)

    def _of_failure(self, failure: _Failure, text: str, at: tuple[int, int]) -> ExpectationResult:
        return ExpectationResult(
            text,
            False,
            path=str(failure.path),
            expected=failure.expected,
            found=failure.found,
            note=failure.note,
            at=at,
        )

    def _missing(self, expected: Any, found: dict[str, Any], place: Place, name: str) -> _Failure:
        near = nearest(name, list(found)[:1000])
        note = f"The object has “{near}”." if near else ""
        if not near and (matcher := nearest(name, list(MATCHERS))):
            note = f"“{name}” is compared as a member. Did you mean “{matcher}”?"
        return _Failure(place / name, self._wanted(expected), "nothing: the member is missing", note)

    # One value against one expectation

    def _failures(self, expected: Any, found: Any, place: Place) -> list[_Failure]:
        if self.stopped():
            raise JudgingStopped
        if isinstance(expected, Matcher):
            return [each for each in self._matcher(expected, found, place)]
        if isinstance(expected, dict):
            if not isinstance(found, dict):
                return [_Failure(place, self._wanted(expected), shown(found))]
            failures = []
            for name, inner in expected.items():
                if name in found:
                    failures += self._failures(inner, found[name], place / name)
                elif not _wants_nothing(inner):
                    failures.append(self._missing(inner, found, place, name))
            return failures
        inserted = self.variables.insert(expected)
        if isinstance(inserted, dict) and isinstance(expected, str):
            return _members(inserted, found, place)
        return _unequal(inserted, found, place)

    def _holds(self, expected: Any, found: Any) -> bool:
        return not self._failures(expected, found, ROOT)

    def _matcher(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        if given(matcher, "exists") and not matcher.exists:
            yield _Failure(place, "nothing", shown(found))
            return
        for check in self._checks_of(matcher):
            yield from check(matcher, found, place)

    def _checks_of(self, matcher: Matcher) -> list[Callable[[Matcher, Any, Place], Iterator[_Failure]]]:
        """The checks of the keys that a matcher has: found once, because one may be applied to a million rows."""
        checks = self._checks.get(id(matcher))
        if checks is None:
            names = [name for name in type(matcher).model_fields if name in matcher.model_fields_set]
            checks = [getattr(self, f"_{name.rstrip('_')}") for name in names if name != "exists"]
            self._checks[id(matcher)] = checks
        return checks

    def _matches(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        expected = f"a text that matches {matcher.matches}"
        if not isinstance(found, str):
            yield _Failure(place, expected, shown(found))
            return
        if len(found) > MAX_SEARCHED:
            yield _Failure(place, expected, f"a text of {len(found):,} characters", "It is too long to be searched.")
            return
        try:
            pattern = _pattern(self.variables.insert(matcher.matches, lambda value: _escaped(_text_of(value))))
        except BadPattern as problem:
            yield _Failure(place, expected, shown(found), f"This is not a regular expression: {problem}")
            return
        if not pattern.search(found):
            # As it is written, not as it is searched: a secret with escapes in it would not be masked.
            written = self.variables.insert(matcher.matches, _text_of)
            yield _Failure(place, f"a text that matches {written}", shown(found))

    def _contains(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        expected = matcher.contains
        if isinstance(found, str):
            wanted = self.variables.insert(expected) if isinstance(expected, str) else expected
            if not isinstance(wanted, str) or wanted not in found:
                is_text = isinstance(wanted, (str, dict, list, Matcher))
                note = "" if is_text else f"A text contains only texts: quote {shown(wanted)}."
                yield _Failure(place, f"a text that contains {self._wanted(expected)}", shown(found), note)
        elif not isinstance(found, list) or not any(self._holds(expected, item) for item in found):
            yield _Failure(place, f"contains {self._wanted(expected)}", shown(found))

    def _type(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        wanted = matcher.type if isinstance(matcher.type, list) else [matcher.type]
        if not any(_is_type(found, name) for name in wanted):
            yield _Failure(place, " or ".join(_ARTICLES[name] for name in wanted), shown(found))

    def _one_of(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        values = self.variables.insert(matcher.one_of)
        if not any(_same(value, found) for value in values):
            yield _Failure(place, f"one of {', '.join(map(shown, values))}", shown(found))

    def _not(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        if self._holds(matcher.not_, found):
            yield _Failure(place, f"not {self._wanted(matcher.not_)}", shown(found))

    def _min(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        limit = self._number(matcher.min)
        if not _is_number(found) or not found >= limit:
            yield _Failure(place, f"at least {shown(limit)}", shown(found))

    def _max(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        limit = self._number(matcher.max)
        if not _is_number(found) or not found <= limit:
            yield _Failure(place, f"at most {shown(limit)}", shown(found))

    def _near(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        value, tolerance = map(self._number, matcher.near)
        if not _is_number(found) or not all(map(_is_finite, (found, value, tolerance))):
            near = False
        else:
            near = abs(Fraction(found) - Fraction(value)) <= Fraction(tolerance)
        if not near:
            yield _Failure(place, f"{shown(value)} ± {shown(tolerance)}", shown(found))

    def _items(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        yield from self._length(self._number(matcher.items), "", found, place)

    def _min_items(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        yield from self._length(self._number(matcher.min_items), "least", found, place)

    def _max_items(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        yield from self._length(self._number(matcher.max_items), "most", found, place)

    def _length(self, wanted: Any, bound: str, found: Any, place: Place) -> Iterator[_Failure]:
        expected = f"a list of {f'at {bound} ' if bound else ''}{quantity(wanted, 'item')}"
        if not isinstance(found, list):
            yield _Failure(place, expected, shown(found))
            return
        size = len(found)
        ok = size >= wanted if bound == "least" else size <= wanted if bound else size == wanted
        if not ok:
            yield _Failure(place, expected, quantity(size, "item"), shown(found))

    def _each(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        if not isinstance(found, list):
            yield _Failure(place, "a list", shown(found))
            return
        told = 0
        for at, item in enumerate(found):
            for failure in self._failures(matcher.each, item, place / at):
                yield failure
                told += 1
            if told >= MAX_SHOWN:
                return

    def _any(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        if not isinstance(found, list) or not any(self._holds(matcher.any, item) for item in found):
            yield _Failure(place, f"an item: {self._wanted(matcher.any)}", shown(found))

    def _schema(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        from inspector.calls.collection import schema_at

        for each in schema_at(self.flow, matcher.schema_).errors(found, limit=MAX_SHOWN):
            yield _Failure(place, "a value that matches the schema", _clip(f"{each.path or '/'}: {each.message}"))

    def _exactly(self, matcher: Matcher, found: Any, place: Place) -> Iterator[_Failure]:
        yield from _unequal(self.variables.insert(matcher.exactly), found, place)

    def _number(self, value: Any) -> Any:
        inserted = self.variables.insert(value)
        if not _is_number(inserted):
            try:
                inserted = json.loads(inserted) if isinstance(inserted, str) else 0
            except ValueError:
                inserted = 0
        return inserted if _is_number(inserted) else 0

    # What came inside the exchange

    def _around(self) -> Iterator[ExpectationResult]:
        expect, observed = self.expect, self.observed
        if expect.within:
            limit = seconds_of(expect.within)
            ok = observed.seconds <= limit
            yield ExpectationResult(
                f"within {expect.within}",
                ok,
                expected="" if ok else f"at most {expect.within}",
                found="" if ok else f"{observed.seconds * 1000:,.0f} ms",
                at=self._at("within"),
            )
        for name, noun in (
            ("progress", "progress notification"),
            ("log", "log message"),
            ("notifications", "notification"),
            ("asked", "question"),
        ):
            if given(expect, name):
                yield from self._came(name, noun, getattr(expect, name), getattr(observed, name))

    def _came(self, name: str, noun: str, wanted: Any, came: list[Any]) -> Iterator[ExpectationResult]:
        at = self._at(name)
        count = len(came)

        def told(text: str, ok: bool, note: str = "") -> ExpectationResult:
            found = quantity(count, noun)
            return ExpectationResult(text, ok, expected="" if ok else text, found="" if ok else found, note=note, at=at)

        if isinstance(wanted, bool):
            yield told(f"at least 1 {noun}" if wanted else f"no {noun}", bool(count) is wanted)
        elif isinstance(wanted, int):
            yield told(quantity(wanted, noun), count == wanted)
        elif isinstance(wanted, str):
            text = str(self.variables.insert(wanted))
            ok = any(text in json.dumps(item, ensure_ascii=False) for item in came)
            yield told(f"a {noun} with {shown(text)}", ok)
        elif isinstance(wanted, Counted):
            if given(wanted, "min"):
                least = self._number(wanted.min)
                yield told(f"at least {quantity(least, noun)}", count >= least)
            if given(wanted, "max"):
                limit = self._number(wanted.max)
                yield told(f"at most {quantity(limit, noun)}", count <= limit)
            if given(wanted, "any"):
                ok = any(self._holds(wanted.any, item) for item in came)
                yield told(f"a {noun}: {self._wanted(wanted.any)}", ok)
            if given(wanted, "each"):
                bad = [item for item in came if not self._holds(wanted.each, item)]
                yield told(
                    f"each {noun}: {self._wanted(wanted.each)}", not bad, f"Found: {shown(bad[0])}" if bad else ""
                )

    # Snapshots

    def _same_as(self) -> ExpectationResult:
        from inspector.protocol import jsonrpc

        expect, at = self.expect, self._at("same_as")
        text = f"same as {expect.same_as}"
        try:
            path = snapshot_path(self.flow.path, expect.same_as)
        except UsageError as error:
            return ExpectationResult(text, False, expected="a file of this folder", found=error.message, at=at)
        found = self.variables.secrets.mask_value(_snapshot(self.observed.result))
        exists = path.exists()
        if exists:
            try:
                data = read_snapshot(path)
                expected = _snapshot(jsonrpc.parse(data.removeprefix(b"\xef\xbb\xbf")))
            except (ConfigError, jsonrpc.NotJson) as problem:
                if not self.update:
                    return ExpectationResult(
                        text, False, expected="a JSON file", found=f"a file that cannot be read: {problem}", at=at
                    )
                exists = False
        if not exists:
            if self.update:
                return self._written(path, found, text, at)
            return ExpectationResult(
                text,
                False,
                expected=f"the file {expect.same_as}",
                found="no such file",
                note="Run with --update to write it.",
                at=at,
            )
        ignore, unordered = (map(self.variables.insert_text, paths) for paths in (expect.ignore, expect.unordered))
        try:
            rules = DEFAULT.plus(ignore=list(ignore), unordered=list(unordered))
        except UsageError as error:  # With the value of a variable in it.
            return ExpectationResult(text, False, expected="paths to ignore", found=error.message, at=at)
        compared = compare(expected, found, rules, limit=MAX_SHOWN)
        if compared.same:
            return ExpectationResult(text, True, at=at)
        if self.update:
            return self._written(path, found, text, at)
        first = compared.differences[0]
        note = "\n".join(_told(each) for each in compared.differences)
        if compared.truncated:
            note += "\nand more"
        return ExpectationResult(
            text,
            False,
            path=str(first.path),
            expected="nothing" if first.kind == "added" else shown(first.a),
            found="nothing" if first.kind == "removed" else shown(first.b),
            note=note,
            at=at,
        )

    def _written(self, path: Path, value: Any, text: str, at: tuple[int, int]) -> ExpectationResult:
        try:
            write_snapshot(path, value)
        except UsageError as error:
            return ExpectationResult(text, False, expected=f"the file {path.name}", found=error.message, at=at)
        return ExpectationResult(f"{text} (written)", True, at=at)

    # Words

    def _failed(
        self, text: str, expected: str, found: str, *, note: str = "", at: tuple[int, int] = (0, 0)
    ) -> ExpectationResult:
        return ExpectationResult(
            text, False, expected=expected, found=found, note=note, at=at if at[0] else self.step_at
        )

    def _at(self, key: str) -> tuple[int, int]:
        return self.flow.located.position((*self.place, "expect", key), key=True)

    def _wanted(self, expected: Any) -> str:
        """Return the expectation as a phrase or JSON text."""
        if isinstance(expected, Matcher):
            return self._describe(expected)
        if isinstance(expected, dict):
            inner = ", ".join(f"{name}: {self._wanted(item)}" for name, item in list(expected.items())[:MAX_SHOWN])
            return _clip(f"an object with {inner}") if inner else "an object"
        return shown(self.variables.insert(expected))

    def _describe(self, expected: Any) -> str:
        """Return the expectation as the end of a sentence about a value."""
        if not isinstance(expected, Matcher):
            return f"is {self._wanted(expected)}"
        m, parts = expected, []
        for name in type(m).model_fields:
            if name in m.model_fields_set:
                value = getattr(m, name)
                parts.append(self._phrase(name, value))
        return _clip(", ".join(parts))

    def _phrase(self, name: str, value: Any) -> str:
        insert = self.variables.insert
        match name:
            case "matches":
                return f"matches {insert(value)}"
            case "contains":
                return f"contains {self._wanted(value)}"
            case "type":
                names = value if isinstance(value, list) else [value]
                return "is " + " or ".join(_ARTICLES[each] for each in names)
            case "one_of":
                return f"is one of {', '.join(map(shown, insert(value)))}"
            case "exists":
                return "exists" if value else "does not exist"
            case "not_":
                return f"not: {self._describe(value)}"
            case "min":
                return f"is at least {shown(insert(value))}"
            case "max":
                return f"is at most {shown(insert(value))}"
            case "near":
                return f"is {shown(insert(value[0]))} ± {shown(insert(value[1]))}"
            case "items":
                return f"has {quantity(self._number(value), 'item')}"
            case "min_items":
                return f"has at least {quantity(self._number(value), 'item')}"
            case "max_items":
                return f"has at most {quantity(self._number(value), 'item')}"
            case "each":
                return f"each item {self._describe(value)}"
            case "any":
                return f"an item {self._describe(value)}"
            case "schema_":
                return "matches the schema"
            case _:
                return f"is exactly {shown(insert(value))}"


# Values


def shown(value: Any) -> str:
    """JSON text of a value, at most `SHOWN` characters of it, whatever its size."""
    if isinstance(value, str) and len(value) > SHOWN:
        return f'{json.dumps(value[:SHOWN], ensure_ascii=False)[:-1]}…" ({len(value):,} characters)'
    pieces, size = [], 0
    try:
        for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
            pieces.append(piece[: SHOWN + 2])
            size += len(piece)
            if size > SHOWN:
                break
        else:
            return "".join(pieces)
    except (RecursionError, ValueError, TypeError):
        return "a value that is nested too deeply"
    text = "".join(pieces)[:SHOWN]
    return f"{text}… ({quantity(len(value), 'item')})" if isinstance(value, list) else f"{text}…"


def _clip(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _same(expected: Any, found: Any) -> bool:
    """Whether two values are equal by the rules of `diff`: types count, integers are exact."""
    if type(expected) is type(found) and isinstance(found, (str, int, bool, type(None))) and expected == found:
        return True
    if isinstance(expected, list) and isinstance(found, list) and len(expected) != len(found):
        return False
    return compare(expected, found, EXACT, limit=1).same


def _unequal(expected: Any, found: Any, place: Place) -> list[_Failure]:
    if _same(expected, found):
        return []
    if isinstance(expected, list) and isinstance(found, list) and max(len(expected), len(found)) > MAX_ALIGNED:
        counts = f"Expected {quantity(len(expected), 'item')}, found {quantity(len(found), 'item')}."
        return [_Failure(place, shown(expected), shown(found), counts)]
    if isinstance(expected, (dict, list)) and type(expected) is type(found):
        compared = compare(expected, found, EXACT, limit=MAX_SHOWN)
        return [_Failure(place, shown(expected), shown(found), "\n".join(map(_told, compared.differences)))]
    note = ""
    if _is_number(expected) and _is_number(found) and expected == found:
        note = f"{type_of(expected)} and {type_of(found)} are different types."
    elif isinstance(expected, str) is not isinstance(found, str) and str(expected) == str(found):
        note = "One is a string, the other is not."
    return [_Failure(place, shown(expected), shown(found), note)]


def _members(expected: dict[str, Any], found: Any, place: Place) -> list[_Failure]:
    """The members of an object that a variable holds."""
    if not isinstance(found, dict):
        return [_Failure(place, shown(expected), shown(found))]
    failures: list[_Failure] = []
    for name, value in expected.items():
        if name not in found:
            failures.append(_Failure(place / name, shown(value), "nothing: the member is missing"))
        elif isinstance(value, dict):
            failures += _members(value, found[name], place / name)
        else:
            failures += _unequal(value, found[name], place / name)
    return failures


def _snapshot(result: Any) -> Any:
    """A result without the members that tell of the revision and the server, not of what was asked for."""
    if not isinstance(result, dict):
        return result
    return {name: value for name, value in result.items() if name not in ("_meta", "resultType")}


def _told(difference: Any) -> str:
    path = difference.path
    match difference.kind:
        case "added":
            return f"{path}: only found, {shown(difference.b)}"
        case "removed":
            return f"{path}: missing, expected {shown(difference.a)}"
        case "moved":
            return f"{path}: stands at {difference.path_b}"
        case _:
            return f"{path}: expected {shown(difference.a)}, found {shown(difference.b)}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_finite(value: int | float) -> bool:
    """Whether a number is finite; an integer of any size is."""
    return isinstance(value, int) or isfinite(value)


def _is_type(value: Any, name: str) -> bool:
    if name in _CONTENT_TYPES:
        return isinstance(value, dict) and value.get("type") == name
    found = type_of(value)
    return found == name or (name == "number" and found == "integer")


@lru_cache(maxsize=256)
def _pattern(text: str) -> Pattern:
    return Pattern(text)


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"\\{found[0]}", text)


def _texts(result: dict[str, Any]) -> str:
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _shown_error(error: dict[str, Any]) -> str:
    return _clip(f"error {error.get('code')}: {error.get('message')}")


def _schema_problems(schema: Any, result: dict[str, Any]) -> list[str]:
    from inspector.errors import SchemaError
    from inspector.protocol.validation import Validator

    try:
        found = schema_errors(_validator(json.dumps(schema, sort_keys=True)), result, MAX_SHOWN)
    except (SchemaError, ValueError, RecursionError):
        try:
            found = schema_errors(Validator(schema), result, MAX_SHOWN)
        except SchemaError:
            return []  # The judge has a finding on the schema itself.
    return [_clip(f"{each.path or '/'}: {each.message}") for each in found]


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

"""Collections: the flows and environments below a folder, read and checked before anything is sent."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Any

from pydantic import BaseModel, ValidationError

from inspector.calls import models
from inspector.calls.environments import NAME_HINT, Environment, read_environment
from inspector.calls.models import FlowModel, StepModel
from inspector.calls.regex import BadPattern, Pattern
from inspector.calls.templates import BadTemplate, has_placeholder, insert, placeholders
from inspector.calls.yaml_text import (
    MAX_SIZE,
    CallsError,
    LocatedValue,
    Place,
    Position,
    display_path,
    first_key,
    read_bytes,
    read_yaml,
    texts,
)
from inspector.compare.json_places import parse_glob
from inspector.config.foreign_files import nearest
from inspector.errors import ConfigError, SchemaError, UsageError
from inspector.text import safe

FOLDER = "calls"
"""The collection that is meant where none is named."""
ENVIRONMENTS = "env"
_ENDINGS = (".yaml", ".yml")
_SHOWN = 80
MAX_NESTED_USES = 20
"""Flows that use one another, one inside the other."""
MAX_STEPS = 10_000
"""Steps of a flow with those of the flows that it uses, as often as it uses them."""


class Flow:
    """One flow, and where each part of it stands."""

    def __init__(self, located: LocatedValue, model: FlowModel) -> None:
        self.path = located.path
        self.model = model
        self.located = located
        self.used: dict[int, Flow] = {}
        """By number of a step with `use`, the flow that it runs."""
        self.inserted: list[list[tuple[Place, tuple[str, ...]]]] = []
        """For each step, the places of its texts that insert variables, with their names."""

    def __repr__(self) -> str:
        return f"<Flow {self.display_path} {self.name!r}>"

    @property
    def name(self) -> str:
        """The `name`, else the name of the file."""
        return self.model.name or self.path.stem

    @property
    def display_path(self) -> str:
        """The path relative to the working directory."""
        return display_path(self.path)

    @property
    def steps(self) -> list[StepModel]:
        """The steps; the first one has number 1."""
        return self.model.steps

    def raw_step(self, number: int) -> dict[str, Any]:
        """Step `number` as plain data."""
        step: dict[str, Any] = self.located.value["steps"][number - 1]
        return step

    def line_of_step(self, number: int) -> int:
        """The line in which step `number` begins."""
        return self.located.position(("steps", number - 1)).line

    def error(self, place: Place, problem: str, *, hint: str = "", key: bool = False) -> CallsError:
        """An error about a place in the file."""
        return self.located.error(place, problem, hint=hint, key=key)

    def matches(self, glob: str) -> bool:
        """Whether the flow's path, file name or name fits a glob."""
        path = self.display_path.replace(os.sep, "/")
        return any(fnmatchcase(text, glob) for text in (path, self.path.name, self.path.stem, self.name))


class Collection:
    """The flows and environments that were read. `Collection.read` makes one."""

    def __init__(self) -> None:
        self.flows: list[Flow] = []
        """Sorted by path."""
        self.environments: dict[str, Environment] = {}
        self.ignored: list[tuple[Path, str]] = []
        """YAML files that are not flows, and why."""
        self.errors: list[CallsError] = []
        """Of `read(…, strict=False)`: the errors of the files that are missing in `flows`."""
        self._known: dict[Path, Flow] = {}
        self._linked: dict[Flow, tuple[int, int]] = {}
        """By flow whose `use` steps are known, the result of `_link`."""

    @classmethod
    def read(cls, paths: Iterable[str | os.PathLike[str]] = (), *, strict: bool = True) -> Collection:
        """Read files and folders (default: `calls`). `strict` raises the first `CallsError`; else see `errors`."""
        collection = cls()
        with _without_collector():
            collection._read(paths, strict)
        return collection

    def _read(self, paths: Iterable[str | os.PathLike[str]], strict: bool) -> None:
        for path in [Path(path).expanduser() for path in paths] or [Path(FOLDER)]:
            try:
                self._read_path(path, strict)
            except CallsError as error:
                self._note(error, strict)
        self.flows = sorted(dict.fromkeys(self.flows), key=lambda flow: str(flow.path))
        for flow in list(self.flows):
            try:
                self._link(flow, [])
            except CallsError as error:
                self.flows.remove(flow)
                self._note(error, strict)

    def environment(self, name: str) -> Environment:
        """The environment of this name. Raises `UsageError` with the nearest name."""
        if name in self.environments:
            return self.environments[name]
        near = nearest(name, list(self.environments))
        known = ", ".join(sorted(self.environments)) or "none"
        raise UsageError(
            f"The environment “{safe(name, _SHOWN)}” does not exist.",
            hint=f"Did you mean “{safe(near, _SHOWN)}”?" if near else f"Known environments: {safe(known, 300)}.",
        )

    def _note(self, error: CallsError, strict: bool) -> None:
        if strict:
            raise error
        self.errors.append(error)

    def _read_path(self, path: Path, strict: bool) -> None:
        if not path.exists():
            raise CallsError(path, None, "does not exist", hint="Name a saved call, or a folder with saved calls.")
        if path.is_file():
            self._read_environments(_root_of(path), strict)
            data = read_bytes(path)
            reason = _reason_to_ignore(data)
            if reason:
                raise CallsError(
                    path,
                    Position(1, 1),
                    f"The file is not a saved call: {reason}.",
                    hint="Begin it with “inspector: 1”.",
                )
            self._read_flow(path, data)
            return
        root = path if (path / ENVIRONMENTS).is_dir() else _root_of(path / "x")
        self._read_environments(root, strict)
        for file in _yaml_files(path):
            try:
                data = read_bytes(file)
                reason = _reason_to_ignore(data)
                if reason:
                    self.ignored.append((file, reason))
                else:
                    self._read_flow(file, data)
            except CallsError as error:
                self._note(error, strict)

    def _read_flow(self, path: Path, data: bytes) -> None:
        self.flows.append(self._flow(path, data))

    def _flow(self, path: Path, data: bytes | None = None) -> Flow:
        key = Path(os.path.abspath(path))
        if key not in self._known:
            self._known[key] = read_flow(path, data)
        return self._known[key]

    def _read_environments(self, root: Path, strict: bool) -> None:
        folder = root / ENVIRONMENTS
        if not folder.is_dir():
            return
        for file in sorted(folder.iterdir()):
            if file.suffix not in _ENDINGS or not file.is_file():
                continue
            try:
                self.environments[file.stem] = read_environment(file)
            except CallsError as error:
                self._note(error, strict)

    def _link(self, flow: Flow, around: list[Flow]) -> tuple[int, int]:
        """Find the flows that this one uses, and those that they use.

        Return the number of its steps with theirs, and how deep they are nested. Each flow is searched once.
        """
        if flow in self._linked:
            return self._linked[flow]
        steps, depth = len(flow.steps), 0
        for number, step in enumerate(flow.steps, 1):
            if not isinstance(step, models.UseStep):
                continue
            place = ("steps", number - 1, "use")
            path = flow.path.parent / step.use
            if not path.is_file():
                raise flow.error(
                    place,
                    f"The saved call {safe(step.use, _SHOWN)} does not exist.",
                    hint=_near_file(path, flow.path) or "The path is relative to the folder of this file.",
                )
            key = Path(os.path.abspath(path))
            used = self._flow(path)
            circle = [*around, flow]
            if any(Path(os.path.abspath(linked.path)) == key for linked in circle):
                names = " → ".join(linked.display_path for linked in [*circle, used])
                raise flow.error(
                    place,
                    f"Saved calls use one another in a circle: {safe(names, 400)}",
                    hint="Remove one of these “use”.",
                )
            flow.used[number] = used
            if len(circle) + self._linked.get(used, (0, 0))[1] > MAX_NESTED_USES:
                problem = f"More than {MAX_NESTED_USES} saved calls use one another."
                raise flow.error(place, problem, hint="Remove a “use”.")
            inner_steps, inner_depth = self._link(used, circle)
            steps, depth = steps + inner_steps, max(depth, inner_depth + 1)
            if steps > MAX_STEPS:
                problem = f"With the saved calls that it uses, it has more than {MAX_STEPS:,} steps."
                raise flow.error(place, problem, hint="Remove a “use”.")
        self._linked[flow] = steps, depth
        return steps, depth


@contextmanager
def _without_collector() -> Iterator[None]:
    """Pause the garbage collector: what is read stays, and visiting it again and again takes a third of the time."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def read_flow(path: Path, data: bytes | None = None) -> Flow:
    """Read and check one file. `use` is not followed. Raises `CallsError`."""
    located = read_yaml(path, data)
    _check_shape(located)
    try:
        model = FlowModel.model_validate(located.value)
    except ValidationError as error:
        raise _translated(located, error) from None
    flow = Flow(located, model)
    _names(flow, ("server",), model.server)
    for number, step in enumerate(flow.steps, 1):
        _check_step(flow, number, step)
    return flow


# Finding files


def _yaml_files(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        at = Path(where)
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and not (at == folder and name == ENVIRONMENTS)
        )
        for name in sorted(files):
            if name.endswith(_ENDINGS) and not name.startswith("."):
                yield at / name


def _root_of(file: Path) -> Path:
    """The folder whose environments a file may use: its own, or the nearest above it, within the working directory."""
    folder = file.absolute().parent
    here = Path.cwd()
    for candidate in (folder, *folder.parents):
        if (candidate / ENVIRONMENTS).is_dir():
            return candidate
        if candidate == here or candidate == candidate.parent or here not in candidate.parents:
            break
    return file.parent


def _reason_to_ignore(data: bytes) -> str:
    """Why a YAML file is not a flow; empty where it is one, whatever else is wrong with it."""
    key = first_key(data)
    if key == "inspector":
        return ""
    return "its first key is not “inspector”" if key else "it has no keys"


def _near_file(path: Path, beside: Path) -> str:
    try:
        names = [file.name for file in path.parent.iterdir() if file.suffix in _ENDINGS and file != beside]
    except OSError:
        return ""
    near = nearest(path.name, names)
    return f"Did you mean “{safe(near, _SHOWN)}”?" if near else ""


# Errors of models, at their places


def _check_shape(located: LocatedValue) -> None:
    """Check the parts whose errors the models explain badly."""
    value = located.value
    if not isinstance(value, dict):
        raise located.error((), "A saved call is a map of keys.", hint="Begin it with “inspector: 1”.")
    if next(iter(value), None) != "inspector":
        raise located.error(
            (), "The first key of a saved call is “inspector”.", hint="Begin the file with “inspector: 1”."
        )
    version = value["inspector"]
    if version != 1 or isinstance(version, bool):
        raise located.error(
            ("inspector",),
            f"This version of the format is not known: {_value_text(version)}",
            hint="Write “inspector: 1”.",
        )
    steps = value.get("steps")
    for at, step in enumerate(steps if isinstance(steps, list) else []):
        if not isinstance(step, dict):
            raise located.error(("steps", at), f"A step is a map of keys, and this is {_value_text(step)}")
        verbs = [verb for verb in models.VERBS if verb in step]
        if len(verbs) > 1:
            raise located.error(
                ("steps", at, verbs[1]),
                f"The step has “{verbs[0]}” and “{verbs[1]}”.",
                key=True,
                hint="Make two steps of it.",
            )
        if not verbs:
            unknown = [key for key in step if key not in _STEP_KEYS]
            near = nearest(unknown[0], list(models.VERBS)) if unknown else ""
            hint = f"Did you mean “{near}”?" if near else f"A step has exactly one of: {', '.join(models.VERBS)}."
            if unknown:
                raise located.error(
                    ("steps", at, unknown[0]), f"Unknown key “{safe(unknown[0], _SHOWN)}”.", key=True, hint=hint
                )
            raise located.error(("steps", at), "The step does not say what it does.", hint=hint)


_STEP_KEYS = frozenset(key for model in models.STEPS.values() for key in models.keys_of(model))


def _translated(located: LocatedValue, error: ValidationError) -> CallsError:
    """The first error of the models, in the words and at the place of the file."""
    details = error.errors(include_url=False)
    placed = [(_place_of(located.value, detail["loc"]), detail) for detail in details]
    first = min(placed, key=lambda detail: located.position(detail[0]))[0]
    # Of a union, all branches say why they do not fit: those that went furthest into the value say most.
    here = [detail for place, detail in placed if place[: len(first)] == first or first[: len(place)] == place]
    deepest = max((_place_of(located.value, detail["loc"]) for detail in here), key=len)
    at_place = [detail for detail in here if _place_of(located.value, detail["loc"]) == deepest]
    kinds = {detail["type"] for detail in at_place}
    for detail in at_place:
        if detail["type"] == "extra_forbidden":
            return _unknown_key(located, deepest)
        if detail["type"] == "missing":
            key = detail["loc"][-1]
            return located.error(deepest, f"The key “{key}” is missing.", hint=f"Add “{key}:”.")
    if "value_error" in kinds:
        problem = str(next(detail for detail in at_place if detail["type"] == "value_error")["ctx"]["error"])
        return located.error(deepest, f"{problem}.")
    key = deepest[-1] if deepest else ""
    value = at_place[0]["input"]
    if any("[key]" in map(str, detail["loc"]) for detail in at_place):
        return _bad_key(located, deepest)
    valid = _valid_values(str(key), deepest, at_place)
    named = (
        f"Item {key + 1} of “{safe(str(deepest[-2]), _SHOWN)}”"
        if isinstance(key, int) and deepest[1:]
        else (f"The value of “{safe(str(key), _SHOWN)}”")
    )
    return located.error(deepest, f"{named} is {_value_text(value)}.", hint=f"Write {valid}.")


_NOTHING: Any = object()


def _place_of(value: Any, loc: Sequence[str | int]) -> Place:
    """The place of an error of the models, without tags of unions."""
    place: list[str | int] = []
    for key in loc:
        try:
            inner: Any = value[key] if isinstance(value, dict | list) else _NOTHING  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            continue
        if inner is not _NOTHING:
            value = inner
            place.append(key)
    return tuple(place)


def _unknown_key(located: LocatedValue, place: Place) -> CallsError:
    key = str(place[-1])
    around = place[:-1]
    known: list[str]
    if not around:
        known = models.keys_of(FlowModel)
    elif len(around) == 2 and around[0] == "steps":
        step = located.value["steps"][around[1]]
        verb = next(verb for verb in models.VERBS if verb in step)
        known = models.keys_of(models.STEPS[verb])
        if key in _STEP_KEYS:
            return located.error(
                place,
                f"The key “{key}” does not work with “{verb}”.",
                key=True,
                hint=f"Keys that work: {', '.join(known)}.",
            )
    else:
        model: type[BaseModel] = models.PARTS.get(str(around[-1]), models.Matcher)
        known = models.keys_of(model)
    near = nearest(key, known)
    return located.error(
        place,
        f"Unknown key “{safe(key, _SHOWN)}”.",
        key=True,
        hint=f"Did you mean “{near}”?" if near else f"Known keys: {', '.join(known)}.",
    )


def _bad_key(located: LocatedValue, place: Place) -> CallsError:
    key = str(place[-1])
    if place[-2:-1] == ("result",):
        return located.error(
            place,
            f"“{safe(key, _SHOWN)}” is not a path.",
            key=True,
            hint="Write one like $.structuredContent.id, or a JSON pointer like /structuredContent/id.",
        )
    if "headers" in place:
        return located.error(place, "A header name is not empty.", key=True)
    return located.error(place, f"“{safe(key, _SHOWN)}” is not a variable name.", key=True, hint=NAME_HINT)


def _valid_values(key: str, place: Place, details: Sequence[Any]) -> str:
    """Describe the values that are right at this place."""
    if len(place) > 1 and isinstance(place[-1], str) and place[-2] in ("capture", "result"):
        return "a path such as $.structuredContent.id"
    if len(place) > 1 and isinstance(place[-1], int):
        if place[-2] in ("ignore", "unordered"):
            return "a path such as $..createdAt"
        if place[-2] == "secret":
            return "the name of a captured variable"
    if key in texts()["values"]:
        return str(texts()["values"][key])
    kinds = (texts()["kinds"].get(detail["type"], "") for detail in details)
    return " or ".join(dict.fromkeys(filter(None, kinds))) or "something else"


def _value_text(value: Any) -> str:
    import json

    if isinstance(value, dict):
        return "a map of keys" if value else "an empty map"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if value is None:
        return "empty"
    return safe(json.dumps(value, ensure_ascii=False), _SHOWN)


# What the models cannot know


def _check_step(flow: Flow, number: int, step: StepModel) -> None:
    place = ("steps", number - 1)
    raw = flow.raw_step(number)
    if isinstance(step, models.WaitStep):
        _check_wait(flow, place, step)
    captured = getattr(step, "capture", {})
    for name, path in captured.items():
        _check_glob(flow, (*place, "capture", name), path)
    for at, name in enumerate(getattr(step, "secret", [])):
        if name not in captured:
            near = nearest(name, list(captured))
            raise flow.error(
                (*place, "secret", at),
                f"The step does not capture “{safe(name, _SHOWN)}”.",
                hint=f"Did you mean “{near}”?" if near else "Name a variable of “capture”.",
            )
    expect = getattr(step, "expect", None)
    if expect is not None and models.given(step, "expect"):
        _check_expect(flow, (*place, "expect"), expect)
    _check_headers(flow, place, getattr(step, "headers", {}))
    if models.given(step, "answer"):
        _check_roots(flow, (*place, "answer", "roots"), step.answer.roots)  # type: ignore[union-attr]
    _check_fixed(flow, place, raw)
    inserted = []
    for inside, text in _texts_of(raw):
        names = _names(flow, (*place, *inside), text)
        if names:
            inserted.append((inside, names))
    flow.inserted.append(inserted)


def _names(flow: Flow, place: Place, text: str) -> tuple[str, ...]:
    """The variables that a text inserts."""
    try:
        return tuple(each.name for each in placeholders(text) if not each.name.startswith("$"))
    except BadTemplate as error:
        raise flow.error(place, str(error), hint=error.hint) from None


def _texts_of(step: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    """The texts of a step in which variables are inserted, with their places."""
    for key, value in step.items():
        if key in ("name", "skip", "secret", "wait", "use", "repeat"):
            continue
        if key == "expect":
            for inner, part in value.items() if isinstance(value, dict) else ():
                if inner == "result":
                    yield from (((key, inner, path), path) for path in part if has_placeholder(path))
                if inner not in ("same_as", "schema", "within", "findings"):
                    yield from _texts(part, (key, inner))
        else:
            yield from _texts(value, (key,))


def _texts(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str):
        if has_placeholder(value):
            yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "schema" or "expect" not in place:
                yield from _texts(item, (*place, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _texts(item, (*place, at))


def _check_headers(flow: Flow, place: Place, headers: dict[str, str]) -> None:
    """Check the headers of a step; the value of a variable is checked when it is sent."""
    from inspector.config.text_checks import checked_header, checked_headers

    try:
        for name, value in headers.items():
            place_of = (*place, "headers", name)
            checked_header(name, "" if has_placeholder(value) else value)
        place_of = (*place, "headers")
        checked_headers((name, "") for name in headers)
    except UsageError as error:
        raise flow.error(place_of, f"{error.message}.", hint=str(error.hint), key=place_of[-1] != "headers") from None


def _check_roots(flow: Flow, place: Place, roots: list[str]) -> None:
    from inspector.config.text_checks import root_uri

    for at, root in enumerate(roots):
        try:
            if not has_placeholder(root):
                root_uri(root)
        except UsageError as error:
            raise flow.error((*place, at), f"{error.message}.", hint=str(error.hint)) from None


def _check_fixed(flow: Flow, place: Place, raw: dict[str, Any]) -> None:
    """Variables are not inserted where a step says what it is, or names files: there, braces are a mistake."""
    for inside in (("wait",), ("use",), ("expect", "same_as")):
        value: Any = raw
        for key in inside:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str) and has_placeholder(value):
            raise flow.error(
                (*place, *inside), f"Variables are not inserted in “{inside[-1]}”.", hint="Write the value itself."
            )


def _check_wait(flow: Flow, place: Place, step: models.WaitStep) -> None:
    import re

    if re.fullmatch(models.DURATION, step.wait):
        for key in ("expect", "capture", "secret"):
            if models.given(step, key):
                raise flow.error(
                    (*place, key),
                    f"“{key}” does not work with a pause.",
                    key=True,
                    hint="Wait for a notification, such as notifications/resources/updated.",
                )
    elif any(char.isspace() for char in step.wait) or step.wait[0].isdigit():
        raise flow.error(
            (*place, "wait"),
            f"“{safe(step.wait, _SHOWN)}” is neither a time nor a method.",
            hint="Write a time such as 2 s, or the method of a notification.",
        )


def leaves_folder(path: PurePath) -> bool:
    """Whether a path may lead out of the folder that it is joined to.

    On Windows a path that is not absolute may still begin at the root or on another drive: `/x`, `C:x`.
    """
    return bool(path.anchor) or ".." in path.parts


def _check_expect(flow: Flow, place: Place, expect: models.Expect) -> None:
    for path in expect.result:
        _check_glob(flow, (*place, "result", path), path, key=True)
    for name in ("ignore", "unordered"):
        for at, path in enumerate(getattr(expect, name)):
            _check_glob(flow, (*place, name, at), path)
    if expect.same_as:
        file = Path(expect.same_as)
        if leaves_folder(file):
            raise flow.error(
                (*place, "same_as"),
                f"The file {safe(expect.same_as, _SHOWN)} is not below the folder of the saved call.",
                hint="Write a relative path such as snapshots/result.json.",
            )
    _check_parts(flow, place, flow_value(flow, place))


def flow_value(flow: Flow, place: Place) -> Any:
    """The plain value at a place of a flow."""
    value = flow.located.value
    for key in place:
        value = value[key]
    return value


def _check_parts(flow: Flow, place: Place, raw: dict[str, Any]) -> None:
    """Regular expressions and JSON Schemas, wherever they stand in an expectation."""
    _check_schema(flow, place, raw)
    for key in ("result", "error", "tool_error", "progress", "log", "notifications", "asked"):
        part = raw.get(key)
        if isinstance(part, dict):
            for name, value in part.items():
                _check_matchers(flow, (*place, key, name), value)


def _check_matchers(flow: Flow, place: Place, value: Any) -> None:
    if not isinstance(value, dict):
        return
    if not value or not all(key in models.MATCHERS for key in value):
        for key, item in value.items():
            _check_matchers(flow, (*place, key), item)
        return
    _check_schema(flow, place, value)
    pattern = value.get("matches")
    if isinstance(pattern, str) and not has_placeholder(pattern):
        try:
            Pattern(pattern)
        except BadPattern as error:
            raise flow.error(
                (*place, "matches"), f"This is not a regular expression: {error}", hint=error.hint
            ) from None
    for key in ("not", "contains", "each", "any"):
        if key in value:
            _check_matchers(flow, (*place, key), value[key])


def _check_schema(flow: Flow, place: Place, raw: dict[str, Any]) -> None:
    if "schema" not in raw:
        return
    try:
        schema_at(flow, raw["schema"])
    except SchemaError as error:
        raise flow.error(
            (*place, "schema"), f"{error.message}.".replace("..", "."), hint=str(error.hint) or "Fix the schema."
        ) from None
    except UsageError as error:
        raise flow.error((*place, "schema"), error.message, hint=str(error.hint)) from None


def schema_at(flow: Flow, given: Any) -> Any:
    """The validator of a schema that stands in a flow, or in a file that it names. Raises `UsageError`."""
    from inspector.config.foreign_files import read_text
    from inspector.protocol import jsonrpc
    from inspector.protocol.validation import Validator

    if isinstance(given, str):
        path = flow.path.parent / given
        try:
            text = read_text(path, limit=MAX_SIZE * 16)
        except ConfigError as problem:
            hint = str(problem.hint) or "The path is relative to the folder of this file."
            raise UsageError(f"{problem.message.rstrip('.')}.", hint=hint) from None
        try:
            given = jsonrpc.parse(text.encode("utf-8", "surrogatepass"))
        except jsonrpc.NotJson as problem:
            raise UsageError(f"{safe(display_path(path))} is not JSON: {problem}.") from None
    return Validator(given)


def _check_glob(flow: Flow, place: Place, path: str, *, key: bool = False) -> None:
    try:
        # A variable may hold a name or a number.
        values = ("name", "0") if has_placeholder(path) else ("",)
        tried = [str(insert(path, lambda _, value=value: value, str)) for value in values]  # type: ignore[misc]
        problems = [problem for glob in tried if (problem := _glob_problem(glob))]
    except BadTemplate as error:
        raise flow.error(place, str(error), hint=error.hint, key=key) from None
    if len(problems) == len(tried):
        raise flow.error(
            place,
            f"“{safe(path, _SHOWN)}” is not a path.",
            key=key,
            hint="Write one like $.structuredContent.id, or a JSON pointer like /structuredContent/id.",
        )


def _glob_problem(path: str) -> str:
    try:
        parse_glob(path)
    except UsageError as error:
        return error.message
    return ""

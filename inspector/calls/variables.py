"""Variables of a flow: where their values come from, how they are inserted, and which of them are secrets.

Precedence: row of `each` > captured > `vars` of `use` > `--set` > environments (later ones win) > `vars` of the flow.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from inspector.calls.environments import in_effect
from inspector.calls.templates import Placeholder, insert, inserted_text, placeholders
from inspector.config import logfile, secret_values
from inspector.config.foreign_files import nearest
from inspector.config.secret_forms import SHORTEST, SecretFinder
from inspector.errors import UsageError
from inspector.hints import Hint, Parameter
from inspector.protocol import jsonrpc
from inspector.text import safe

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.calls.environments import Environment
    from inspector.calls.yaml_text import CallsError, Place

_EPOCH = datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)
"""With a seed, the first moment; each use is a second later."""
_MIN_DIGITS = 6
"""Digits of a number that may be a secret."""


class Secrets:
    """The secrets of a run: what is printed, reported and recorded goes through `mask`."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._finder = SecretFinder()
        self._listeners: list[Callable[[str], object]] = []

    def add(self, value: Any) -> None:
        """Learn a secret; of an object or a list, each text and long number in it."""
        if isinstance(value, dict):
            for item in value.values():
                self.add(item)
        elif isinstance(value, list):
            for item in value:
                self.add(item)
        elif isinstance(value, str) or (type(value) is int and len(str(abs(value))) >= _MIN_DIGITS):
            self._add(str(value))

    def _add(self, text: str) -> None:
        if not text or text in self._values:
            return
        self._values.add(text)
        self._finder.add(text)
        logfile.conceal(text)
        for listener in self._listeners:
            listener(text)

    def tell(self, listener: Callable[[str], object], *, new: bool = False) -> Callable[[], None]:
        """Call a listener with each secret, known (unless `new`) and to come; returns the function that ends that."""
        for text in () if new else self._values:
            listener(text)
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @property
    def known(self) -> frozenset[str]:
        """The secrets, as texts."""
        return frozenset(self._values)

    def mask(self, text: str) -> str:
        """The text without the secrets. One of fewer than four characters is masked only where it is the whole text."""
        if text in self._values:
            return secret_values.MASK
        return self._finder.replaced(text, secret_values.MASK, cut=SHORTEST if "…" in text else 0)

    def mask_value(self, value: Any) -> Any:
        """A JSON value without the secrets in its texts, keys and numbers; the same object where there is none."""
        if not self._values:
            return value
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, dict):
            return {self.mask(str(key)): self.mask_value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.mask_value(item) for item in value]
        if type(value) is int and str(value) in self._values:
            return secret_values.MASK
        return value


class Generators:
    """`$uuid`, `$now`, `$timestamp`, `$int`: a new value each time; the same ones in each run with the same seed."""

    def __init__(self, seed: int | None = None, salt: str = "") -> None:
        self._random = random.Random(None if seed is None else f"{seed}:{salt}")
        self._moment = None if seed is None else _EPOCH

    def value(self, placeholder: Placeholder) -> Any:
        """The next value of a generator."""
        if placeholder.name == "$uuid":
            return str(uuid.UUID(int=self._random.getrandbits(128), version=4))
        if placeholder.name == "$int":
            return self._random.randint(*placeholder.arguments)
        moment = self._now()
        if placeholder.name == "$timestamp":
            return int(moment.timestamp())
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _now(self) -> datetime:
        if self._moment is None:
            return datetime.now(UTC)
        moment = self._moment
        self._moment = moment + timedelta(seconds=1)
        return moment


class Variables:
    """The variables of one flow while it runs. `for_flow` makes them; `check` finds unknown names before a run."""

    def __init__(
        self,
        defaults: Mapping[str, Any],
        outside: Mapping[str, Any] | None = None,
        secrets: Secrets | None = None,
        generators: Generators | None = None,
    ) -> None:
        """`outside` are the values of environments and `--set`, resolved, by name."""
        self.secrets = secrets or Secrets()
        self.generators = generators or Generators()
        self.defaults = dict(defaults)
        self.outside = dict(outside or {})
        self.given: dict[str, Any] = {}
        """`vars` of the `use` that runs this flow."""
        self.captured: dict[str, Any] = {}
        self.row: dict[str, Any] = {}

    @classmethod
    def for_flow(
        cls,
        flow: Flow,
        environments: Sequence[Environment] = (),
        given: Mapping[str, Any] | None = None,
        *,
        seed: int | None = None,
        secrets: Secrets | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Variables:
        """The variables of a flow. `given` are those of `--set`: a text takes the type of the variable's default.

        Secrets of environments are read only where the flow uses them. Raises `UsageError`, `CallsError`.
        """
        secrets = secrets or Secrets()
        used = names_used(flow)
        outside, secret = in_effect(environments, given or {})
        for name, environment in secret.items():
            if name in used:
                outside[name] = environment.read(name, environ)
                secrets.add(outside[name])
        variables = cls(flow.model.vars, outside, secrets, Generators(seed, flow.display_path))
        for name, value in outside.items():
            variables.outside[name] = variables._typed(name, value)
        return variables

    def for_used(self, flow: Flow, given: Mapping[str, Any]) -> Variables:
        """The variables of a flow that this one uses. What it captures is known here afterwards."""
        used = Variables(flow.model.vars, None, self.secrets, self.generators)
        used.outside = {name: used._typed(name, value) for name, value in self.outside.items()}
        used.given = dict(given)
        used.captured = self.captured
        return used

    def _typed(self, name: str, value: Any) -> Any:
        """A value from outside with the type of the variable's default."""
        default = self.defaults.get(name)
        if default is None or type(default) is type(value):
            return value
        if isinstance(default, str):
            return inserted_text(value)
        if not isinstance(value, str):
            return value
        try:
            parsed = jsonrpc.parse(value.encode("utf-8", "surrogatepass"))
        except jsonrpc.NotJson:
            parsed = None
        numbers = type(parsed) in (int, float) and type(default) in (int, float)
        if type(parsed) is not type(default) and not numbers:
            text = secret_values.MASK if value in self.secrets.known else safe(value, 80)
            raise UsageError(
                f"The variable “{safe(name, 80)}” cannot be “{text}”: its default is {_type_name(default)}.",
                hint=f"Give {_type_name(default)}, or change the default.",
            )
        return parsed

    def known(self) -> set[str]:
        """The names that have a value."""
        return {*self.row, *self.captured, *self.given, *self.outside, *self.defaults}

    def value(self, name: str) -> Any:
        """The value of a variable. KeyError for one that has none; only a capture that failed leaves one without."""
        for layer in (self.row, self.captured, self.given, self.outside, self.defaults):
            if name in layer:
                return layer[name]
        raise KeyError(name)

    def insert(self, value: Any, as_text: Callable[[Any], str] | None = None) -> Any:
        """A value with variables inserted in each of its texts. Raises KeyError for one without a value."""
        if isinstance(value, str):
            return insert(value, self._placed, as_text)
        if isinstance(value, dict):
            return {key: self.insert(item, as_text) for key, item in value.items()}
        if isinstance(value, list):
            return [self.insert(item, as_text) for item in value]
        return value

    def insert_text(self, text: str) -> str:
        """A text such as a path with variables inserted; it stays a text. Raises KeyError for one without a value."""
        return str(insert(text, self._placed, inserted_text))

    def _placed(self, placeholder: Placeholder) -> Any:
        if placeholder.name.startswith("$"):
            return self.generators.value(placeholder)
        return self.value(placeholder.name)


def names_in(value: Any) -> set[str]:
    """The variables that a value inserts."""
    if isinstance(value, str):
        return {placeholder.name for placeholder in placeholders(value) if not placeholder.name.startswith("$")}
    parts: Iterable[Any] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {name for part in parts for name in names_in(part)}


def names_used(flow: Flow) -> set[str]:
    """The variables that a flow, and each flow that it uses, inserts."""
    used_names = names_in(flow.model.server)
    for texts in flow.inserted:
        for _, names in texts:
            used_names.update(names)
    for used in flow.used.values():
        used_names |= names_used(used)
    return used_names


def check(flow: Flow, outside: Iterable[str], given: Iterable[str] = ()) -> None:
    """Raise `CallsError` for a name that has no value where it is used. `outside`: environments and `--set`."""
    outside = set(outside)
    _check(flow, {*outside, *given}, outside)


def _check(flow: Flow, known: set[str], outside: set[str]) -> set[str]:
    """Check a flow in the order of its steps; returns what it captures."""
    known = {*known, *flow.model.vars}
    captured: set[str] = set()
    if flow.model.server:
        for name in sorted(names_in(flow.model.server) - known):
            raise unknown_variable(flow, ("server",), name, known)
    for number, step in enumerate(flow.steps, 1):
        row: set[str] = set()
        for at, values in enumerate(getattr(step, "each", [])):
            names = set(values)
            row = names if at == 0 else row & names
        for place, inserted in flow.inserted[number - 1]:
            for name in inserted:
                if name not in known and (name not in row or place[0] == "each"):
                    here = known if place[0] == "each" else known | row
                    raise unknown_variable(flow, ("steps", number - 1, *place), name, here)
        if number in flow.used:
            inner = _check(flow.used[number], {*outside, *captured, *getattr(step, "vars", {})}, outside)
            captured |= inner
            known |= inner
        new = set(getattr(step, "capture", {}))
        captured |= new
        known |= new
    return captured


def unknown_variable(flow: Flow, place: Place, name: str, known: Iterable[str]) -> CallsError:
    """The error for a variable that has no value where it is used."""
    later = next((at for at, step in enumerate(flow.steps, 1) if name in getattr(step, "capture", {})), 0)
    near = nearest(name, sorted(known))
    define = Hint("in “vars” or in an environment, or set it for one run with ", Parameter.SET_VARIABLE.to(name), ".")
    if later:
        hint = Hint(f"Step {later} captures it. Put that step first.")
    elif near:
        hint = Hint(f"Did you mean “{safe(near, 80)}”? Else define it ", define)
    else:
        hint = Hint("Define it ", define)
    return flow.error(place, f"Unknown variable “{safe(name, 80)}”.", hint=hint)


def _type_name(value: Any) -> str:
    names = {int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "an object"}
    return names.get(type(value), "a string")

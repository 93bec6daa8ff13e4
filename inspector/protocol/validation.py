"""The only module that creates JSON Schema validators.

Nothing outside a schema is ever fetched or read: the library would follow `http:` and `file:` references by default, so
every validator gets a retriever that refuses (C-BASE-14, C-BASE-15). Schemas and values may be malicious: both are
measured before they are compiled or validated (`schema_limits`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inspector.errors import SchemaError
from inspector.protocol import schema_limits as bounds
from inspector.protocol.exact_json.tokens import escape_step
from inspector.protocol.members import array_at, object_at
from inspector.protocol.schema_violations import Violation, describe, listed, value_text
from inspector.text import safe

__all__ = ["DIALECTS", "ERROR_LIMIT", "Validator", "Violation", "dialect_of"]

ERROR_LIMIT = 50
"""Most violations reported of one value, by default."""

DIALECTS = {
    "json-schema.org/draft-04/schema": "http://json-schema.org/draft-04/schema#",
    "json-schema.org/draft-06/schema": "http://json-schema.org/draft-06/schema#",
    "json-schema.org/draft-07/schema": "http://json-schema.org/draft-07/schema#",
    "json-schema.org/draft/2019-09/schema": "https://json-schema.org/draft/2019-09/schema",
    "json-schema.org/draft/2020-12/schema": "https://json-schema.org/draft/2020-12/schema",
}
"""The supported dialects, by their URI without scheme and `#`."""

DEFAULT_DIALECT = DIALECTS["json-schema.org/draft/2020-12/schema"]
"""The dialect of a schema without `$schema` (C-BASE-13)."""

# Above this many visits (times the size of the visited value) the library's list of errors could take seconds and
# gigabytes: it clones the value for every error of every branch. Larger values are narrowed down first.
_EXPLAIN_LIMIT = 10_000
_NARROW_STEPS = 2_000
_BACKTRACKS = 20_000
_REGEX_SIZE = 10_000_000


def dialect_of(schema: Any) -> str:
    """Return the URI of a schema's dialect. Raises `SchemaError` for an unsupported one."""
    stated = schema.get("$schema") if isinstance(schema, dict) else None
    if stated is None:
        return DEFAULT_DIALECT
    if isinstance(stated, str):
        plain = stated.strip().rstrip("#").rstrip("/")
        for scheme in ("https://", "http://"):
            if plain.startswith(scheme) and plain.removeprefix(scheme) in DIALECTS:
                return DIALECTS[plain.removeprefix(scheme)]
    raise SchemaError(
        f"Unsupported dialect in the schema: {value_text(stated)}",
        hint="Use draft-04, draft-06, draft-07, 2019-09 or 2020-12 of json-schema.org.",
    )


class Validator:
    """A compiled schema. Creating it raises `SchemaError`; validating never raises and takes bounded time."""

    def __init__(
        self,
        schema: Any,
        *,
        pointer: str = "",
        trusted: bool = False,
        references: bounds.ReferenceTargets | None = None,
    ) -> None:
        """Compile `schema`, or the part of it at the JSON pointer.

        `trusted` is for our own schemas, whose cost is known: values are then measured only if they do not match.
        `references` are those of `schema`, which the validators of its parts can share.
        """
        if not isinstance(schema, (dict, bool)):
            raise SchemaError(
                f"The schema is {value_text(schema)}, not an object", hint="A JSON Schema is an object, true or false."
            )
        self._facts = None if trusted else bounds.measure_schema(schema)
        dialect = dialect_of(schema)
        if isinstance(schema, dict) and schema.get("$schema") not in (None, dialect):
            schema = schema | {"$schema": dialect}
        self.schema = schema
        self.dialect = dialect
        self._references = references or bounds.ReferenceTargets(schema)
        self._at = bounds.resolve_pointer(schema, pointer)
        self._pointer = "#" + pointer
        document = (
            {"$schema": dialect, **schema, "$ref": self._pointer} if pointer and isinstance(schema, dict) else schema
        )
        self._compiled = _build("validator_for", document)
        self._parts: Any = None

    def is_valid(self, value: Any) -> bool:
        """Whether `value` matches; False also if the limits did not allow a check."""
        return not self.errors(value, limit=1)

    def errors(self, value: Any, limit: int = ERROR_LIMIT) -> list[Violation]:
        """Return the violations in `value`, at most `limit`; none if it matches.

        A check that would exceed a limit is not made; the result is one violation with the keyword `limit`.
        """
        if self._facts is None and self._matches(self._compiled, value):
            return []
        facts = bounds.measure_value(value)
        if facts.depth > bounds.DEPTH_LIMIT:
            return [_unchecked(f"nested deeper than {bounds.DEPTH_LIMIT} levels")]
        too_much = "" if self._facts is None else self._too_much(value, facts, self._facts)
        if too_much:
            return [_unchecked(too_much)]
        errors = []
        if facts.odd:
            errors = [
                Violation(path, f"{value_text(number)} is not a JSON number", "type")
                for path, number in bounds.odd_numbers(value, limit)
            ]
        if not self._matches(self._compiled, value):
            reported = {violation.path for violation in errors}
            errors += [violation for violation in self._explain(value, limit) if violation.path not in reported]
        return errors[:limit]

    def visits_at(self, pointer: str, value: Any, limit: int) -> int | None:
        """Estimate how often subschemas visit a small `value` in a check by the part at a JSON pointer.

        None if that is above `limit`, or if the value is one that is not checked.
        """
        facts, schema = bounds.measure_value(value), self._facts
        if schema is None or facts.odd or facts.depth > bounds.DEPTH_LIMIT or self._too_much_text(facts, schema):
            return None
        if not schema.risky and facts.nodes * schema.subschemas <= bounds.VISIT_LIMIT:
            return facts.nodes
        part = bounds.resolve_pointer(self.schema, pointer.replace("%", "%25"))
        return bounds.reckon(part, value, references=self._references, limit=limit)

    def matches_at(self, pointer: str, value: Any) -> bool | None:
        """Whether a value matches the part of the schema at a JSON pointer; None without such a part.

        Unlike `errors`, it checks at any cost: see `visits_at`.
        """
        if self._parts is None:
            self._parts = _build("validator_map_for", self.schema)
        compiled = self._parts.get("#" + pointer)
        return None if compiled is None else self._matches(compiled, value)

    def _too_much(self, value: Any, facts: bounds.ValueFacts, schema: bounds.SchemaFacts) -> str:
        """Return which limit a check of `value` would exceed; `""` for none."""
        if text := self._too_much_text(facts, schema):
            return text
        if (schema.risky or facts.nodes * schema.subschemas > bounds.VISIT_LIMIT) and bounds.reckon(
            self._at, value, references=self._references, limit=bounds.VISIT_LIMIT
        ) is None:
            return "the schema branches too often for a value of this size"
        return ""

    @staticmethod
    def _too_much_text(facts: bounds.ValueFacts, schema: bounds.SchemaFacts) -> str:
        if facts.chars * schema.pattern_weight > bounds.REGEX_WORK_LIMIT:
            return "too much text for the patterns of the schema"
        if facts.strings * schema.backtracking_patterns > bounds.BACKTRACK_WORK_LIMIT:
            return "too many texts for the backtracking patterns of the schema"
        return ""

    @staticmethod
    def _matches(compiled: Any, value: Any) -> bool:
        try:
            return bool(compiled.is_valid(value))
        except UnicodeEncodeError:
            return bool(compiled.is_valid(_without_surrogates(value)))
        except ValueError:  # nested too deeply for the library: the caller then measures the value
            return False

    def _explain(self, value: Any, limit: int) -> list[Violation]:
        """Return the violations in a value that does not match; a large one is narrowed down to its invalid parts."""
        if self._is_small(self._at, value):
            return _listed_errors(self._compiled, value, "", limit)
        if self._parts is None:
            self._parts = _build("validator_map_for", self.schema)
        violations: list[Violation] = []
        seen: set[tuple[str, str]] = set()
        waiting = [(self._pointer, self._at, value, "")]
        for _ in range(_NARROW_STEPS):
            if not waiting or len(violations) >= limit:
                break
            place, schema, part, path = waiting.pop()
            compiled = self._parts.get(place)
            if (place, path) in seen or compiled is None or self._matches(compiled, part):
                continue
            seen.add((place, path))
            if self._is_small(schema, part):
                violations += _listed_errors(compiled, part, path, limit - len(violations))
                continue
            wrong = []
            for inner in self._inner(place, schema, part, path):
                compiled = self._parts.get(inner[0])
                if compiled is not None and not self._matches(compiled, inner[2]):
                    wrong.append(inner)
                    if len(wrong) >= limit:
                        break
            here = list(_shallow(schema, part, path))
            violations += here
            if not wrong and not here:
                violations.append(Violation(path, _plain_reason(schema), _combiner(schema) or "schema"))
            waiting.extend(reversed(wrong))
        return violations[:limit] or [Violation("", "does not match its schema", "schema")]

    def _is_small(self, schema: Any, value: Any) -> bool:
        visits = bounds.reckon(schema, value, references=self._references, limit=_EXPLAIN_LIMIT, by_size=True)
        return visits is not None

    def _inner(self, place: str, schema: Any, value: Any, path: str) -> Iterator[tuple[str, Any, Any, str]]:
        """Yield (place, subschema, value, path) of the parts that must match for the whole to match."""
        if not isinstance(schema, dict):
            return
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            target = bounds.resolve_pointer(self.schema, reference[1:])
            if target is not None:
                yield reference, target, value, path
        for index, part in enumerate(array_at(schema, "allOf")):
            yield f"{place}/allOf/{index}", part, value, path
        if isinstance(value, dict):
            named = object_at(schema, "properties")
            for key, inner in value.items():
                step = escape_step(key)
                if key in named:
                    yield f"{place}/properties/{step}", named[key], inner, f"{path}/{step}"
                elif isinstance(schema.get("additionalProperties"), dict) and "patternProperties" not in schema:
                    yield f"{place}/additionalProperties", schema["additionalProperties"], inner, f"{path}/{step}"
        elif isinstance(value, list):
            first = array_at(schema, "prefixItems")
            for index, inner in enumerate(value):
                if index < len(first):
                    yield f"{place}/prefixItems/{index}", first[index], inner, f"{path}/{index}"
                elif isinstance(schema.get("items"), dict):
                    yield f"{place}/items", schema["items"], inner, f"{path}/{index}"


def _build(factory: str, schema: Any) -> Any:
    """Compile with the library, with all access to the outside disabled."""
    import jsonschema_rs

    asked_for: list[str] = []

    def refuse(uri: str) -> Any:
        asked_for.append(uri)
        raise ValueError("references outside the schema are not fetched")

    try:
        return getattr(jsonschema_rs, factory)(
            schema,
            retriever=refuse,
            validate_formats=True,
            ignore_unknown_formats=True,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS, size_limit=_REGEX_SIZE),
        )
    except jsonschema_rs.ValidationError as error:
        if asked_for:
            uri = safe(asked_for[0].removeprefix("json-schema:///"), 200)
            raise SchemaError(
                f"The schema refers to {uri}, which is not part of it",
                hint="Put the definition into $defs; references to other documents are never fetched.",
            ) from None
        raise SchemaError(f"The schema is not valid{_place(error)}: {_reason(error, schema)}") from None
    except jsonschema_rs.ReferencingError:
        raise SchemaError(f"The schema is not valid: {_bad_reference(schema)}") from None
    except ValueError:
        # The library's own text ("Failed to get key as UTF-8: UnicodeEncodeError…") says nothing about the schema.
        encodable = _without_surrogates(schema)
        if encodable != schema:
            return _build(factory, encodable)
        raise SchemaError(
            (
                "The schema cannot be used: it has a value that cannot be validated, such as a number of "
                "thousands of digits"
            ),
            hint="Arguments are sent without validation.",
        ) from None


def _place(error: Any) -> str:
    where = describe(error).path
    return f" at {safe(where, 120)}" if where else ""


def _reason(error: Any, schema: Any) -> str:
    """Return the error in a schema; `error` is an error against the meta-schema."""
    if error.kind.name == "$ref":
        return _bad_reference(schema)
    if error.kind.name in ("anyOf", "oneOf"):
        what = "JSON type" if error.instance_path[-1:] == ["type"] else "valid value"
        return f"{value_text(error.instance)} is not a {what}"
    if error.kind.name == "format":
        return f"{value_text(error.instance)} is {describe(error).message}"
    return describe(error).message


def _bad_reference(schema: Any) -> str:
    """Return the reference that cannot be followed: the first dangling one, else the first of all."""
    references: list[str] = []
    names: set[str] = set()
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            references += [part[key] for key in ("$ref", "$dynamicRef", "$id") if isinstance(part.get(key), str)]
            names |= {part[key] for key in ("$anchor", "$dynamicAnchor") if isinstance(part.get(key), str)}
        if isinstance(part, (dict, list)):
            waiting += part.values() if isinstance(part, dict) else part
    for reference in references:
        place = reference.removeprefix("#")
        inside = reference.startswith("#/") and bounds.resolve_pointer(schema, place) is None
        if inside or (reference.startswith("#") and place and place[0] != "/" and place not in names):
            return f"the reference {value_text(reference)} has no target"
    return (
        f"the reference {value_text(references[0])} cannot be followed"
        if references
        else "a reference cannot be followed"
    )


def _listed_errors(compiled: Any, value: Any, path: str, limit: int) -> list[Violation]:
    try:
        errors = compiled.iter_errors(value)
    except UnicodeEncodeError:
        errors = compiled.iter_errors(_without_surrogates(value))
    violations: dict[Violation, None] = {}
    for error in errors:
        violations[describe(error, path)] = None
        if len(violations) >= limit:
            break
    return list(violations)


def _unchecked(reason: str) -> Violation:
    return Violation("", f"not checked: {reason}", "limit")


def _shallow(schema: Any, value: Any, path: str) -> Iterator[Violation]:
    """Yield the violations of a large object or array itself, without its contents."""
    if not isinstance(schema, dict):
        yield Violation(path, "nothing is allowed here", "falseSchema")
        return
    expected = schema.get("type")
    kinds = [expected] if isinstance(expected, str) else expected if isinstance(expected, list) else []
    kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else ""
    if kinds and kind and kind not in kinds:
        yield Violation(path, f"expected {' or '.join(map(str, kinds[:7]))}, got {value_text(value)}", "type")
        return
    if isinstance(value, dict):
        for name in schema["required"] if isinstance(schema.get("required"), list) else ():
            if isinstance(name, str) and name not in value:
                yield Violation(path, f"{value_text(name)} is missing", "required", name)
        named = schema.get("properties")
        if schema.get("additionalProperties") is False and "patternProperties" not in schema:
            extra = [key for key in value if not (isinstance(named, dict) and key in named)]
            if extra:
                yield Violation(path, f"unexpected {listed(extra, 'and')}", "additionalProperties", extra[0])
    if isinstance(value, (dict, list)):
        what = ("Properties", "members") if isinstance(value, dict) else ("Items", "items")
        low, high = schema.get("min" + what[0]), schema.get("max" + what[0])
        if isinstance(low, int) and len(value) < low:
            yield Violation(path, f"must have at least {low:,} {what[1]}, has {len(value):,}", "min" + what[0])
        if isinstance(high, int) and len(value) > high:
            yield Violation(path, f"must have at most {high:,} {what[1]}, has {len(value):,}", "max" + what[0])


def _combiner(schema: Any) -> str:
    names = ("anyOf", "oneOf", "not", "if", "contains", "uniqueItems", "patternProperties", "unevaluatedProperties")
    return next((name for name in names if isinstance(schema, dict) and name in schema), "")


def _plain_reason(schema: Any) -> str:
    name = _combiner(schema)
    if name in ("anyOf", "oneOf") and isinstance(schema[name], list):
        return f"matches none of the {len(schema[name])} variants, or more than allowed"
    return f"does not match its schema{f' ({name})' if name else ''}"


def _without_surrogates(value: Any) -> Any:
    """Return a copy with U+FFFD for each lone surrogate, which the library cannot encode as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_without_surrogates(inner) for inner in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(inner) for key, inner in value.items()}
    return value

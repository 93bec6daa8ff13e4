"""Evaluates the facts about hosts on the definitions of a server. Each kind of test has one function.

A new fact needs an entry in `facts.json` and no code, as long as its `test` uses the kinds below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from inspector.errors import SchemaError
from inspector.hosts.facts import Fact, NameRule, host_facts
from inspector.protocol.app_definitions import is_for_model
from inspector.protocol.jsonrpc import NotJson, compact_json, parse
from inspector.protocol.result_shape import has_structured
from inspector.protocol.subschemas import Subschema, subschemas
from inspector.protocol.views import View
from inspector.text import quantity

MAX_TOOLS = 5_000
"""Tools of one server that are evaluated."""
_KEPT = 200_000
"""Parts of schemas that are kept between facts."""
MAX_FAULTS = 200
"""Tools beyond the limit that one fact names; a last note counts the others."""
_SHOWN = 6
"""Keywords or places named in one note."""
_ANNOTATIONS = frozenset(("$schema", "title", "$comment", "examples", "deprecated", "readOnly", "writeOnly"))
"""Keywords that a model can do without, so a host that drops them loses nothing."""
_COMBINES = frozenset(
    ("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties")
)
"""Keywords that may define properties elsewhere."""
_BRANCH = re.compile(r"/(?:anyOf|oneOf|allOf|not|if|then|else|dependentSchemas)(?:/|$)")
"""A place inside a condition: `required` there is about the properties outside."""
_API = re.compile(r"https?://|\b[A-Z][\w.-]{0,40}+(?: [\w.-]{1,40}+)? API\b")


class EvaluatedResult(NamedTuple):
    """A result of a tool call."""

    tool: str
    result: dict[str, Any]


@dataclass(frozen=True)
class ServerDefinitions:
    """The parts of a server that hosts read."""

    name: str
    """The name that the host knows the server by: the key in the user's config, or the server's own name."""
    tools: tuple[dict[str, Any], ...]
    instructions: str = ""
    results: tuple[EvaluatedResult, ...] = ()
    total: int = 0
    """The number of all tools, also of those that are not evaluated."""
    _walks: dict[int, tuple[Subschema, ...]] = field(default_factory=dict, repr=False, compare=False)

    def schemas(self, tool: dict[str, Any]) -> Iterable[Subschema]:
        """Return the parts of a tool's input schema; kept, because many facts ask for them."""
        schemas = self._walks.get(id(tool))
        if schemas is None:
            schemas = tuple(subschemas(tool.get("inputSchema")))
            if sum(map(len, self._walks.values())) < _KEPT:
                self._walks[id(tool)] = schemas
        return schemas

    @classmethod
    def of(
        cls, name: str, tools: Iterable[Any], instructions: Any = "", results: Iterable[EvaluatedResult] = ()
    ) -> ServerDefinitions:
        """Return the definitions that a model may see, without tools for apps only and entries that are not tools."""
        kept = []
        total = 0
        for tool in tools:
            if type(tool) is dict and type(tool.get("name")) is str and is_for_model(tool):
                total += 1
                if total <= MAX_TOOLS:
                    kept.append(tool)
        text = instructions if type(instructions) is str else ""
        return cls("-".join(name.lower().split()) or "server", tuple(kept), text, tuple(results), total)


class HostNote(NamedTuple):
    """A fact about a host, evaluated on one part of a server."""

    fact: Fact
    subject: str
    """`tool create_order`, `tools` or `instructions`. Contains text of the server."""
    ok: bool
    actual: str
    """`90 characters`. May contain text of the server."""
    limit: str
    """`at most 64 characters`."""
    tool: str = ""
    """The name of the tool, if it is about one."""
    numbers: tuple[int, int] | None = None
    """The amount and the limit, in the unit of the host; None if the limit is not a number."""

    def as_json(self, today: date) -> dict[str, Any]:
        """For `--json`."""
        fact = self.fact
        return {
            "host": fact.host,
            "id": fact.id,
            "subject": self.subject,
            "ok": self.ok,
            "found": self.actual,
            "limit": self.limit,
            "effect": fact.effect,
            "source": fact.origin,
            "date": fact.date,
            "confidence": fact.confidence,
            "age": fact.age(today) or None,
            "remedy": fact.remedy,
        }


class Measure(NamedTuple):
    """The outcome of one test on one part."""

    subject: str
    ok: bool
    actual: str
    limit: str
    amount: float = 0
    """How near it is to the limit; the nearest of the good ones is shown."""
    tool: str = ""
    numbers: tuple[int, int] | None = None


class Verdict(NamedTuple):
    """The outcome of a test on one tool or result; see `Measure`."""

    ok: bool
    actual: str
    limit: str
    amount: float = 0


@dataclass(frozen=True)
class _Tool:
    """One tool, as a test sees it."""

    raw: dict[str, Any]
    server: ServerDefinitions
    modifiers: Mapping[str, Any]
    """The `test` of the fact."""

    @property
    def name(self) -> str:
        name: str = self.raw["name"]
        return name

    @property
    def parts(self) -> Iterable[Subschema]:
        """The parts of its input schema."""
        return self.server.schemas(self.raw)

    @property
    def schema(self) -> Any:
        """Its input schema, of any type."""
        return self.raw.get("inputSchema")


def evaluate(server: ServerDefinitions, facts: Iterable[Fact]) -> list[HostNote]:
    """Return the notes of each fact: every fault, or without one the value nearest to the limit.

    A fact without a test, or about a part that the server does not have, gives no note.
    """
    notes: list[HostNote] = []
    for fact in facts:
        nearest: Measure | None = None
        faults = 0
        for measure in _measures(fact, server):
            if measure.ok:
                nearest = measure if nearest is None or measure.amount > nearest.amount else nearest
                continue
            faults += 1
            if faults <= MAX_FAULTS:
                notes.append(HostNote(fact, *measure[:4], measure.tool, measure.numbers))
        if faults > MAX_FAULTS:
            notes.append(HostNote(fact, "tools", False, f"{faults - MAX_FAULTS:,} more tools", "see the others"))
        elif not faults and nearest is not None:
            notes.append(HostNote(fact, *nearest[:4], nearest.tool, nearest.numbers))
    return notes


def criteria_of(fact: Fact) -> dict[str, Any]:
    """Return the tests of a fact by kind: those of `test`, and the longest name of its name rule."""
    criteria = {kind: given for kind, given in (fact.test or {}).items() if kind not in _MODIFIERS}
    if fact.name is not None and fact.name.most is not None:
        criteria.setdefault("max_full_name", fact.name.most)
    return criteria


def _measures(fact: Fact, server: ServerDefinitions) -> Iterator[Measure]:
    for kind, given in criteria_of(fact).items():
        if kind in _OF_TOOLS:
            for tool in server.tools:
                verdict = _OF_TOOLS[kind](given, _Tool(tool, server, fact.test or {}))
                yield Measure(f"tool {tool['name']}", *verdict, tool["name"])
        elif kind in _OF_RESULTS:
            for name, result in server.results:
                if has_structured(result):
                    yield Measure(f"result of {name}", *_OF_RESULTS[kind](result), name)
        elif kind == _OF_ALL:
            yield from _unique_full_names(fact, server)
        elif sized := _SIZED.fullmatch(kind):
            yield from _sizes(sized["what"], sized["unit"] or "", given, fact, server)
        else:
            raise ValueError(f"{fact.id}: unknown test {kind}")


_SIZED = re.compile(  # `max_description_utf16`, `soft_max_tools`, `front_instructions`, …
    r"(?:soft_)?(?:max|front)_(?P<what>name|full_name|description|schema_description|instructions|tools|properties|"
    r"depth|enum|text|result)(?:_(?P<unit>utf16|bytes|chars|tokens|lines))?"
)
_NOUNS = {"properties": "parameter", "depth": "level", "enum": "enum value"}


def _sizes(what: str, suffix: str, most: int, fact: Fact, server: ServerDefinitions) -> Iterator[Measure]:
    unit = suffix or ("bytes" if "byte" in fact.unit else "chars")
    if what == "tools":
        yield _size("tools", server.total, most, "tool")
    elif what == "instructions":
        if server.instructions:
            yield _text_size("instructions", server.instructions, most, unit, fact)
    elif what == "result":
        yield from _results(most, unit, fact, server)
    else:
        for tool in server.tools:
            name = tool["name"]
            subject = f"tool {name}"
            if what in ("name", "full_name"):
                rule = _rule(fact, server) if what == "full_name" else None
                full = rule.full_name(server.name, name) if rule else name
                measure = _text_size(subject, full, most, unit, fact)
                actual = measure.actual if full == name else f"{measure.actual} as {full[:200]}"
                yield measure._replace(actual=actual, tool=name)
            elif what == "description":
                yield _text_size(subject, View(tool).text("description"), most, unit, fact)._replace(tool=name)
            elif what == "schema_description":
                yield from _schema_descriptions(tool, server, most, unit, fact)
            else:
                noun = _NOUNS.get(what, "character")
                yield _size(subject, _schema_amount(what, server.schemas(tool)), most, noun)._replace(tool=name)


def _rule(fact: Fact, server: ServerDefinitions) -> NameRule | None:
    return fact.name or host_facts().name_rule(fact.host)


def _size(subject: str, amount: int, most: int, noun: str) -> Measure:
    limit = f"at most {quantity(most, noun)}"
    return Measure(
        subject, amount <= most, quantity(amount, noun), limit, amount / max(most, 1), numbers=(amount, most)
    )


def amount_of(text: str, unit: str) -> int:
    """Return the size of a text in `chars`, `utf16` units, `bytes` of UTF-8, `lines`, or estimated `tokens`."""
    if unit == "utf16":
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    if unit == "bytes":
        return len(text.encode("utf-8", "surrogatepass"))
    if unit == "lines":
        return text.count("\n") + 1
    if unit == "tokens":
        return -(-len(text) // 4)
    return len(text)


_UNITS = {"chars": "character", "utf16": "UTF-16 unit", "bytes": "byte", "lines": "line", "tokens": "estimated token"}


def _text_size(subject: str, text: str, most: int, unit: str, fact: Fact) -> Measure:
    measure = _size(subject, amount_of(text, unit), most, _UNITS[unit])
    if measure.ok or fact.effect != "cut" or fact.field not in ("tool.description", "instructions"):
        return measure
    return measure._replace(actual=f"{measure.actual}; cut after “…{_last_words(text, most, unit)}”")


def _last_words(text: str, most: int, unit: str) -> str:
    """Return the last 40 characters that arrive."""
    if unit == "utf16":
        kept = text.encode("utf-16-le", "surrogatepass")[: most * 2].decode("utf-16-le", "ignore")
    elif unit == "bytes":
        kept = text.encode("utf-8", "surrogatepass")[:most].decode("utf-8", "ignore")
    else:
        kept = text[:most]
    return kept[-40:]


def _schema_descriptions(
    tool: dict[str, Any], server: ServerDefinitions, most: int, unit: str, fact: Fact
) -> Iterator[Measure]:
    for part in server.schemas(tool):
        text = part.schema.get("description")
        if type(text) is str:
            measure = _text_size(f"tool {tool['name']}", text, most, unit, fact)
            yield measure._replace(actual=f"{measure.actual} in {part.pointer or 'the root'}", tool=tool["name"])


def _schema_amount(what: str, schemas: Iterable[Subschema]) -> int:
    total = 0
    for part in schemas:
        names, values = View(part.schema).object("properties"), View(part.schema).array("enum")
        if what == "properties":
            total += len(names)
        elif what == "enum":
            total += len(values)
        elif what == "text":
            total += sum(map(len, names)) + sum(len(value) for value in values if type(value) is str)
        elif type(part.schema.get("properties")) is dict:
            total = max(total, 1 + sum(part.pointer.count(f"/{key}/") for key in ("properties", "patternProperties")))
    return total


def result_text(result: dict[str, Any]) -> str:
    """Return the text of a result that a model reads: its text blocks, or the structured content without any."""
    texts = _texts(result)
    if not texts and has_structured(result):
        return compact_json(result["structuredContent"])
    return "\n".join(texts)


def _results(most: int, unit: str, fact: Fact, server: ServerDefinitions) -> Iterator[Measure]:
    meta = (fact.test or {}).get("meta")
    own = {tool["name"]: _own_limit(tool, meta, fact) for tool in server.tools} if meta else {}
    largest: dict[str, str] = {}
    for tool, result in server.results:
        text = result_text(result)
        if len(text) >= len(largest.get(tool, "")):
            largest[tool] = text
    for tool, text in largest.items():
        raised = own.get(tool)
        measure = (
            _size(f"result of {tool}", amount_of(text, unit), most, _UNITS[unit])
            if raised is None
            else _size(f"result of {tool}", len(text), raised, "character")
        )
        yield measure._replace(tool=tool)


def _own_limit(tool: dict[str, Any], key: str, fact: Fact) -> int | None:
    """Return the characters that a tool declares for its results in `_meta`, up to what the host allows."""
    value = View(tool).meta.get(key)
    return min(value, (fact.test or {}).get("meta_max", value)) if type(value) is int else None


def _structured_replaces_text(result: dict[str, Any]) -> Verdict:
    extra = [text for text in _texts(result) if not _is_json_of(text, result["structuredContent"])]
    actual = (
        f"{quantity(len(extra), 'text block')} beside structuredContent with another content" if extra else "the same"
    )
    return Verdict(not extra, actual, "the same in text and structuredContent")


def _text_needed(result: dict[str, Any]) -> Verdict:
    ok = any(text.strip() for text in _texts(result))
    return Verdict(ok, "structuredContent and text" if ok else "structuredContent without text", "a text block")


def _texts(result: dict[str, Any]) -> list[str]:
    texts = (View(block).members.get("text") for block in View(result).array("content"))
    return [text for text in texts if type(text) is str]


def _is_json_of(text: str, value: Any) -> bool:
    """Whether a text is the JSON of a value, in any layout, or repeats its only member."""
    try:
        parsed = parse(text.encode("utf-8", "surrogatepass"))
    except (NotJson, RecursionError):
        parsed = text
    inner = list(value.values()) if type(value) is dict else []
    return bool(parsed == value or (len(inner) == 1 and parsed == inner[0]) or not text.strip())


def _pattern(pattern: str, tool: _Tool) -> Verdict:
    return Verdict(
        re.fullmatch(pattern, tool.name) is not None, _why_not(pattern, tool.name), _described(pattern), len(tool.name)
    )


def _properties_pattern(pattern: str, tool: _Tool) -> Verdict:
    names = [name for name in View(tool.schema).object("properties") if type(name) is str]
    wrong = [name for name in names if re.fullmatch(pattern, name) is None]
    actual = f"parameter {wrong[0][:80]}: {_why_not(pattern, wrong[0])}" if wrong else "all fit"
    more = f", and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
    return Verdict(not wrong, actual + more, _described(pattern), len(names))


_CLASSES = re.compile(r"\^(?P<first>\[[^\]]+\])?(?P<rest>\[[^\]]+\])(?:\{(?P<least>\d+),(?P<most>\d+)\}|\*)\$")
"""The form of the patterns: a class for the first character, one for the others, and their number."""


def _described(pattern: str) -> str:
    """Return a pattern in words: `at most 64 characters a-z A-Z 0-9 _ -`. Other forms are returned unchanged."""
    form = _CLASSES.fullmatch(pattern)
    if form is None:
        return pattern
    allowed = " ".join(re.findall(r"\w-\w|\\?[^\\]", form["rest"][1:-1])).replace("\\", "")
    text = f"characters {allowed}"
    if form["most"]:
        text = f"at most {int(form['most']) + bool(form['first'])} {text}"
    return f"{text}, the first one {' '.join(re.findall(r'.-.|.', form['first'][1:-1]))}" if form["first"] else text


def _why_not(pattern: str, name: str) -> str:
    """Return what in a name does not match a pattern, or its length if it does."""
    form = _CLASSES.fullmatch(pattern)
    if form is None:
        return name[:80]
    wrong = sorted({char for char in name if not re.fullmatch(form["rest"], char)})
    if wrong:
        return f"has the character{'s' if len(wrong) > 1 else ''} {' '.join(repr(char) for char in wrong[:_SHOWN])}"
    if form["first"] and name and not re.fullmatch(form["first"], name[0]):
        return f"begins with {name[0]!r}"
    return quantity(len(name), "character")


def _unique_full_names(fact: Fact, server: ServerDefinitions) -> Iterator[Measure]:
    rule = _rule(fact, server)
    seen: dict[str, str] = {}
    for tool in server.tools:
        name = tool["name"]
        full = rule.full_name(server.name, name)[: rule.most] if rule is not None else name
        other = seen.setdefault(full, name)
        if other != name:
            yield Measure(f"tool {name}", False, f"becomes {full[:200]}, like {other}", "different full names", 0, name)


def _member(tool: dict[str, Any], path: str) -> Any:
    member: Any = tool
    for key in path.split("."):
        member = member.get(key) if type(member) is dict else None
    if member is None and path == "title":
        return _member(tool, "annotations.title")
    return member


def _has(tool: dict[str, Any], path: str) -> bool:
    value = _member(tool, path)
    if path.endswith("Hint"):
        return type(value) is bool
    return bool(value.strip()) if type(value) is str else value is not None


def _require(paths: list[str], tool: _Tool, word: str = "required") -> Verdict:
    missing = [path.rpartition(".")[2] for path in paths if not _has(tool.raw, path)]
    limit = ", ".join(path.rpartition(".")[2] for path in paths)
    return Verdict(not missing, f"no {', '.join(missing)}" if missing else limit, f"{limit} {word}")


def _require_any(paths: list[str], tool: _Tool) -> Verdict:
    limit = " or ".join(path.rpartition(".")[2] for path in paths)
    ok = any(_has(tool.raw, path) for path in paths)
    return Verdict(ok, "one of them" if ok else f"neither {limit}".replace(" or ", " nor "), f"{limit} required")


def _keywords(places: dict[str, str], limit: str) -> Verdict:
    """Return the verdict on keywords that are found, each with its first place."""
    keywords = [f"{key} in {place or 'the root'}" for key, place in list(places.items())[:_SHOWN]]
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return Verdict(not places, f"{', '.join(keywords)}{more}" if places else "none", limit)


def _first_places(schemas: Iterable[Subschema], matches: Callable[[str], bool]) -> dict[str, str]:
    places: dict[str, str] = {}
    for part in schemas:
        for key in part.schema:
            if type(key) is str and key not in places and matches(key):
                places[key] = part.pointer
    return places


def _root_without(keys: list[str], tool: _Tool) -> Verdict:
    here = {key: "" for key in keys if key in View(tool.schema).members}
    return _keywords(here, f"no {', '.join(keys)} in the root")


def _only(keys: list[str], tool: _Tool) -> Verdict:
    kept = frozenset(keys) | _ANNOTATIONS
    places = _first_places(tool.parts, lambda key: key not in kept and not key.startswith("x-"))
    for part in tool.parts if tool.modifiers.get("ref_alone") else ():
        if "$ref" in part.schema and any(not key.startswith("$") for key in part.schema):
            places.setdefault("other keywords beside $ref", part.pointer)
    return _keywords(places, f"only the {quantity(len(keys), 'keyword')} that the host reads")


def _anywhere_without(keys: list[str], tool: _Tool, limit: str = "") -> Verdict:
    return _keywords(_first_places(tool.parts, keys.__contains__), limit or f"no {', '.join(keys)}")


def _root_requires(keys: list[str], tool: _Tool) -> Verdict:
    missing = [key for key in keys if key not in View(tool.schema).members]
    actual = f"no {', '.join(missing)} in the root" if missing else ", ".join(keys)
    return Verdict(not missing, actual, f"{', '.join(keys)} required")


def _arrays_require(keys: list[str], tool: _Tool) -> Verdict:
    places = [
        part.pointer or "the root"
        for part in tool.parts
        if _is_type(part.schema, "array") and any(key not in part.schema for key in keys)
    ]
    actual = f"array without {', '.join(keys)} in {', '.join(places[:_SHOWN])}" if places else "all arrays have it"
    return Verdict(not places, actual, f"{', '.join(keys)} in every array")


def _is_type(schema: dict[str, Any], name: str) -> bool:
    given = schema.get("type")
    return given == name or (type(given) is list and name in given)


def _required_in_properties(_: Any, tool: _Tool) -> Verdict:
    wrong = [f"{name[:80]} in {place or 'the root'}" for place, name in unknown_required(tool.parts)]
    actual = f"required, but not in properties: {', '.join(wrong[:_SHOWN])}" if wrong else "all are properties"
    return Verdict(not wrong, actual, "required names only properties")


def unknown_required(schemas: Iterable[Subschema]) -> Iterator[tuple[str, str]]:
    """Yield (pointer, name) of each name in `required` that is not in `properties` beside it."""
    for part in schemas:
        properties, required = part.schema.get("properties", {}), part.schema.get("required")
        own = type(properties) is dict and _COMBINES.isdisjoint(part.schema) and not _BRANCH.search(part.pointer)
        if type(required) is list and own:
            yield from ((part.pointer, name) for name in required if type(name) is str and name not in properties)


def _schema_valid(dialect: str, tool: _Tool) -> Verdict:
    from inspector.protocol.validation import DIALECTS, Validator

    uri = next(uri for uri in DIALECTS.values() if dialect.removeprefix("draft-") in uri)
    reason = ""
    try:
        Validator({**tool.schema, "$schema": uri} if type(tool.schema) is dict else tool.schema)
    except SchemaError as error:
        reason = error.message
    return Verdict(not reason, reason or "valid", f"valid as {dialect}")


def _parameters(tool: _Tool) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in tool.parts:
        for name, schema in View(part.schema).object("properties").items():
            if type(schema) is dict:
                yield name, schema


def _choices(schema: dict[str, Any]) -> set[str]:
    """Return the texts that a parameter may have: `enum`, `const` of its branches, `examples`."""
    view = View(schema)
    branches = [*view.array("anyOf"), *view.array("oneOf")]
    choices = [
        *view.array("enum"),
        *view.array("examples"),
        *(View(branch).members.get("const") for branch in branches),
    ]
    return {value for value in choices if type(value) is str}


_STORES = frozenset("create add save update edit put set define register import mock generate replace insert".split())
_HTTP_METHODS = frozenset(("method", "http_method", "verb"))
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


_SEPARATE = "reading and writing in separate tools"


def _stores(tool: _Tool) -> bool:
    """Whether a tool writes a definition, by its name: an HTTP method that it takes is kept, and not requested."""
    return not _STORES.isdisjoint(word.lower() for word in _WORDS.findall(tool.name))


def _no_enum_with(given: dict[str, Any], tool: _Tool) -> Verdict:
    stores = _stores(tool)
    for name, schema in _parameters(tool):
        values = _choices(schema)
        groups = [] if stores else [given["methods"]]
        if name in given["named"] and not (stores and name in _HTTP_METHODS):
            groups.append(given["actions"])
            values |= {value.lower() for value in values}
        for reads, writes in groups:
            if not values.isdisjoint(reads) and not values.isdisjoint(writes):
                both = [value for value in (*reads, *writes) if value in values]
                return Verdict(False, f"parameter {name[:80]} allows {', '.join(both[:_SHOWN])}", _SEPARATE)
    return Verdict(True, "no such parameter", _SEPARATE)


def _free_texts(names: list[str], tool: _Tool) -> list[str]:
    """Return the parameters of these names that take any text."""
    return [
        name
        for name, schema in _parameters(tool)
        if name in names and _is_type(schema, "string") and not _choices(schema) and "const" not in schema
    ]


def _no_free_text(names: list[str], tool: _Tool) -> Verdict:
    free = [] if _stores(tool) else _free_texts(names, tool)
    return Verdict(not free, f"parameter {free[0]} accepts any text" if free else "no such parameter", _SEPARATE)


def _free_text_names_api(names: list[str], tool: _Tool) -> Verdict:
    free = _free_texts(names, tool)
    ok = not free or _API.search(View(tool.raw).text("description")) is not None
    actual = "named" if ok else f"parameter {free[0]} is free, and the description names no API"
    return Verdict(ok, actual, "the API by name or link")


_OF_TOOLS: dict[str, Callable[[Any, _Tool], Verdict]] = {
    "pattern": _pattern,
    "properties_pattern": _properties_pattern,
    "require": _require,
    "require_any": _require_any,
    "want": partial(_require, word="recommended"),
    "root_without": _root_without,
    "root_requires": _root_requires,
    "anywhere_without": _anywhere_without,
    "dropped": partial(_anywhere_without, limit="no keyword that the host deletes"),
    "only": _only,
    "arrays_require": _arrays_require,
    "required_in_properties": _required_in_properties,
    "schema_valid": _schema_valid,
    "no_enum_with": _no_enum_with,
    "no_free_text": _no_free_text,
    "free_text_names_api": _free_text_names_api,
}
"""The tests of one tool, by their key in `test`; each is given its argument there."""
_OF_RESULTS = {"structured_replaces_text": _structured_replaces_text, "text_needed": _text_needed}
"""The tests of one result with structured content."""
_OF_ALL = "unique_full_name"
KINDS = frozenset((*_OF_TOOLS, *_OF_RESULTS, _OF_ALL))
"""The tests other than sizes, by their key in `test`."""
_MODIFIERS = frozenset(("depth", "hard", "ref_alone", "warn_result_tokens", "meta", "meta_max"))
"""Keys of `test` that refine another test."""

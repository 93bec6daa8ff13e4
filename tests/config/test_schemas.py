"""The published JSON Schemas of the config files allow what their readers accept, and document each key."""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from inspector.config import client_configs, jsonc, login_entry
from inspector.config.models import ServersModel, SettingsModel
from inspector.config.servers import find_servers
from inspector.config.settings import Settings, load_settings
from inspector.errors import ConfigError
from tests.config.test_settings import JSON, WRONG

ROOT = Path(__file__).parents[2]
LONE_SURROGATE = "[\ud800-\udfff]"
SCHEMAS: dict[str, Any] = {
    name: json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("settings", "servers")
}
DEFINITIONS = {name: part for schema in SCHEMAS.values() for name, part in schema["$defs"].items()}
BEYOND_A_SCHEMA = re.compile(
    "has neither|is empty|its type is|for servers at a URL|cannot be parsed|not an http or https URL|is refused|is wrong"
    "|has no servers"
)
"""Why a reader refuses an entry of the right shape: its members do not belong together, or a text is not an address."""


# What is published


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_and_has_no_keyword_that_editors_do_not_know(name: str) -> None:
    jsonschema_rs.meta.validate(SCHEMAS[name])
    assert set(keywords(SCHEMAS[name])) <= {
        "$schema", "$defs", "$ref", "title", "description", "default", "examples", "type", "enum", "anyOf", "properties",
        "required", "additionalProperties", "items", "pattern", "minimum", "exclusiveMinimum", "exclusiveMaximum",
    }  # fmt: skip


def keywords(schema: Any) -> Iterator[str]:
    for keyword, value in schema.items():
        yield keyword
        parts = value if keyword == "anyOf" else value.values() if keyword in ("properties", "$defs") else [value]
        for part in parts if keyword not in ("default", "examples") else ():
            yield from keywords(part) if isinstance(part, dict) else ()


@pytest.mark.parametrize("part", [*SCHEMAS.values(), *DEFINITIONS.values()], ids=[*SCHEMAS, *DEFINITIONS])
def test_every_key_is_documented_and_its_examples_are_valid(part: Any) -> None:
    for name, field in part["properties"].items():
        assert field["description"].endswith("."), name
        check = jsonschema_rs.validator_for(field | {"$defs": DEFINITIONS})
        assert all(check.is_valid(example) for example in field.get("examples", ())), name


def examples(part: Any) -> Iterator[tuple[str, Any]]:
    for name, field in part["properties"].items():
        yield from ((name, example) for example in field.get("examples", ()))


def test_the_readers_accept_every_example(tmp_path: Path) -> None:
    assert all(settings_accepted(tmp_path / "s.json", {name: value}) for name, value in examples(SCHEMAS["settings"]))
    url = ("url", "headers", "auth", "proxy", "verify", "type", "transport")
    for name, value in examples(DEFINITIONS["EntryModel"]):
        entry = {"url" if name in url else "command": "https://h/mcp", name: value}
        assert servers_refused(tmp_path / "inspector.json", {"servers": {"a": entry}}) == [], entry
    for name, value in examples(DEFINITIONS["AuthModel"]):
        entry = {"url": "https://h/mcp", "auth": {name: value}}
        assert servers_refused(tmp_path / "inspector.json", {"servers": {"a": entry}}) == [], entry


def test_the_schemas_have_the_keys_and_defaults_of_the_readers() -> None:
    settings = SCHEMAS["settings"]["properties"]
    assert list(settings) == ["$schema", *Settings.__dataclass_fields__]
    defaults = json.loads(json.dumps(asdict(Settings())))
    assert {name: settings[name]["default"] for name in settings if "default" in settings[name]} == {
        "$schema": None
    } | {name: value for name, value in defaults.items() if "default" in settings[name]}
    assert {name for name in defaults if "default" not in settings[name]} == {"extensions", "keymap"}
    assert list(SCHEMAS["servers"]["properties"]) == client_configs.OWN_TOP
    assert list(DEFINITIONS["EntryModel"]["properties"]) == client_configs.OWN_KEYS
    auth = DEFINITIONS["AuthModel"]["properties"]
    assert list(auth) == list(login_entry.KEYS)
    secrets = {login_entry.KEYS[key] for key, field in auth.items() if "pattern" in json.dumps(field)}
    assert secrets == login_entry.SECRETS
    (grants,) = [choice["enum"] for choice in auth["grant"]["anyOf"] if "enum" in choice]
    assert tuple(grants) == login_entry.GRANTS


# The models, for programs


def test_a_program_validates_a_file_as_its_reader_does() -> None:
    made = SettingsModel.model_validate({"timeout": 30, "roots": ["file:///x"]})
    assert made.model_dump() == asdict(Settings(timeout=30.0, roots=("file:///x",)))
    servers = ServersModel.model_validate(
        {"servers": {"a": {"command": "x"}}, "mcpServers": {"b": {"url": "https://h"}}}
    )
    assert servers.servers == {"a": {"command": "x"}, "b": {"url": "https://h"}}


@pytest.mark.parametrize(
    ("model", "value", "message"),
    [
        (SettingsModel, {"tiemout": 1}, "Did you mean “timeout”?"),
        (SettingsModel, {"timeout": "{x}"}, "must be a number of seconds above 0"),
        (SettingsModel, [], "valid dictionary"),
        (ServersModel, {"servers": {"a": {"comand": "x"}}}, "Did you mean “command”?"),
        (ServersModel, {"server": {}, "servers": {}}, "Did you mean “servers”?"),
        (ServersModel, {"servers": {"a": {"url": "https://h", "auth": {"bearer": "hunter2"}}}}, "must be a reference"),
    ],
)
def test_a_model_says_what_its_reader_says_and_repeats_no_secret(model: Any, value: Any, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(value)
    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_the_python_of_the_page_runs() -> None:
    page = (ROOT / "docs" / "reference" / "servers.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(source, {})


# What the readers accept


def as_json(content: Any) -> str:
    """`content` as JSON, which has no NaN and writes an infinite number as one that is too large."""
    return json.dumps(content).replace("Infinity", "1e999").replace("NaN", "null")


def settings_accepted(path: Path, content: Any) -> bool:
    """Whether the reader accepts the settings; what it accepts, the schema allows."""
    path.write_text(as_json(content), encoding="utf-8")
    try:
        load_settings(path, {})
    except ConfigError:
        return False
    assert allows("settings", content), content
    return True


def servers_refused(path: Path, content: Any) -> list[str]:
    """Why the reader refuses a file or its entries; what it accepts, the schema allows."""
    path.write_text(as_json(content), encoding="utf-8")
    problems = find_servers(path.parent, path.parent, {}, config=path).problems
    assert problems or allows("servers", content) or is_stricter_schema(content), content
    return [problem.message for problem in problems]


# Every example of the pages and of the tests


def literals() -> Iterator[Any]:
    """Every object that is written out in a test or on a page, as Python or as JSON."""
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Dict):
                try:
                    yield ast.literal_eval(node)
                except (ValueError, TypeError):
                    pass
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("{"):
                yield parsed(node.value)
    for page in (ROOT / "docs").glob("*.md"):
        for block in re.findall(r"^```json\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            yield parsed(block)


def parsed(text: str) -> Any:
    try:
        return jsonc.parse(text)
    except jsonc.JsoncError:
        return None


def written(seen: set[str], content: Any) -> list[Any]:
    """`content`, once, if JSON can hold it."""
    try:
        text = json.dumps(content)
    except (TypeError, ValueError):
        return []
    new = text not in seen
    seen.add(text)
    return [json.loads(text)] if new else []


def allows(name: str, content: Any) -> bool:
    """Whether the published schema allows `content`. The validator takes no lone surrogates; it gets another sign."""
    plain = json.loads(re.sub(LONE_SURROGATE, "x", json.dumps(content, ensure_ascii=False)))
    return jsonschema_rs.validator_for(SCHEMAS[name]).is_valid(plain)


def is_stricter_schema(file: Any) -> bool:
    """Whether the schema deliberately refuses a value that the readers accept or ignore."""
    servers = [file[key] for key in ("servers", "mcpServers") if isinstance(file.get(key), dict)]
    entries = [entry for members in servers for entry in members.values() if isinstance(entry, dict)]
    types = [entry.get(key) for entry in entries for key in ("type", "transport")]
    spelled = any(isinstance(kind, str) and kind != kind.strip().casefold() for kind in types)
    return "inputs" in file or spelled or (len(servers) == 2 and bool(set(servers[0]) & set(servers[1])))


@pytest.mark.slow
def test_the_schemas_allow_every_example_of_the_pages_and_the_tests(tmp_path: Path) -> None:
    settings = {*WRONG, "$schema"}
    seen: set[str] = set()
    servers: dict[bool, int] = {True: 0, False: 0}
    kept: dict[bool, int] = {True: 0, False: 0}
    for content in (value for literal in literals() if isinstance(literal, dict) for value in written(seen, literal)):
        names = set(content)
        files_of_servers = [content] if names & {"servers", "mcpServers"} else []
        if names & {"command", "url"}:
            files_of_servers.append({"servers": {"a": content}})
        for file in files_of_servers:
            servers[not servers_refused(tmp_path / "inspector.json", file)] += 1
        if names & settings:
            kept[settings_accepted(tmp_path / "settings.json", content)] += 1
    assert min(servers.values()) > 30, servers
    assert min(kept.values()) > 5, kept


def test_an_editor_may_find_its_schema(tmp_path: Path) -> None:
    assert settings_accepted(tmp_path / "settings.json", {"$schema": "./settings.schema.json"})
    assert not servers_refused(tmp_path / "inspector.json", {"$schema": "./servers.schema.json", "servers": {}})


@pytest.mark.parametrize(
    ("content", "accepted"),
    [
        ({"servers": None}, True),
        ({"$schema": 5, "servers": {}}, False),
        ({"servers": {"a": {"command": 5}}, "mcpServers": {"a": {"command": "x"}}}, True),
        ({"servers": {"a": {"command": "my srv", "args": None}}}, True),
        ({"servers": {"a": {"command": "x", "headers": 5}}}, False),
        ({"servers": {"a": {"command": 5, "url": "https://h"}}}, False),
        ({"servers": {"a": {"command": [], "url": "https://h"}}}, True),
        ({"servers": {"a": {"url": "https://h", "env": {"A": []}}}}, False),
        ({"servers": {"a": {"url": "https://h", "type": "http", "transport": "ws"}}}, False),
        ({"servers": {"a": {"url": "https://h", "description": ["x"]}}}, False),
        ({"servers": {"a": {"url": "HTTPS://h", "type": " SSE "}}}, True),
        ({"servers": {"a": {"url": "${BASE}/mcp", "era": ""}}}, True),
        ({"servers": {"a": {"url": "https://h", "auth": {"bearer": "${A}", "grant": None}}}}, True),
        ({"servers": {"a": {"command": "x", "auth": {"bearer": None}}}}, True),
        ({"servers": {"a": {"command": "\ud800", "env": {"\ud800": "\ud800"}}}}, True),
        ({"servers": {"a": {"command": "x", "roots": ["\ud800"]}}}, False),
        ({"servers": {"a": {"command": "x", "roots": ["https://x"]}}}, False),
        ({"servers": {}, "inputs": {"id": "a"}}, True),
        (
            {
                "servers": {"a": {"command": "x"}},
                "inputs": [
                    3,
                    {"id": "c", "type": "command"},
                    {"id": "p", "default": 3, "options": ["x", {"value": "y"}, 5]},
                ],
            },
            True,
        ),
    ],
)
def test_the_reader_decides_at_the_edges(content: Any, accepted: bool, tmp_path: Path) -> None:
    assert (not servers_refused(tmp_path / "inspector.json", content)) == accepted


# Any file of the shape, whole or with one fault


def of_schema(schema: Any, definitions: Any) -> st.SearchStrategy[Any]:
    """Values that a schema of ours allows."""

    def inner(part: Any) -> st.SearchStrategy[Any]:
        return of_schema(part, definitions)

    if "$ref" in schema:
        return inner(definitions[schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return st.one_of([inner(choice) for choice in schema["anyOf"]])
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    kinds = schema.get("type", ["null", "boolean", "number", "string"])
    if isinstance(kinds, list):
        return st.one_of([inner({**schema, "type": kind}) for kind in kinds])
    match kinds:
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            whole = st.integers(min_value=schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1))
            return whole | st.integers(1, 2**53).map(float)
        case "number":
            numbers = st.floats(0, 1e9, exclude_min=True, exclude_max=True) | st.integers(1, 10**9 - 1)
            return (
                numbers
                if "exclusiveMinimum" in schema
                else st.integers() | st.floats(allow_nan=False, allow_infinity=False)
            )
        case "string":
            given = [choice for choice in schema.get("examples", ()) if isinstance(choice, str)]
            if "pattern" in schema:
                return st.from_regex(schema["pattern"], fullmatch=True)
            return st.text(max_size=8) | st.sampled_from([*TEXTS, *given])
        case "array":
            return st.lists(inner(schema["items"]), max_size=3)
        case "object":
            properties = schema.get("properties", {})
            required = {name: inner(part) for name, part in properties.items() if name in schema.get("required", ())}
            free = {name: inner(part) for name, part in properties.items() if name not in required}
            if properties:
                return st.fixed_dictionaries(required, optional=free)
            more = schema.get("additionalProperties", True)
            return st.dictionaries(st.text(max_size=5), inner({} if more is True else more), max_size=3)
    raise AssertionError(schema)


TEXTS = [
    "https://h/mcp",
    "${env:X}",
    "env:X",
    "file:a/b",
    "keyring:a/b",
    "http://h",
    "a b",
    "'a b",
    "",
    " ",
    "x://y",
    "~/a",
]


@st.composite
def broken(draw: st.DrawFn, whole: Any) -> Any:
    """`whole` with one thing wrong: a value replaced by any JSON, a key misspelled, or a key left out."""
    whole = copy.deepcopy(whole)
    places = list(spots(whole))
    if not places:
        return draw(JSON)
    holder, key = draw(st.sampled_from(places))
    fault = draw(st.sampled_from(["value", "value", "key", "gone"]))
    value = draw(JSON) if fault == "value" else holder[key]
    if fault != "value":
        del holder[key]
    if fault == "value":
        holder[key] = value
    elif fault == "key" and isinstance(holder, dict):
        holder[key[:-1] + draw(st.sampled_from("sx_"))] = value
    return whole


def spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a value: what holds it, and under which key."""
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    for key, item in pairs:
        yield value, key
        yield from spots(item)


SETTINGS = of_schema(SCHEMAS["settings"], DEFINITIONS)
BASES = st.sampled_from([{"command": "srv"}, {"url": "https://h/mcp"}, {"command": ["a", "b"]}, {}])
ENTRIES = st.builds(
    lambda keys, base, names: {name: keys[name] for name in names if name in keys} | base,
    of_schema(DEFINITIONS["EntryModel"], DEFINITIONS),
    BASES,
    st.sets(st.sampled_from(client_configs.OWN_KEYS), max_size=5),
)
SERVERS = st.fixed_dictionaries(
    {"servers": st.dictionaries(st.text(max_size=5), ENTRIES, max_size=2)},
    optional={
        "mcpServers": st.dictionaries(st.text(max_size=5), ENTRIES, max_size=1),
        "inputs": of_schema(SCHEMAS["servers"]["properties"]["inputs"], DEFINITIONS),
        "$schema": st.text(max_size=5),
    },
)


@given(SETTINGS)
def test_settings_of_the_shape_are_accepted(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    assert settings_accepted(tmp_path_factory.getbasetemp() / "settings.json", content)


@given(SETTINGS.flatmap(broken))
def test_settings_with_one_fault_are_allowed_where_they_are_accepted(
    tmp_path_factory: pytest.TempPathFactory, content: Any
) -> None:
    if isinstance(content, dict):
        settings_accepted(tmp_path_factory.getbasetemp() / "settings.json", content)


@given(SERVERS)
def test_servers_of_the_shape_are_refused_only_for_what_a_schema_cannot_say(
    tmp_path_factory: pytest.TempPathFactory, content: Any
) -> None:
    refused = servers_refused(tmp_path_factory.getbasetemp() / "inspector.json", content)
    assert [problem for problem in refused if not BEYOND_A_SCHEMA.search(problem)] == []


@given(SERVERS.flatmap(broken))
def test_servers_with_one_fault_are_allowed_where_they_are_accepted(
    tmp_path_factory: pytest.TempPathFactory, content: Any
) -> None:
    if isinstance(content, dict):
        servers_refused(tmp_path_factory.getbasetemp() / "inspector.json", content)

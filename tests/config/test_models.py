"""The models and the readers of the start path accept the same files and read the same values."""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from inspector.config import client_configs, foreign_files, jsonc, login_entry, models
from inspector.config.expand import InputQuestion
from inspector.config.models import (
    AuthModel,
    CommandModel,
    EntryModel,
    InputModel,
    ServersModel,
    SettingsModel,
    ValueModel,
)
from inspector.config.server_definition import Definition
from inspector.config.servers import find_servers
from inspector.config.settings import Settings, load_settings
from inspector.config.targets import ServerOptions
from inspector.config.text_checks import root_uri
from inspector.errors import ConfigError
from tests.config.test_settings import JSON, WRONG

ROOT = Path(__file__).parents[2]
LONE_SURROGATE = "[\ud800-\udfff]"
SCHEMAS = {"settings": models.settings_schema(), "servers": models.servers_schema()}
DEFINITIONS = {name: each for schema in SCHEMAS.values() for name, each in schema["$defs"].items()}
MODELS: list[type[BaseModel]] = [
    SettingsModel,
    ServersModel,
    EntryModel,
    AuthModel,
    ValueModel,
    InputModel,
    CommandModel,
]


def keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


# What is published


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_schema_is_that_of_the_models(name: str) -> None:
    published = json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    assert published == SCHEMAS[name], f"run: inspector {name} --schema > docs/schemas/{name}.json"
    jsonschema_rs.meta.validate(published)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_has_no_keyword_that_editors_do_not_know(name: str) -> None:
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


@pytest.mark.parametrize("model", MODELS)
def test_every_field_is_documented_and_its_examples_are_valid(model: type[BaseModel]) -> None:
    definitions = DEFINITIONS
    schema = model.model_json_schema()
    for name, field in schema["properties"].items():
        assert field["description"].endswith("."), name
        check = jsonschema_rs.validator_for(field | {"$defs": definitions})
        assert all(check.is_valid(example) for example in field.get("examples", ())), name
        for example in field.get("examples", ()):
            wrong = problems(model, {name: example})
            assert not [error for error in wrong if error["loc"][:1] == (name,)], name


def problems(model: type[BaseModel], value: Any) -> list[Any]:
    try:
        model.model_validate(value)
    except ValidationError as error:
        return list(error.errors(include_input=False))
    return []


def test_the_models_have_the_keys_and_defaults_of_the_readers() -> None:
    assert keys(SettingsModel) == ["$schema", *Settings.__dataclass_fields__]
    assert SettingsModel().model_dump(exclude={"schema_"}) == asdict(Settings())
    assert keys(ServersModel) == client_configs._OWN_TOP
    assert keys(EntryModel) == client_configs.OWN_KEYS
    assert keys(AuthModel) == list(login_entry.KEYS)
    secrets = {login_entry.KEYS[key] for key, field in zip(keys(AuthModel), AuthModel.model_fields.values(), strict=True)
               if models.Secret in get_args(field.annotation)}  # fmt: skip
    assert secrets == login_entry.SECRETS
    assert all(problems(AuthModel, {"grant": grant}) == [] for grant in login_entry.GRANTS)


@pytest.mark.parametrize(
    ("model", "value", "near"),
    [
        (SettingsModel, {"tiemout": 1}, "Did you mean “timeout”?"),
        (SettingsModel, {"zzzz": 1}, "Use one of: $schema, timeout"),
        (EntryModel, {"comand": "x"}, "Did you mean “command”?"),
        (EntryModel, {"url": "https://h", "auth": {"clientid": "x"}}, "Did you mean “clientId”?"),
        (ServersModel, {"server": {}, "servers": {}}, "Did you mean “servers”?"),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest(model: type[BaseModel], value: Any, near: str) -> None:
    (found,) = problems(model, value)
    assert near in found["msg"]


def test_a_secret_is_not_repeated() -> None:
    with pytest.raises(ValidationError) as caught:
        AuthModel.model_validate({"bearer": "hunter2-in-the-clear"})
    assert "must be a reference to the secret" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_the_python_of_the_page_runs() -> None:
    page = (ROOT / "docs" / "reference" / "servers.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(source, {})


# Both read the same


def as_json(content: Any) -> str:
    """`content` as JSON, which has no NaN and writes an infinite number as one that is too large."""
    return json.dumps(content).replace("Infinity", "1e999").replace("NaN", "null")


def same_settings(path: Path, content: Any) -> bool:
    """Holds the reader and the model of the settings against each other; whether they accept `content`."""
    path.write_text(as_json(content), encoding="utf-8")
    try:
        read: Settings | None = load_settings(path, {})
    except ConfigError:
        read = None
    wrong = problems(SettingsModel, foreign_files.load_object(path))
    assert (read is None) == bool(wrong), (content, wrong)
    if read is not None:
        modelled = SettingsModel.model_validate(foreign_files.load_object(path))
        assert read == Settings(**modelled.model_dump(exclude={"schema_"})), content
    return read is not None


def same_servers(path: Path, content: Any) -> bool:
    """Holds the reader and the model of `inspector.json` against each other; whether they accept `content`."""
    path.write_text(as_json(content), encoding="utf-8")
    found = find_servers(path.parent, path.parent, {}, config=path)
    wrong = problems(ServersModel, foreign_files.load_object(path))
    assert bool(found.problems) == bool(wrong), (content, found.problems, wrong)
    if not wrong:
        modelled = ServersModel.model_validate(foreign_files.load_object(path))
        servers = (modelled.servers or {}) | (modelled.mcp_servers or {})
        assert {entry.name for entry in found.entries} == set(servers)
        for entry in found.entries:
            server = servers[entry.name]
            assert entry.definition == defined(server, path.parent), content
            assert entry.disabled == bool(server.disabled)
            assert entry.inputs == tuple(question(each, entry.name) for each in modelled.inputs)
    return not wrong


def question(asked: InputModel, server: str) -> InputQuestion:
    """The reader's value of an input."""
    return InputQuestion(asked.id, server, asked.description, asked.default, asked.password, asked.options)


def defined(server: EntryModel, folder: Path) -> Definition:
    """The reader's value of an entry: references in braces, roots as URIs."""
    options = ServerOptions(
        era=server.era or None,
        protocol=server.protocol or None,
        timeout=server.timeout,
        roots=tuple(root_uri(root, folder) for root in server.roots or ()),
        client=server.client or "",
        extensions=server.extensions or {},
    )
    if server.kind == "stdio":
        return Definition(
            kind="stdio",
            command=server.words,
            env=values(server.env),
            env_file=server.env_file or "",
            cwd=server.cwd or "",
            options=options,
        )
    declared = server.type or server.transport
    return Definition(
        kind="http",
        url=(server.url or "").strip(),
        headers=tuple(values(server.headers).items()),
        transport="sse" if declared == "sse" else "auto" if declared in (None, "auto", "remote") else "http",
        proxy=server.proxy or None,
        verify=server.verify is not False,
        options=options,
        auth=login(server.auth),
    )


def values(given: dict[str, Any] | None) -> dict[str, str]:
    return {
        name: (value.value or "").replace("${", "$${") if isinstance(value, ValueModel) else reference(value)
        for name, value in (given or {}).items()
    }


def reference(text: str) -> str:
    return f"${{{text}}}" if re.match("(env|file|keyring):", text) else text


def login(auth: AuthModel | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in auth.model_dump(by_alias=True, exclude_none=True).items() if auth else ():
        option = login_entry.KEYS[key]
        where = isinstance(value, str) and len(value.partition(":")[2]) > 0 and reference(value) != value
        plain = "://" in str(value) and option not in login_entry.SECRETS
        found[option] = reference(value) if where and not plain else value
    return found


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


def written(found: set[str], content: Any) -> list[Any]:
    """`content`, once, if JSON can hold it."""
    try:
        text = json.dumps(content)
    except (TypeError, ValueError):
        return []
    new = text not in found
    found.add(text)
    return [json.loads(text)] if new else []


def allows(name: str, content: Any) -> bool:
    """Whether the published schema allows `content`. The validator takes no lone surrogates; it gets another sign."""
    plain = json.loads(re.sub(LONE_SURROGATE, "x", json.dumps(content, ensure_ascii=False)))
    return jsonschema_rs.validator_for(SCHEMAS[name]).is_valid(plain)


def is_stricter_schema(file: Any) -> bool:
    """Whether the schema deliberately refuses a value that the readers accept or ignore."""
    servers = [file[key] for key in ("servers", "mcpServers") if isinstance(file.get(key), dict)]
    types = [entry.get(key) for each in servers for entry in each.values() for key in ("type", "transport")]
    spelled = any(isinstance(each, str) and each != each.strip().casefold() for each in types)
    return "inputs" in file or spelled or (len(servers) == 2 and bool(set(servers[0]) & set(servers[1])))


@pytest.mark.slow
def test_every_example_of_the_pages_and_the_tests_means_the_same(tmp_path: Path) -> None:
    settings = {*WRONG, "$schema"}
    seen: set[str] = set()
    servers: dict[bool, int] = {True: 0, False: 0}
    kept: dict[bool, int] = {True: 0, False: 0}
    for content in (each for literal in literals() if isinstance(literal, dict) for each in written(seen, literal)):
        names = set(content)
        files_of_servers = [content] if names & {"servers", "mcpServers"} else []
        if names & {"command", "url"}:
            files_of_servers.append({"servers": {"a": content}})
        for file in files_of_servers:
            accepted = same_servers(tmp_path / "inspector.json", file)
            assert not accepted or allows("servers", file) or is_stricter_schema(file), file
            servers[accepted] += 1
        if names & settings:
            accepted = same_settings(tmp_path / "settings.json", content)
            assert not accepted or allows("settings", content), content
            kept[accepted] += 1
    assert min(servers.values()) > 30, servers
    assert min(kept.values()) > 5, kept


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, each in WRONG.items() for value in each])
def test_a_wrong_setting_is_refused_by_both(name: str, value: Any, tmp_path: Path) -> None:
    assert not same_settings(tmp_path / "settings.json", {name: value})


def test_an_editor_may_find_its_schema(tmp_path: Path) -> None:
    assert same_settings(tmp_path / "settings.json", {"$schema": "./settings.schema.json"})
    assert same_servers(tmp_path / "inspector.json", {"$schema": "./servers.schema.json", "servers": {}})


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
def test_both_decide_the_same_at_the_edges(content: Any, accepted: bool, tmp_path: Path) -> None:
    assert same_servers(tmp_path / "inspector.json", content) == accepted


# Any file of the shape, whole or with one fault


def of_schema(schema: Any, definitions: Any) -> st.SearchStrategy[Any]:
    """Values that a schema of ours allows."""

    def inner(part: Any) -> st.SearchStrategy[Any]:
        return of_schema(part, definitions)

    if "$ref" in schema:
        return inner(definitions[schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return st.one_of([inner(each) for each in schema["anyOf"]])
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
            told = [each for each in schema.get("examples", ()) if isinstance(each, str)]
            if "pattern" in schema:
                return st.from_regex(schema["pattern"], fullmatch=True)
            return st.text(max_size=8) | st.sampled_from([*TEXTS, *told])
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
def test_settings_of_the_shape_are_accepted_by_both(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    assert same_settings(tmp_path_factory.getbasetemp() / "settings.json", content)


@given(SETTINGS.flatmap(broken))
def test_settings_with_one_fault_mean_the_same(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    if isinstance(content, dict):
        same_settings(tmp_path_factory.getbasetemp() / "settings.json", content)


@given(SERVERS)
def test_servers_of_the_shape_mean_the_same(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    same_servers(tmp_path_factory.getbasetemp() / "inspector.json", content)


@given(SERVERS.flatmap(broken))
def test_servers_with_one_fault_mean_the_same(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    if isinstance(content, dict):
        same_servers(tmp_path_factory.getbasetemp() / "inspector.json", content)

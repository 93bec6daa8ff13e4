"""YAML and JSON of other programs: the same limits in each reader, with both loaders of PyYAML."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import inspector
from inspector import documents
from inspector.calls import yaml_text
from inspector.documents import DocumentError, read_json, read_yaml
from inspector.errors import InspectorError
from inspector.features.api_clients import collections as saved_requests
from inspector.features.api_clients import saved_calls as flows
from inspector.features.api_clients.saved_calls import import_calls, recognised_client
from inspector.features.skills.verify import FrontMatterError, read_front_matter
from inspector.redact.rules import read_rules
from inspector.tui.themes import read_theme
from tests.bad_input.test_damaged_documents import damaged_text

BOMB = "\n".join(
    ["a0: &a0 [x,x,x,x,x,x,x,x,x]", *(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)), ""]
)


@pytest.fixture(params=["C", "Python"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both loaders of PyYAML."""
    if request.param == "Python":
        monkeypatch.setattr(documents, "_LOADER", yaml.SafeLoader)
    return str(request.param)


READERS: dict[str, Callable[[Path], Any]] = {
    "importers": saved_requests.read_yaml,
    "rules": lambda path: read_rules([], [path]),
    "theme": read_theme,
    "saved calls": yaml_text.read_yaml,
    "front matter": lambda path: read_front_matter(b"---\n" + path.read_bytes() + b"---\n"),
}


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    "text", [BOMB, "a: " + "[" * 800 + "\n", "a: " + "{b: " * 300 + "\n"], ids=["bomb", "lists", "maps"]
)
def test_no_reader_of_yaml_builds_a_bomb(reader: Callable[[Path], Any], text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises((InspectorError, FrontMatterError), match=r"(?i)anchors|deeper than 100 levels"):
        reader(path)


GOOD = b"""type: collection.insomnia.rest/5.0
name: Shop
"ink": "#aabbcc"
list: [1, 2.5, true, null, 'it''s', {a: |-
  x
}]
rules:
- name: key
  pattern: "k-[0-9]+"
text: >
  folded
  text
"""


@given(damaged_text(GOOD), st.sampled_from(sorted(READERS)))
def test_damaged_yaml_is_read_or_refused(text: bytes, reader: str) -> None:
    """Both loaders of PyYAML read the same, but for a tab inside a plain text, which libyaml accepts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.yaml")
        path.write_bytes(text)
        with suppress(InspectorError, FrontMatterError):
            READERS[reader](path)
    read = []
    for loader in (documents._LOADER, yaml.SafeLoader):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(documents, "_LOADER", loader)
            try:
                read.append(json.dumps(read_yaml(text.decode("utf-8", "replace"))))
            except DocumentError:
                read.append("refused")
    assert read[0] == read[1] or (b"\t" in text and read[1] == "refused")


@pytest.mark.usefixtures("loader")
def test_an_import_says_why_a_collection_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("type: collection.insomnia.rest/5.0\n" + BOMB)
    with pytest.raises(InspectorError, match=r"uses anchors, which are not read \(line 2\)"):
        recognised_client(path)


def test_yaml_is_composed_nowhere_else() -> None:
    """The exceptions read a text that `read_yaml` of saved calls has read before."""
    allowed = {"calls/writing.py": 2}
    folder = Path(inspector.__file__).parent
    counts = {
        path.relative_to(folder).as_posix(): len(matches)
        for path in folder.rglob("*.py")
        if (matches := re.findall(r"\byaml\.(?:\w*load\w*|compose\w*|scan)\(", path.read_text()))
    }
    assert counts == allowed


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("text", "value"),
    [("", None), ("# c", None), ("no", "no"), ("2026-01-01", "2026-01-01"), ("0x1F", 31), ("1e3", 1000.0), ("~", None),
     ("a: {1: x, ~: y}", {"a": {"1": "x", "~": "y"}}), ("- '1'\n- ! 1", ["1", "1"]), ("1" * 401, "1" * 401)],
)  # fmt: skip
def test_values_of_yaml(text: str, value: Any) -> None:
    assert read_yaml(text) == value


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("a: &x 1", "uses anchors", 1), ("a: !!str 1", "uses tags", 1), ("a: !!python/object:os.system x", "tags", 1),
        ("a: 1\nb: 2\na: 3", "'a' twice", 3), ("a: 1\n---\nb: 1", "several YAML documents", 2), ("a: ]", "not valid", 1),
        ("? [a]\n: 1", "key that is not a text", 1), ("a: .nan", "not a JSON number", 1), ("a: 1e999", "too large", 1),
        ("[" + "1," * 50 + "]", "more than 50 values", 1), ("a: \x01", "not valid YAML", 0), ("a: \ud800", "YAML", 0),
    ],
)  # fmt: skip
def test_yaml_that_is_refused(text: str, problem: str, line: int) -> None:
    with pytest.raises(DocumentError, match=problem) as caught:
        read_yaml(text, values=50)
    assert caught.value.line == line


def test_levels_and_uses_of_anchors_are_counted() -> None:
    assert read_yaml("[" * 100 + "]" * 100)
    with pytest.raises(DocumentError, match="deeper than 100 levels"):
        list(documents.yaml_events("[" * 102 + "]" * 102))
    text = "- &a x\n" + "- *a\n" * 3
    assert len([*documents.yaml_events(text, aliases=3)]) == 10
    with pytest.raises(DocumentError, match="uses anchors more than 2 times"):
        list(documents.yaml_events(text, aliases=2))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON"), ("", "not JSON"), ('{"a": 1, "b": 2, "a": 3}', "'a' twice"), ("[NaN]", "not a JSON number"),
        ("[" * 102 + "]" * 102, "deeper"), ('{"a":' * 150 + "1" + "}" * 150, "deeper"), ("[" * 200_000, "deeper"),
    ],
)  # fmt: skip
def test_json_that_is_refused(text: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        read_json(text)


def test_json_of_100_levels_is_read() -> None:
    assert read_json("[" * 101 + "]" * 101)
    assert read_json('{"a": [1, {"b": null}]}') == {"a": [1, {"b": None}]}


def test_variables_inside_variables_do_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flows, "MAX_INSERTED", 1 << 20)
    variables = [{"key": "a0", "value": "x" * 20}]
    variables += [{"key": f"a{n}", "value": f"{{{{a{n - 1}}}}}" * 10} for n in range(1, 9)]
    body = {"mode": "raw", "raw": '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'}
    path = tmp_path / "c.json"
    path.write_text(
        json.dumps(
            {
                "info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
                "variable": variables,
                "item": [{"request": {"method": "POST", "url": "http://h/{{a8}}", "body": body}}],
            }
        )
    )
    with pytest.raises(InspectorError, match="larger than 1 MiB, inserted into each other"):
        import_calls(path, tmp_path / "calls", "postman")
    assert not (tmp_path / "calls").exists()


def test_only_scalars_become_text() -> None:
    value = [{"name": "a", "value": ["x"]}, {"name": "b", "value": True}, {"name": "c"}, {"name": "d", "value": 1.5}]
    assert saved_requests.fields(value) == (("a", ""), ("b", "true"), ("c", ""), ("d", "1.5"))

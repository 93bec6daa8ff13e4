"""Environments: what is a text, what names the place of a secret, and whose files may read one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.calls.environments import SOURCES, environment_schema, environment_text, in_effect, read_environment
from inspector.calls.yaml_text import CallsError, read_yaml
from inspector.config.expand import Reference
from inspector.protocol.validation import Validator
from tests.processes import ROOT

SCHEMA = Validator(json.loads((ROOT / "docs" / "schemas" / "environment.schema.json").read_text(encoding="utf-8")))
SECRET = "s3cr3t-of-the-user"


def written(folder: Path, text: str, name: str = "x") -> Path:
    path = folder / "env" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,9}", fullmatch=True),
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(st.characters(codec="utf-8"), max_size=8)
        | st.builds(str.__add__, st.sampled_from(SOURCES), st.text(st.characters(codec="utf-8"), max_size=8)),
        max_size=5,
    )
)
def test_every_value_that_is_written_is_read_as_this_value(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]
) -> None:
    path = written(tmp_path_factory.getbasetemp(), environment_text(values))
    environment = read_environment(path)
    assert environment.values == values
    assert environment.references == {}
    assert SCHEMA.errors(read_yaml(path).value or {}) == []


def test_only_a_named_reference_is_written_as_one(tmp_path: Path) -> None:
    text = environment_text({"a": "env:HOME", "b": "env:SHOP_TOKEN", "c": "{{x}}"}, {"b"}, comment="One.")
    assert text == '# One.\na: {text: "env:HOME"}\nb: env:SHOP_TOKEN\nc: "{{x}}"\n'
    environment = read_environment(written(tmp_path, text))
    assert (environment.values, environment.references) == ({"a": "env:HOME", "c": "{{x}}"}, {"b": "env:SHOP_TOKEN"})
    assert environment.names == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("env:A", True), ("{text: 'env:A'}", True), ("{text: ''}", True), ("1", True), ("true", True), ("null", True),
        ("{text: 1}", False), ("{text: a, more: b}", False), ("{env: A}", False), ("{}", False), ("[a]", False),
        ("{text: {text: a}}", False),
    ],
)  # fmt: skip
def test_the_schema_and_the_reader_accept_the_same(tmp_path: Path, value: str, fits: bool) -> None:
    path = written(tmp_path, f"a: {value}\n")
    assert (SCHEMA.errors(read_yaml(path).value) == []) is fits
    if fits:
        read_environment(path)
        return
    with pytest.raises(CallsError, match=r"x\.yaml:1:4: The value of “a” is not a string, number, true or false"):
        read_environment(path)


def test_the_published_schema_is_that_of_the_reader() -> None:
    published = ROOT / "docs" / "schemas" / "environment.schema.json"
    assert json.loads(published.read_text(encoding="utf-8")) == environment_schema()


def test_a_later_environment_and_given_values_win_also_over_references(tmp_path: Path) -> None:
    one = read_environment(written(tmp_path, "a: env:A\nb: env:B\nc: 1\nd: env:D\n", "one"))
    two = read_environment(written(tmp_path, "b: plain\nc: env:C\n", "two"))
    values, secret = in_effect([one, two], {"d": "given"})
    assert values == {"b": "plain", "d": "given"}
    assert secret == {"a": one, "c": two}


def test_a_file_of_a_folder_reads_only_what_was_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    (tmp_path / ".git").mkdir()
    (tmp_path / "vault").write_text(SECRET)
    path = written(tmp_path, "a: env:AWS_SECRET_ACCESS_KEY\nb: file:../vault\nc: keyring:vault/me\n")
    environment = read_environment(path)
    assert not environment.owned
    for name in "abc":
        with pytest.raises(CallsError, match="You did not allow this file to use"):
            environment.read(name)
    environment.allowed |= {environment.reference("b")}
    assert environment.read("b") == SECRET
    (tmp_path / "other").write_text("other")
    (tmp_path / "vault").unlink()
    (tmp_path / "vault").symlink_to("other")
    with pytest.raises(CallsError, match="You did not allow"):
        environment.read("b")
    (tmp_path / ".git").rmdir()
    mine = read_environment(path)
    assert mine.owned
    assert mine.read("a") == SECRET
    assert mine.reference("a") == Reference("variable", "AWS_SECRET_ACCESS_KEY")


@pytest.mark.parametrize("folder", ["", "below"])
def test_a_folder_in_which_the_user_is_does_not_make_its_files_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "project" / "below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "home" / "project")
    assert not read_environment(written(Path.cwd() / folder, "a: env:A\n")).owned
    assert read_environment(written(tmp_path / "home", "a: env:A\n")).owned
    monkeypatch.chdir(tmp_path / "home")
    assert read_environment(written(tmp_path / "home" / "project", "a: env:A\n")).owned

"""Rules as they are typed, and as they stand in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.config.token_patterns import NAMES
from inspector.errors import UsageError
from inspector.redact.rules import read_rules


def test_without_rules_everything_ordinary_is_searched() -> None:
    assert read_rules().names == set(NAMES) - {"email", "home"}


def test_names_switch_on_and_off() -> None:
    rules = read_rules(["email", "no-entropy", "no-url"])
    assert "email" in rules.names
    assert not {"entropy", "url"} & rules.names
    assert {shape.name for shape in rules.shapes} == rules.names - {"named"}


def test_paths_patterns_and_texts() -> None:
    rules = read_rules(["$.a", "/x(y+)/", "/Z+/i", "=a.b"])
    assert [name for name, _ in rules.paths] == ["$.a"]
    patterns = dict(rules.patterns)
    assert patterns["/Z+/i"].search("zz")
    assert patterns["/x(y+)/"].search("xyy")
    assert patterns["=a.b"].search("a.b")
    assert not patterns["=a.b"].search("axb")


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        "shapes: {email: true, entropy: false}\n"
        "rules:\n  - $..pin\n  - {path: $.params.arguments.iban, name: bank}\n"
        "  - {pattern: 'ACME-\\d+'}\n  - {text: Ada Lovelace, name: a person}\n"
    )
    rules = read_rules(["no-url"], [file])
    assert "email" in rules.names
    assert not {"entropy", "url"} & rules.names
    assert [name for name, _ in rules.paths] == ["$..pin", "bank"]
    assert [name for name, _ in rules.patterns] == [r"ACME-\d+", "a person"]


@pytest.mark.parametrize(
    "word", ["", "nope", "no-nope", "/", "//", "/(/", "/a*/", "=", "$", "$[", "/" + "(" * 2000 + "/"]
)
def test_what_is_not_a_rule_is_refused(word: str) -> None:
    with pytest.raises(UsageError):
        read_rules([word])


@pytest.mark.parametrize(
    "text",
    [
        "- a\n", "rules: 3\n", "shapes: [email]\n", "shapes: {nope: true}\n", "shapes: {email: 1}\n", "other: {}\n",
        "rules: [{path: $.a, text: b}]\n", "rules: [{name: x}]\n", "rules: [{path: 3}]\n", "rules: [[1]]\n",
        "a: [\n", "rules: &a [*a]\n", "\x00", "[" * 400, "rules: [{pattern: '('}]\n",
    ],
)  # fmt: skip
def test_a_file_that_holds_no_rules_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text)
    with pytest.raises(UsageError):
        read_rules([], [file])


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large").write_text("#" * ((1 << 20) + 1))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("none", "large", "binary", "."):
        with pytest.raises(UsageError):
            read_rules([], [tmp_path / name])


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("rules:\nshapes:\n")
    assert read_rules([], [tmp_path / "rules.yaml"]).names == read_rules().names

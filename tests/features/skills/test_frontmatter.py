"""The front matter of a SKILL.md: fences, values of YAML 1.2, and what hostile YAML becomes."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.features.skills.verify import FrontMatterError, differences, read_front_matter
from tests.features.skills.conftest import FRONT, SKILL_MD


def values(text: str) -> dict[str, Any]:
    return read_front_matter(f"---\n{text}\n---\n".encode()).values


def test_the_front_matter_and_the_body() -> None:
    front = read_front_matter(SKILL_MD)
    assert front.values == FRONT
    assert front.body == "Read [the rules](references/RULES.md) first.\n"


def test_crlf_and_a_byte_order_mark_are_read() -> None:
    assert read_front_matter(SKILL_MD.replace(b"\n", b"\r\n")).values == FRONT
    front = read_front_matter(b"\xef\xbb\xbf" + SKILL_MD)
    assert front.values == FRONT
    assert "byte order mark" in front.note


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-01-01", "2026-01-01"), ("no", "no"), ("on", "on"), ("1:30", "1:30"), ("0777", 777), ("0o17", 15),
        ("0x1F", 31), ("1_000", "1_000"), ("1.4", 1.4), ("1e3", 1000.0), ("2.0.1", "2.0.1"), ("~", None), ("true", True),
        ("'true'", "true"), ("[a, 1, {b: []}]", ["a", 1, {"b": []}]), ("<<", "<<"),
    ],
)  # fmt: skip
def test_values_are_those_of_the_core_schema(text: str, value: Any) -> None:
    parsed = values(f"x: {text}")
    assert parsed == {"x": value}
    assert type(parsed["x"]) is type(value)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "does not begin"), (b"# Title\n", "does not begin"), (b" ---\n---\n", "does not begin"),
        (b"---\nname: x\n", "does not end"), (b"---\n- a\n---\n", "not a mapping"), (b"---\n---\n", "not a mapping"),
        (b"---\nname: [x\n---\n", "not valid YAML"), (b"---\na: 1\na: 2\n---\n", "twice"),
        (b"---\na: !!python/object:os.system x\n---\n", "tags"), (b"---\na: !!binary AAAA\n---\n", "tags"),
        (b"---\na: &x [1]\nb: *x\n---\n", "anchors"), (b"---\na: .nan\n---\n", "not a JSON number"),
        (b"---\na: 1\n...\nb: 2\n---\n", "YAML"), (b"---\n? [a]\n: 1\n---\n", "key that is not a text"),
        (b"---\n\xff\xfe\x00\n---\n", "not UTF-8"), (b"---\na: " + b"[" * 200 + b"]" * 200 + b"\n---\n", "100 levels"),
        (b"---\na: [" + b"1," * 30_000 + b"]\n---\n", "20,000 values"), (b"---\n" + b"# x\n" * 300_000 + b"---\n", "longer"),
        (b"\x89PNG\r\n\x1a\n" * 10, "does not begin"), (b"---\na: 1e999\n---\n", "too large"),
    ],
    ids=range(20),
)  # fmt: skip
def test_front_matter_that_is_not_read(data: bytes, reason: str) -> None:
    with pytest.raises(FrontMatterError, match=reason):
        read_front_matter(data)


def test_a_bomb_of_anchors_is_refused_at_its_first_anchor() -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"] + [
        f"{chr(98 + n)}: &{chr(98 + n)} [{f'*{chr(97 + n)},' * 9}]" for n in range(8)
    ]
    with pytest.raises(FrontMatterError, match="anchors"):
        values("\n".join(lines))


@pytest.mark.parametrize(
    ("entry", "actual", "place"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, "/b is only in the file"), ({"a": 1, "b": 2}, {"a": 1}, "/b is only in the list"),
        ({"a": "1"}, {"a": 1}, "/a is"), ({"a": True}, {"a": 1}, "/a is"), ({"a": ["x"]}, {"a": "x"}, "/a is"),
        ({"a": [1, 2]}, {"a": [2, 1]}, "/a/0 is"), ({"a": {"b": None}}, {"a": {"b": ""}}, "/a/b is"),
    ],
)  # fmt: skip
def test_differences_are_named_by_their_place(entry: Any, actual: Any, place: str) -> None:
    assert any(place in difference for difference in differences(entry, actual))


def test_the_order_of_keys_and_the_form_of_a_number_do_not_count() -> None:
    assert differences({"a": 1, "b": 2.0}, {"b": 2, "a": 1.0}) == []


def test_many_differences_are_limited() -> None:
    assert len(differences({str(n): 1 for n in range(10_000)}, {})) == 50

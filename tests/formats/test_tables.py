"""CSV: a row an exchange."""

from __future__ import annotations

import csv
import io

import pytest

from inspector.formats.csv_table import cell
from tests.formats.journals import SESSION, call, exported, live, opened, result


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_an_exchange_is_a_row_with_its_latency() -> None:
    by_number = {row["n"]: row for row in rows(exported(opened(SESSION), "csv"))}
    assert (by_number["6"]["method"], by_number["6"]["answer"], by_number["6"]["state"]) == ("tools/list", "7", "done")
    assert by_number["6"]["duration_ms"] == "12.345"
    asked = next(row for row in by_number.values() if row["dir"] == "recv")
    assert (asked["method"], asked["inside"]) == ("sampling/createMessage", "9")
    assert by_number["9"]["questions"] == "1"


def test_an_exchange_is_chosen_by_its_request_or_its_answer() -> None:
    journal = opened(SESSION)
    assert [row["n"] for row in rows(exported(journal, "csv", [7]))] == ["6"]
    assert [row["n"] for row in rows(exported(journal, "csv", [6]))] == ["6"]
    assert rows(exported(journal, "csv", [1])) == []


def test_errors_are_reported_in_the_row() -> None:
    journal = live()
    call(journal, 1, "a", {}, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"=no"}}')
    call(journal, 2, "b", {}, result(2, {"isError": True, "content": [{"type": "image"}, {"text": "on fire"}]}))
    call(journal, 3, "c", {}, None)
    errors = [(row["state"], row["error_code"], row["error"]) for row in rows(exported(journal, "csv"))]
    assert errors == [("error", "-32601", "'=no"), ("error", "isError", "on fire"), ("pending", "", "")]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\t=1", "＝1", " =1"])
def test_no_text_becomes_a_formula(text: str) -> None:
    assert str(cell(text)).startswith("'")


@pytest.mark.parametrize(("value", "expected"), [(-7, -7), ("a=b", "a=b"), (None, ""), (2**70, str(2**70)), (" ", " ")])
def test_other_values_stay_as_they_are(value: object, expected: object) -> None:
    assert cell(value) == expected

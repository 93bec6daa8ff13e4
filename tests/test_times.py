"""Times in foreign data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.times import parse_time


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Tokyo"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_time_has_a_zone() -> None:
    assert parse_time("2026-11-22T08:00:00Z") == datetime(2026, 11, 22, 8, tzinfo=UTC)
    assert parse_time("2026-11-22T10:00:00+02:00") == datetime(2026, 11, 22, 8, tzinfo=UTC)
    assert parse_time("2026-11-22T08:00:00") == datetime(2026, 11, 22, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "value", [None, 7, "", "soon", "2026-13-01", "x" * 10_000, "0000-01-01", [], "2026-01-01T25:00"]
)
def test_what_is_not_a_time(value: object) -> None:
    assert parse_time(value) is None


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("text", [
    "0001-01-01T00:00:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59", "9999-12-31T23:59:59-23:59",
    "9999-12-31T23:59:59Z",
])  # fmt: skip
def test_every_time_exists_in_every_zone(text: str) -> None:
    parsed = parse_time(text)
    assert parsed is not None
    assert parsed.astimezone().astimezone(UTC) == parsed


@given(st.text(max_size=30) | st.datetimes(timezones=st.timezones()).map(datetime.isoformat))
@example("0001-01-01T00:00:00-00:00:00.000001")
def test_any_text_is_a_time_or_none(text: str) -> None:
    parsed = parse_time(text)
    assert parsed is None or parsed.astimezone(UTC) == parsed

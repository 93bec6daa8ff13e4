"""Every kind of recording that any version has written is read by this one, and says what it said then."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from inspector.config.paths import RECORDING_SUFFIX
from inspector.formats import export
from inspector.journal.journal import Journal
from tests.formats.journals import opened
from tests.recordings.kinds import FOLDER, facts

RECORDINGS = sorted(FOLDER.glob(f"*{RECORDING_SUFFIX}"))
NAMES = [path.name.removesuffix(RECORDING_SUFFIX) for path in RECORDINGS]
MAX_SIZE = 60_000


def expected(path: Path) -> Any:
    return json.loads(
        path.with_name(f"{path.name.removesuffix(RECORDING_SUFFIX)}.facts.json").read_text(encoding="utf-8")
    )


def test_there_is_one_of_each_kind() -> None:
    assert {
        "stdio-legacy", "stdio-modern", "http-json", "http-legacy", "http-modern", "http-resumed", "http-sse", "sampling",
        "auth", "tap", "mock", "rerun", "hostile", "torn", "newer", "unknown-kind", "empty", "marks",
    } <= set(NAMES)  # fmt: skip
    assert len(list(FOLDER.iterdir())) == 2 * len(NAMES)


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_it_says_what_it_said_when_it_was_made(path: Path) -> None:
    assert facts(path) == expected(path)


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
@pytest.mark.parametrize("format", ["json", "md", "recording"])
def test_it_is_exported(path: Path, format: str) -> None:
    journal = opened(path)
    file = io.StringIO()
    export(journal, format, file)
    journal.release()
    assert file.getvalue()


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_it_is_small_and_tells_nothing_of_who_made_it(path: Path) -> None:
    data = path.read_bytes()
    assert len(data) < MAX_SIZE
    assert str(Path(__file__).parents[2]).encode() not in data
    assert b"/root" not in data
    assert b"/tmp/" not in data


def named(name: str) -> Journal:
    return opened(FOLDER / f"{name}{RECORDING_SUFFIX}")


def said(name: str, kind: str, key: str) -> list[Any]:
    return [event.fields.get(key) for event in named(name).events() if event.kind_name == kind]


def test_each_holds_what_it_is_for() -> None:
    assert {expected(FOLDER / f"{name}{RECORDING_SUFFIX}")["era"] for name in ("stdio-modern", "http-modern")} == {
        "modern"
    }
    assert "reconnect" in said("http-resumed", "life", "event")
    assert "endpoint" in said("http-sse", "sse", "event")
    assert "challenge" in said("auth", "auth", "step")
    assert any(
        "sampling/createMessage" in line for line in expected(FOLDER / f"sampling{RECORDING_SUFFIX}")["messages"]
    )
    assert any(event.data is not None for event in named("hostile").events())
    assert expected(FOLDER / f"torn{RECORDING_SUFFIX}")["torn"] is True
    assert expected(FOLDER / f"newer{RECORDING_SUFFIX}")["notices"]

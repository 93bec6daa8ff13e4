"""The parts of logins: their times, who acts, and how they end."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.journal.durations import OPEN, LoginPart, LoginParts
from tests.tui.recorded_conversation import Talk


def parts_of(talk: Talk) -> list[LoginPart]:
    stepwise = LoginParts(talk.journal)
    for last in range(len(talk.journal) + 1):  # the parts do not depend on how many events are read at once
        stepwise.advance(last)
    at_once = LoginParts(talk.journal)
    at_once.advance(len(talk.journal))
    assert stepwise.parts == at_once.parts
    return stepwise.parts


def step(talk: Talk, at: float, name: str, ok: bool = True, **facts: Any) -> int:
    return talk.at(at).journal.record_auth(name, ok, "", facts=facts)


def short(parts: list[LoginPart]) -> list[tuple[str, int, int]]:
    return [(part.name, part.begin // 1000, part.end // 1000) for part in parts]


def login(talk: Talk, start: float) -> None:
    step(talk, start, "challenge")
    for ms, name in ((5, "fetch"), (6, "resource"), (7, "server"), (9, "fetch"), (10, "metadata"), (11, "scope")):
        step(talk, start + ms, name, ms=1)
    step(talk, start + 14, "fetch", ms=3)
    step(talk, start + 15, "registration")
    step(talk, start + 16, "authorize")
    step(talk, start + 5000, "callback")
    step(talk, start + 5008, "fetch", ms=6)
    step(talk, start + 5010, "token")


def test_a_login_has_four_parts_and_the_browser_is_the_persons() -> None:
    talk = Talk()
    login(talk, 100)
    parts = parts_of(talk)
    assert short(parts) == [
        ("discovery", 100, 111), ("registration", 111, 115), ("browser", 116, 5100), ("token", 5100, 5110)
    ]  # fmt: skip
    assert [part.is_persons for part in parts] == [False, False, True, False]
    assert not any(part.failed for part in parts)


def test_a_login_and_a_refresh_begin_with_their_first_request() -> None:
    talk = Talk()
    login(talk, 0)
    step(talk, 9000, "fetch", ms=40)
    step(talk, 9001, "refresh")
    login(talk, 20_000)
    parts = short(parts_of(talk))
    assert parts[4] == ("refresh", 8961, 9001)
    assert parts[5] == ("discovery", 20_000, 20_011)
    assert len(parts) == 9


def test_a_browser_is_open_until_the_person_returns_or_the_connection_fails() -> None:
    talk = Talk()
    step(talk, 0, "challenge")
    step(talk, 10, "authorize")
    assert parts_of(talk)[-1].end == OPEN
    talk.at(300).journal.record_life("", "note", text="something else")
    assert parts_of(talk)[-1].end == OPEN
    talk.at(60_000).journal.record_life("", "failed", error={"message": "Nobody came back."})
    last = parts_of(talk)[-1]
    assert (last.name, last.end, last.failed) == ("browser", 60_000_000, True)


def test_a_refused_login_fails_in_its_part() -> None:
    talk = Talk()
    step(talk, 0, "challenge")
    step(talk, 10, "authorize")
    step(talk, 2000, "callback", ok=False)
    step(talk, 9000, "challenge")
    step(talk, 9010, "metadata", ok=False)
    parts = [(part.name, part.failed) for part in parts_of(talk)]
    assert parts == [("discovery", False), ("browser", True), ("discovery", True)]


def test_a_device_code_waits_for_a_person() -> None:
    talk = Talk()
    step(talk, 0, "challenge")
    step(talk, 10, "device")
    step(talk, 8000, "token")
    assert [(part.name, part.is_persons) for part in parts_of(talk)][1:] == [("device code", True), ("token", False)]


@pytest.mark.parametrize("ms", [float("1e300"), -5, "soon", None, [1], True])
def test_hostile_facts_and_repeated_steps_are_no_parts(ms: Any) -> None:
    talk = Talk()
    step(talk, 50, "fetch", ms=ms)
    step(talk, 60, "metadata")
    step(talk, 70, "metadata", again=2)
    step(talk, 80, "something else")
    talk.at(90).journal.record_auth(["challenge"], True, "")  # type: ignore[arg-type]
    parts = parts_of(talk)
    assert [(part.name, part.end) for part in parts] == [("discovery", 60_000)]
    assert 0 <= parts[0].begin <= 60_000

"""The app survives the loss of its terminal."""

from __future__ import annotations

import os
import pty
from contextlib import suppress

import pytest
from textual import events
from textual._xterm_parser import XTermParser

from inspector.client.options import Options
from inspector.config.settings import Settings
from inspector.tui.app import InspectorApp
from inspector.tui.driver import TerminalOutput


def test_what_is_written_to_a_closed_window_goes_nowhere() -> None:
    ours, theirs = pty.openpty()
    terminal = os.fdopen(theirs, "w")
    output = TerminalOutput(terminal)
    output.write("seen")
    output.flush()
    assert os.read(ours, 10) == b"seen"
    os.close(ours)
    with pytest.raises(OSError, match="Input/output error"):
        os.write(theirs, b"x")
    for _ in range(100):
        output.write("x" * 1000)
        output.flush()
    with suppress(OSError):  # what it holds back
        terminal.close()


async def test_the_interface_writes_so() -> None:
    app = InspectorApp(None, Options(), Settings())
    driver = app.driver_class(app)
    assert isinstance(driver._file, TerminalOutput)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("typed", "key", "character"), [("\x1bs", "alt+s", None), ("\x1bS", "alt+shift+s", None), ("s", "s", "s")]
)
async def test_a_letter_with_alt_is_a_key_and_not_text(
    typed: str, key: str, character: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = InspectorApp(None, Options(), Settings())
    driver = app.driver_class(app)
    sent: list[events.Key] = []
    monkeypatch.setattr(driver, "send_message", sent.append)
    parser = XTermParser()
    for message in (*parser.feed(typed), *parser.feed("")):
        driver.process_message(message)
    assert [(event.key, event.character, event.is_printable) for event in sent] == [(key, character, bool(character))]

"""Signals that end a command."""

from __future__ import annotations

import os
import signal

import pytest

from inspector.cli import signals
from inspector.cli.signals import Signals


async def test_a_second_signal_ends_what_blocks_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "_BLOCKED", -1.0)
    killed: list[bool] = []
    caught = Signals(lambda: killed.append(True))
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        assert caught.caught == 0, "the loop has not run"
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        assert killed == [True]
    finally:
        caught.remove()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL

"""Memory of what is no longer there."""

from __future__ import annotations

import gc
import platform
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from textual._styles_cache import StylesCache
from textual.app import App, ComposeResult
from textual.widgets import Static

from inspector.client.options import Options
from inspector.config.settings import Settings
from inspector.tui import memory
from inspector.tui.app import InspectorApp
from inspector.tui.memory import IdleCollector, forget_removed_widgets

LARGE_BLOCKS = """
from inspector.system.files import return_freed_memory
pins = []
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20
def come_and_go():
    texts = []
    for _ in range(5):
        texts.append(b"x" * (9 << 20))
        pins.append(bytearray(200_000))  # What is kept beside a large block holds it in the heap.
block = b"x" * (30 << 20)
del block  # From now on glibc keeps blocks up to this size.
if {called}:
    return_freed_memory()
before = resident()
come_and_go()
print(resident() - before)
"""
"""A program that prints by how many megabytes it grew."""


def has_glibc() -> bool:
    return sys.platform == "linux" and platform.libc_ver()[0] == "glibc"


@pytest.mark.slow
@pytest.mark.skipif(not has_glibc(), reason="another C library")
@pytest.mark.parametrize("called", [True, False])
def test_large_blocks_go_when_they_are_freed(called: bool) -> None:
    code = LARGE_BLOCKS.format(called=called)
    grown = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert (grown < 10) == called, "without it they stay: else this test would show nothing"


class Coming(App[None]):
    """An app whose widgets come and go."""

    CSS = "Static { background: red; }"

    def compose(self) -> ComposeResult:
        yield Static("stays")


@pytest.mark.slow
async def test_the_lines_of_removed_widgets_are_freed() -> None:
    app = Coming()
    lines: list[weakref.ref[StylesCache]] = []

    def kept() -> int:
        gc.collect()
        return sum(line() is not None for line in lines)

    async with app.run_test() as pilot:
        for at in range(40):
            widget = Static(f"here for now {at}")
            await app.mount(widget)
            await pilot.pause()
            lines.append(weakref.ref(widget._styles_cache))
            await widget.remove()
            await pilot.pause()
            del widget
        assert kept() == 40, "Textual frees them itself now: `forget_removed_widgets` can go."
        forget_removed_widgets()
        assert kept() <= 10, "Only those of the last arrangements, which Textual keeps for a moment."


class Clock:
    """The garbage collector and the time, as `IdleCollector` sees them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.counts = (0, 0, 0)
        self.full_takes = 0.0
        self.done: list[int | str] = []
        """Generations that were collected, and what else was freed."""
        monkeypatch.setattr(gc, "collect", self._collect)
        monkeypatch.setattr(gc, "get_count", lambda: self.counts)
        monkeypatch.setattr(memory, "monotonic", lambda: self.now)
        monkeypatch.setattr(memory, "forget_removed_widgets", lambda: self.done.append("widgets"))
        monkeypatch.setattr(memory, "return_freed_memory", lambda: self.done.append("returned"))

    def _collect(self, generation: int = 2) -> None:
        self.done.append(generation)
        if generation == 2:
            self.now += self.full_takes


def test_garbage_is_collected_while_no_key_is_pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    garbage = IdleCollector()
    clock.counts = (memory.YOUNG - 1, 9, 0)
    garbage.rest(9.0)
    assert not clock.done, "not for a few objects"
    clock.counts = (memory.YOUNG, 1, 0)
    garbage.rest(0.3)
    clock.counts = (memory.YOUNG, memory.OF_YOUNG, 1)
    garbage.rest(0.3)
    assert clock.done == [0, 1]


def test_all_objects_are_looked_at_in_the_short_rests_of_someone_who_presses_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    garbage = IdleCollector()
    clock.counts = (0, 0, 1)
    every = memory.FULL_EVERY + 1
    for waits, rest, looks, why in (
        (0, 0.3, 0, "not at once"),
        (every, 0.3, 1, "in a short rest"),
        (0, 9.0, 1, "not again at once"),
        (every, 0.4, 1, "it took longer than this rest"),
        (0, 0.6, 2, "as long as it took"),
        (3 * memory.FULL_EVERY, 0.3, 3, "one that took long, on a busy machine, is not the last"),
    ):
        clock.now += waits
        garbage.rest(rest)
        clock.full_takes = 0.5
        assert clock.done == ["widgets", 2, "returned"] * looks, why
    clock.now += every
    clock.counts = (0, 0, 0)
    garbage.rest(9.0)
    assert len(clock.done) == 9, "nothing has become old since"


def test_what_the_start_of_a_program_has_made_is_never_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[bool] = []
    usual = gc.get_threshold()
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 0))
    garbage = IdleCollector()
    garbage.rest(0.3)
    assert not frozen, "not in a process that has more than the program"
    garbage.keep_start()
    try:
        assert gc.get_threshold()[0] == memory.MANY, "the first screen does not wait for a collection"
        garbage.rest(0.3)
        assert gc.get_threshold() == usual
        garbage.rest(0.3)
        assert frozen == [True]
    finally:
        gc.set_threshold(*usual)


async def test_the_app_does_so_now_and_then(home: Path) -> None:
    app = InspectorApp(None, Options(), Settings())
    async with app.run_test():
        assert app._collect_at_rest in [timer._callback for timer in app._timers]

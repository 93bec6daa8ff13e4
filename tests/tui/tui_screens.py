"""Shared helpers of the interface's tests: a bare app with our themes, and a screen as plain text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from inspector.errors import ConfigError
from inspector.tui.key_order import KeysInOrder
from inspector.tui.theme_switch import ThemeSwitch
from inspector.tui.widgets.paint import Pieces
from tests.tui.idle import lines, wait_until

W = TypeVar("W", bound=Widget)
S = TypeVar("S", bound="Stage")


class Stage(KeysInOrder, App[None]):
    """An app that shows some widgets and remembers the messages that reach it."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *widgets: Widget, theme: str = "dark", ascii_only: bool = False, css: str = "") -> None:
        self.CSS = css  # type: ignore[misc]
        super().__init__()
        self.widgets = widgets
        self.ascii_only = ascii_only
        self.wanted_theme = theme
        self.problems: list[ConfigError] = []
        self.posted: list[Message] = []

    def compose(self) -> ComposeResult:
        yield from self.widgets

    def on_mount(self) -> None:
        self.switch = ThemeSwitch(self, None, self.problems.append)
        self.switch.use(self.wanted_theme)

    def hear(self, message: Message) -> None:
        """Given to `run_test` as its message hook."""
        self.posted.append(message)

    def messages_of(self, kind: type[Message]) -> list[Message]:
        """Return the messages of a kind, in the order they were posted, each once."""
        messages: dict[int, Message] = {id(message): message for message in self.posted if isinstance(message, kind)}
        return list(messages.values())


@asynccontextmanager
async def on_stage(
    widget: W, size: tuple[int, int], *, notifications: bool = False, focus: bool = False, **more: Any
) -> AsyncIterator[tuple[Stage, Pilot[None], W]]:
    """A screen of this size with one widget, drawn. `focus`: the pane has the focus."""
    async with standing(Stage(widget, **more), size, widget if focus else None, notifications) as (app, pilot):
        await pilot.pause()
        yield app, pilot, widget


@asynccontextmanager
async def standing(
    app: S, size: tuple[int, int], pane: Any, notifications: bool
) -> AsyncIterator[tuple[S, Pilot[None]]]:
    """Run a stage; the pane gets the focus."""
    async with app.run_test(size=size, message_hook=app.hear, notifications=notifications) as pilot:
        if pane is not None:
            pane.focus_inside()
        yield app, pilot


def screen_lines(app: App[object]) -> list[str]:
    """Return what is on the screen, a string for each line, without spaces at the end."""
    return [line.rstrip() for line in lines(app)]


def screen_text(app: App[object]) -> str:
    """Return what is on the screen as one text."""
    return "\n".join(screen_lines(app))


def assert_in(text: str, *words: str) -> None:
    """Fail unless the text has all of these words."""
    missing = [word for word in words if word not in text]
    assert not missing, f"without {missing}:\n{text}"


def assert_not_in(text: str, *words: str) -> None:
    """Fail if the text has any of these words."""
    present = [word for word in words if word in text]
    assert not present, f"with {present}:\n{text}"


async def press(
    pilot: Pilot[Any],
    *keys: str,
    shows: str | tuple[str, ...] = (),
    hides: str | tuple[str, ...] = (),
    until: Callable[[], bool] | None = None,
    what: str = "",
) -> None:
    """Press keys, and wait until the screen shows and hides words, and something is so; `what` names it."""
    if keys:
        await pilot.press(*keys)

    def so() -> bool:
        text = screen_text(pilot.app)
        return all(word in text for word in tuple_of(shows)) and not any(word in text for word in tuple_of(hides))

    await settle(pilot, lambda: so() and (until is None or until()), what or f"as wished: {shows} without {hides}")


def tuple_of(words: str | tuple[str, ...]) -> tuple[str, ...]:
    """Several words, or one."""
    return (words,) if isinstance(words, str) else words


def plain(pieces: Pieces) -> str:
    """Return the text of some pieces, without their roles."""
    return "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces)


async def settle(pilot: Pilot[Any], so: Callable[[], bool], what: str = "so") -> None:
    """Let the app run until something is so; a worker's result may take several turns."""
    if not await wait_until(pilot.app, so):
        raise AssertionError(f"never became {what}, the focus is on {pilot.app.focused}:\n{screen_text(pilot.app)}")


async def burst(pilot: Pilot[None], *keys: str) -> None:
    """Press keys as a terminal gives them when they were typed in one go, without waiting in between."""
    for key in keys:
        pilot.app.post_message(events.Key(key, " " if key == "space" else None))
    await pilot.pause()

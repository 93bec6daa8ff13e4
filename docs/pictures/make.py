"""Makes the pictures of the docs from the running interface: `make pictures`."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from svg import Frame, animation, picture, screen

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.config.settings import Settings
from inspector.config.targets import StdioTarget
from inspector.tui.app import InspectorApp

HERE = Path(__file__).parent


async def main() -> None:
    async with running(160, 45) as (app, pilot):
        await pilot.press("enter")
        await pilot.pause(0.3)
        await pilot.press(*"hello", "ctrl+r")
        await pilot.pause(0.6)
        (HERE / "main.svg").write_text(picture(screen(app), 160), encoding="utf-8")
    async with running(110, 34) as (app, pilot):
        frames = await tour(app, pilot)
        (HERE / "tour.svg").write_text(animation(frames, 110), encoding="utf-8")


async def tour(app: InspectorApp, pilot) -> list[Frame]:
    """Use the interface for half a minute: list, form, table, question, messages, filter, checks."""
    frames: list[Frame] = []

    async def step(seconds: float, caption: str, *keys: str, until: str = "") -> None:
        await pilot.press(*keys)
        await shows(app, pilot, until)
        frames.append(Frame(screen(app), caption, seconds))

    async def typed(seconds: float, caption: str, text: str, until: str = "") -> None:
        for character in text[:-1]:
            await step(0.12, caption, key(character))
        await step(seconds, caption, key(text[-1]), until=until)

    await step(2.5, "$ inspector demo", until="Returns its message")
    await step(0.6, "/ filters the tools", "slash")
    await typed(1.0, "/ filters the tools", "list-o", until="1 of 62")
    await step(1.2, "enter opens the form", "enter", until="^r sends it")
    await step(1.5, "^r calls the tool: a list of objects becomes a table", "ctrl+r", until="Café du Port")
    await step(1.2, "z zooms a pane", "z", until="Café du Port")
    for _ in range(3):
        await step(0.25, "arrows choose a column, o sorts by it", "right")
    await step(2.0, "arrows choose a column, o sorts by it", "o", "o", until="↓")
    await step(0.8, "/ finds a tool that asks its user", "z", "escape", "slash", *["backspace"] * 6)
    await typed(0.8, "/ finds a tool that asks its user", "ask-user", until="1 of 62")
    await step(2.2, "^r calls it, and the question of the server appears", "enter", "ctrl+r", until="asks you")
    await step(0.3, "answer and send with ^r", "enter")
    await typed(0.8, "answer and send with ^r", "ada@example.org")
    await step(2.0, "answer and send with ^r", "ctrl+r", until="Result")
    await step(2.5, "m shows the messages of the call", "m", until="exchange:")
    await step(1.0, "8 checks the server against the specification", "8", until="runs all checks")
    await step(1.2, "8 checks the server against the specification", "ctrl+r")
    await step(5.0, "8 checks the server against the specification", until="of 100")
    return frames


def key(character: str) -> str:
    """The name of the key for a character."""
    return {" ": "space", "-": "minus", ":": "colon", "/": "slash", "*": "asterisk", "@": "at", ".": "full_stop"}.get(
        character, character
    )


@asynccontextmanager
async def running(columns: int, rows: int) -> AsyncIterator[tuple[InspectorApp, object]]:
    """The interface on the demo server, with a folder of its own and nothing of this machine."""
    options = Options(standing=StandingAnswers(sampling="ask", elicitation="ask", roots="ask"))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        os.environ["INSPECTOR_STATE_HOME"] = folder
        target = StdioTarget(("python", "-m", "inspector.demo"), name="demo")
        app = InspectorApp(target, options, Settings(), record=Path(folder) / "demo.mcp.jsonl")
        async with app.run_test(size=(columns, rows)) as pilot:
            await shows(app, pilot, "")
            for _ in range(200):
                if app.session is not None and app.session.catalog.prompts.complete:
                    break
                await pilot.pause(0.05)
            yield app, pilot


async def shows(app: InspectorApp, pilot, text: str) -> None:
    """Wait until the screen has a text, and has been drawn."""
    for _ in range(300):
        await pilot.pause(0.1)
        if text in (shown := "\n".join(row.text for row in screen(app))):
            await pilot.pause(0.5)  # A key that comes sooner is meant for what was there before.
            return
    raise TimeoutError(f"the screen never showed {text!r}:\n{shown}")


if __name__ == "__main__":
    asyncio.run(main())

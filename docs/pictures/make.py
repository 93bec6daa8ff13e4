"""Makes the pictures of the docs from the running interface: `make pictures`."""

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.config.settings import Settings
from inspector.config.targets import StdioTarget
from inspector.tui.app import InspectorApp

HERE = Path(__file__).parent


async def main() -> None:
    options = Options(standing=StandingAnswers(sampling="ask", elicitation="ask", roots="ask"))
    with tempfile.TemporaryDirectory() as folder:
        # Nothing of the machine it is made on belongs into a picture.
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        os.environ["INSPECTOR_STATE_HOME"] = folder
        target = StdioTarget(("python", "-m", "inspector.demo"), name="demo")
        app = InspectorApp(target, options, Settings(), record=Path(folder) / "demo.mcp.jsonl")
        async with app.run_test(size=(160, 45)) as pilot:
            await until(pilot, lambda: app.session is not None and app.session.catalog.prompts.complete)
            await pilot.press("enter")
            await pilot.pause(0.3)
            await pilot.press(*"hello", "ctrl+r")
            await pilot.pause(0.6)
            save(app, "main.svg")


async def until(pilot, condition) -> None:
    for _ in range(200):
        if condition():
            return
        await pilot.pause(0.05)
    raise TimeoutError("the interface never got there")


def save(app: InspectorApp, name: str) -> None:
    """The screen as SVG, without the fonts that a viewer would have to fetch."""
    svg = app.export_screenshot(title="inspector demo")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code", "ui-monospace, monospace")
    (HERE / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())

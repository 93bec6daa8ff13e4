"""The program as its user starts it, on any system: each verb once, the interface, and no process left behind.

`python -m tests.smoke` in an environment where Inspector is installed. It needs no other test tools, so that a wheel, a
zipapp or another system can be tried with it. Prints one line a step; the exit code is 1 if one failed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PATIENCE = 120
"""Seconds for one step."""
PYTHON = sys.executable
DEMO = ("--", PYTHON, "-m", "inspector.demo")
FLOW = """\
inspector: 1
steps:
  - call: add
    args: {a: 19, b: 23}
    expect:
      result:
        $.structuredContent: {sum: 42}
"""
STEPS: dict[str, tuple[tuple[str, ...], int, str]] = {
    "version": (("--version",), 0, "Python 3."),
    "tools": (("tools", *DEMO), 0, "add"),
    "call, recorded": (("call", "add", "a=19", "b=23", "--record", "add.mcp.jsonl", *DEMO), 0, '{"sum":42}'),
    "a tool that fails": (("call", "fail", *DEMO), 1, "The printer is on fire."),
    "quoting": (("call", "echo", 'message=a "b" c%PATH%&d\\', *DEMO), 0, 'a "b" c%PATH%&d\\'),
    "export": (("export", "add.mcp.jsonl", "--to", "md", "-o", "add.md"), 0, ""),
    "serve a recording": (
        ("call", "add", "a=19", "b=23", "--", PYTHON, "-m", "inspector", "serve", "add.mcp.jsonl"), 0, '{"sum":42}',
    ),
    "rerun": (("rerun", "add.mcp.jsonl", *DEMO), 0, ""),
    "tap": (
        ("call", "echo", "message=hello", "--", PYTHON, "-m", "inspector", "tap", "--record", "tap.mcp.jsonl", *DEMO),
        0, "hello",
    ),
    "saved calls": (("run", "flow.yaml", *DEMO), 0, ""),
    "check": (("check", "--revision", "2025-11-25", *DEMO), 0, "Passes."),
    "doctor": (("doctor", *DEMO), 0, ""),
    "doctor, no program": (("doctor", "--", "no-such-program-here"), 4, "was not found"),
    "recordings": (("recordings",), 0, ""),
}  # fmt: skip
"""The words of each step, its exit code, and what it prints; a later step may use the files of an earlier one."""


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a user with no settings."""
    return dict(os.environ) | {
        "INSPECTOR_STATE_HOME": str(home / "state"),
        "INSPECTOR_CONFIG_HOME": str(home / "config"),
        "PYTHONIOENCODING": "utf-8",
    }


def step(home: Path, words: tuple[str, ...], code: int, text: str) -> None:
    """Run one step. Raises AssertionError."""
    ran = subprocess.run(
        [PYTHON, "-m", "inspector", *words],
        cwd=home,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
    )
    out, err = ran.stdout.decode("utf-8", "replace"), ran.stderr.decode("utf-8", "replace")
    assert ran.returncode == code, f"exit code {ran.returncode}, not {code}\n{out}\n{err}"
    assert text in out + err, f"no {text!r} in\n{out}\n{err}"


async def driven() -> None:
    """Drive the interface without a terminal: call a tool of the demo server. Raises AssertionError."""
    from inspector.client.options import Options
    from inspector.config.settings import Settings
    from inspector.config.targets import demo_target
    from inspector.tui.app import InspectorApp

    app = InspectorApp(demo_target(), Options(timeout=PATIENCE), Settings(), keep=False)

    def screen_text() -> str:
        strips = app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    async with app.run_test(size=(120, 40)) as pilot:
        for key, expected in (("", "add"), ("slash", ""), ("a", ""), ("d", ""), ("d", ""), ("enter", "")):
            if key:
                await pilot.press(key)
            await until(lambda expected=expected: expected in screen_text(), expected, pilot.pause, screen_text)
        await pilot.press("enter")
        await until(lambda: "number" in screen_text(), "the form of add", pilot.pause, screen_text)


async def until(so: Callable[[], bool], what: str, pause: Callable[[float], object], screen: Callable[[], str]) -> None:
    """Wait until something is so. Raises AssertionError."""
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end, f"never {what}:\n{screen()}"
        await pause(0.1)


def in_terminal(home: Path) -> None:
    """Start the interface in a terminal of the system, and leave it by its key. Raises AssertionError."""
    words = [PYTHON, "-m", "inspector", *DEMO]
    if sys.platform == "win32":
        from winpty import PtyProcess

        process = PtyProcess.spawn(words, cwd=str(home), env=environment(home), dimensions=(40, 120))
        text, end = "", time.monotonic() + PATIENCE
        while "add" not in text:
            assert time.monotonic() < end, f"never a tool: {text[-300:]!r}"
            text += process.read(4096)
        process.write("q")
        while process.isalive():
            assert time.monotonic() < end, "never ended"
            with contextlib.suppress(EOFError):
                process.read(4096)
        assert process.exitstatus == 0, f"exit code {process.exitstatus}"
        return
    from tests.tui.terminal import Terminal

    with Terminal(home, words[3:]) as terminal:
        terminal.shows("add")
        terminal.quits()


def steps(home: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield each step with its name."""
    for name, (words, code, text) in STEPS.items():
        yield name, lambda words=words, code=code, text=text: step(home, words, code, text)
    yield "interface, driven", lambda: asyncio.run(driven())
    if "--no-terminal" not in sys.argv:
        yield "interface, in a terminal", lambda: in_terminal(home)


def main() -> int:
    """Run all steps and return the exit code."""
    failed = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        (home / "flow.yaml").write_text(FLOW, encoding="utf-8")
        for name, run in steps(home):
            began = time.monotonic()
            try:
                run()
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"failed  {name}: {error}", flush=True)
            else:
                print(f"ok      {name}  {time.monotonic() - began:.1f} s", flush=True)
    print(f"{len(STEPS) + 2 - failed - ('--no-terminal' in sys.argv)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

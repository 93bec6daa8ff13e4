"""The tour of saved calls in docs/how-to/saved-calls.md, run step by step."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.processes import ROOT, environment
from tests.tui.terminal import Terminal

PAGE = ROOT / "docs" / "how-to" / "saved-calls.md"
BLOCK = re.compile(r"^```([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAVED = Path("calls/create-order.yaml")
"""The file that the interface writes."""
VARIABLE = (
    (r"\d[\d.,]* (?:ms|s)\b", "TIME"),
    (r"[~./\w-]*/?recordings/[\w.-]+", "RECORDING"),
    (r"\d{4}-\d\d-\d\dT[\d-]+Z-[\w-]+\.mcp\.jsonl", "RECORDING"),
    (r"[ ─]+", " "),
)
"""Parts of an output that differ from run to run."""
COLLECTION = {
    "info": {"name": "Shop", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
    "item": [
        {
            "name": "Create",
            "request": {
                "method": "POST",
                "url": "https://shop.example/mcp",
                "body": {
                    "mode": "raw",
                    "raw": '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create-order"}}',
                },
            },
        }
    ],
}


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A search path on which `inspector` and `python` are ours."""
    folder = tmp_path_factory.mktemp("bin")
    for name, words in (("inspector", "-m inspector"), ("python", "")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        program.chmod(0o755)
    return f"{folder}:{environment(folder)['PATH']}"


@pytest.mark.slow
def test_the_tour_of_saved_calls(tmp_path: Path, programs: str) -> None:
    """`GOLDEN=write` puts today's output into the page."""
    (tmp_path / "shop.postman_collection.json").write_text(json.dumps(COLLECTION))
    env = environment(tmp_path, PATH=programs, COLUMNS="100")
    page = PAGE.read_text(encoding="utf-8")
    code = 0
    for language, content in BLOCK.findall(page):
        if language == "python":
            (tmp_path / "orders.py").write_text(content)
            save_a_first_call(tmp_path, programs)
        elif content.startswith("# yaml-language-server"):
            assert (tmp_path / SAVED).read_text() == content
        elif language == "yaml":
            path = tmp_path / re.fullmatch(r"# ([\w./-]+)\n.*", content, re.DOTALL)[1]  # type: ignore[index]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        else:
            assert language == "shell-session"
            for command, documented in commands(content):
                words = ["sh", "-c", command.replace("$?", str(code))]
                ran = subprocess.run(
                    words,
                    cwd=tmp_path,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
                code = ran.returncode
                printed = ran.stdout.decode().replace(str(tmp_path), "~/orders").strip("\n")
                if os.environ.get("GOLDEN") == "write" and not alike(documented, printed):
                    old, new = f"$ {command}\n{documented}".rstrip(), f"$ {command}\n{printed}"
                    new_content = content.replace(f"{old}\n", f"{new}\n", 1)
                    fence = "```shell-session\n"
                    page = page.replace(f"{fence}{content}```", f"{fence}{new_content}```", 1)
                    content = new_content
                    PAGE.write_text(page, encoding="utf-8")
                else:
                    assert alike(documented, printed), f"{command}\n{printed}"


def save_a_first_call(folder: Path, programs: str) -> None:
    """The steps of the page that are made in the interface."""
    with Terminal(folder, ["python", "orders.py"], PATH=programs) as terminal:
        terminal.shows("create-order")
        terminal.press("\r")
        terminal.shows("required")
        terminal.press("lamp")
        terminal.shows("lamp", "valid")
        terminal.press("\x12")
        terminal.shows("ord-4711")
        terminal.press("\x13")
        terminal.shows("Save create-order", SAVED.as_posix())
        terminal.press("\r")
        terminal.until(lambda: (folder / SAVED).exists(), "the file is written")
        terminal.shows("Saved to")
        terminal.press("\x1b")
        terminal.shows("filter", "quit")
        terminal.press("q")
        assert terminal.ends() == 0


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a block with the output below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.rstrip("\n")


def alike(documented: str, printed: str) -> bool:
    """Whether the printed lines are those of the page, in which a line `…` stands for any lines."""
    lines = ["(?:.*\n)*" if line == "…" else re.escape(line) + "\n" for line in comparable(documented)]
    return re.fullmatch("".join(lines), "".join(f"{line}\n" for line in comparable(printed))) is not None


def comparable(output: str) -> list[str]:
    for pattern, instead in VARIABLE:
        output = re.sub(pattern, instead, output)
    return [line.strip() for line in output.splitlines()]


def test_the_workflow_of_the_page_uses_inputs_that_the_action_has() -> None:
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    page = PAGE.read_text(encoding="utf-8")
    (workflow,) = (yaml.safe_load(content) for _, content in BLOCK.findall(page) if "runs-on:" in content)
    used = [step for step in workflow["jobs"]["calls"]["steps"] if step["uses"].startswith("OWNER/inspector@")]
    assert [step["with"]["verb"] for step in used] == ["run", "check"]
    assert all(set(step["with"]) <= set(action["inputs"]) for step in used)

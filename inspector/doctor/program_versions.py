"""The versions of the programs that start a server: only from `--version`, with a time limit."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from subprocess import DEVNULL, STDOUT

from inspector.errors import SpawnError
from inspector.transports.child import ServerProcess
from inspector.transports.pipes import BlockPipe

_ASKED = re.compile(r"(node|npx|npm|bun|bunx|deno|uv|uvx|pipx|docker|podman|ruby|php|(?:python|pypy)[\d.]*)(?:\.exe)?")
_NUMBER = re.compile(rb"(?<!\d)\d++(?:\.\d++){1,3}")
_MINIMUM = {"node": (18, "Node 18"), "python": (10, "Python 3.10")}
"""The minimum of common SDKs: Node's first number, Python's second."""
_MAX_LENGTH = 4096


def is_asked(program: str) -> bool:
    """Whether a program's version is relevant, and the program prints it and exits."""
    return _ASKED.fullmatch(os.path.basename(program)) is not None


async def version(program: str, environment: Mapping[str, str], seconds: float) -> str:
    """Return the version that a program reports; empty without one in time."""
    try:
        process = ServerProcess((program, "--version"), environment, None, stdin=DEVNULL, stderr=STDOUT)
    except SpawnError:
        return ""
    printed, enough = bytearray(), asyncio.Event()

    def read(block: bytes) -> None:
        printed.extend(block)
        if not block or len(printed) >= _MAX_LENGTH:
            enough.set()

    output = BlockPipe(process.popen.stdout, read)
    try:
        async with asyncio.timeout(seconds):
            await enough.wait()
    except TimeoutError:
        pass
    finally:
        process.end()
        output.close()
    number = _NUMBER.search(printed)
    return number[0].decode() if number else ""


def too_old(program: str, number: str) -> str:
    """Return the minimum version if the program's is older; else empty."""
    parts = [int(part) for part in number.split(".") if part.isdigit()][:3]
    name = os.path.basename(program)
    if name.startswith("node") and parts and parts[0] < _MINIMUM["node"][0]:
        return _MINIMUM["node"][1]
    if name.startswith("python") and parts and (parts[0] < 3 or parts[1:2] < [_MINIMUM["python"][0]]):
        return _MINIMUM["python"][1]
    return ""

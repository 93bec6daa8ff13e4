"""Answers of a program to the server's questions: it reads the question as JSON, and prints the answer as JSON."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from inspector import command_words
from inspector.errors import InspectorError, UsageError
from inspector.protocol.jsonrpc import NotJson, encode, parse
from inspector.reasons import os_reason
from inspector.text import safe

PREFIX = "run:"
SECONDS = 120.0
"""The time of a program for one answer."""
MAX_OUTPUT = 16 << 20
"""The bytes of an answer."""
_REST_SECONDS = 0.2
"""The time for the end of a program after its answer."""


@dataclass(frozen=True, slots=True)
class AnswerProgram:
    """A command that answers questions. It is started for each question, without a shell."""

    command: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its first word."""
        return safe(self.command[0], 80)

    @classmethod
    def read(cls, text: str) -> AnswerProgram:
        """Return the program in `run:PROGRAM`. Raises `UsageError`."""

        try:
            words = command_words.split(text.removeprefix(PREFIX))
        except ValueError as error:
            raise UsageError(f"“{text[:80]}” is not a command: {error}.", hint="Close each quote.") from None
        if not words:
            raise UsageError("run: names no program.", hint="Example: run:python answer.py")
        return cls(tuple(words))

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Return what the program prints. Raises an `InspectorError` with the reason if it is of no use."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(*self.command, stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise InspectorError(f"it cannot be started: {os_reason(error)}") from None
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        words = asyncio.ensure_future(_read(process.stderr))
        try:
            async with asyncio.timeout(SECONDS):
                with suppress(OSError):  # It need not read the question.
                    process.stdin.write(encode({"method": method, "params": params}) + b"\n")
                    await process.stdin.drain()
                process.stdin.close()
                output = await _read(process.stdout)
                status = None if len(output) > MAX_OUTPUT else await process.wait()
        except TimeoutError:
            raise InspectorError(f"it took more than {SECONDS:g} s") from None
        finally:
            if process.returncode is None:
                process.kill()
            # Programs that it started may keep its pipes open.
            rest = asyncio.ensure_future(_rest(process, words))
            await asyncio.wait({rest}, timeout=_REST_SECONDS)
            rest.cancel()
        if status is None:
            raise InspectorError(f"its output has more than {MAX_OUTPUT >> 20} MiB")
        if status:
            last_line = words.result().decode("utf-8", "replace").strip().rpartition("\n")[2] if words.done() else ""
            raise InspectorError(f"it ended with exit code {status}{f' ({safe(last_line, 200)})' if last_line else ''}")
        try:
            return parse(output)
        except NotJson as problem:
            raise InspectorError(f"its output is not JSON: {problem}") from None


async def _rest(process: asyncio.subprocess.Process, words: asyncio.Future[bytes]) -> None:
    """Wait for the end of a program. For asyncio it comes when its pipes have been read to their end."""
    assert process.stdout is not None
    assert process.stderr is not None
    await _discard(process.stdout)
    await words
    await _discard(process.stderr)
    await process.wait()


async def _discard(stream: asyncio.StreamReader) -> None:
    while await stream.read(1 << 16):
        pass


async def _read(stream: asyncio.StreamReader) -> bytes:
    """Return what a program prints, up to a little more than `MAX_OUTPUT`."""
    blocks, size = [], 0
    while size <= MAX_OUTPUT and (block := await stream.read(1 << 16)):
        blocks.append(block)
        size += len(block)
    return b"".join(blocks)

"""Our own share of a latency: the same calls at the same rate to a server that answers at once."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import InspectorError
from inspector.features.load import echo_server
from inspector.features.load.plan import LoadPlan, PlannedCall
from inspector.features.load.report import Floor
from inspector.features.load.runner import LoadRun
from inspector.journal.journal import Journal

if TYPE_CHECKING:
    from inspector.client.options import Options
    from inspector.client.session import Session

SECONDS = 1.0
"""Length of the measurement."""
_MIN_RATE = 20.0
"""Calls per second at least: at a lower rate, too few would come in this time."""
_START = 10.0
"""Seconds within which the echo server must start."""


async def measure_floor(
    target: StdioTarget | HttpTarget, options: Options, plan: LoadPlan, session: Session
) -> Floor | None:
    """Run the plan for a second on an echo server, over the transport, era and revision of `session`.

    Returns None for an app in this process, and if the echo server does not start.
    """
    if isinstance(target, HttpTarget) and target.network is not None:
        return None
    era, revision = session.server.era, session.server.revision
    own = replace(options, era=era, protocol=revision, verdicts=None, authorize=None, log_level="", timeout=5.0)
    calls = tuple(PlannedCall(echo_server.TOOL, call.arguments, call.weight) for call in plan.calls)
    rate = max(plan.rate, _MIN_RATE)
    short = replace(plan, calls=calls, rate=rate, seconds=SECONDS, warm_up=0.2, connections=1)
    with suppress(InspectorError, OSError):
        async with _echo_target(target) as echoing:
            journal = Journal.unnamed(echoing.as_header())
            try:
                run = LoadRun(echoing, own, short, journal)
                report = await run.go()
            finally:
                journal.close()
                journal.release()
            if report.latency.count:
                times = report.latency
                return Floor(times.percentile(50), times.percentile(99), report.throughput, times.count)
    return None


@asynccontextmanager
async def _echo_target(target: StdioTarget | HttpTarget) -> AsyncIterator[StdioTarget | HttpTarget]:
    program = (sys.executable, "-I", str(Path(echo_server.__file__)))
    if isinstance(target, StdioTarget):
        yield StdioTarget((*program, "stdio"))
        return
    process = await asyncio.create_subprocess_exec(
        *program,
        "http",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port = int(await asyncio.wait_for(process.stdout.readline(), _START) or b"0")
        yield HttpTarget(f"http://127.0.0.1:{port}/mcp", transport="http")
    except (TimeoutError, ValueError) as error:
        raise OSError("The echo server did not start.") from error
    finally:
        process.stdin.close()
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

"""Shared by the doctor's tests: examinations with short limits, broken servers, a private home folder."""

from __future__ import annotations

import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from inspector.auth.credential import Authorizer
from inspector.auth.options import AuthOptions
from inspector.auth.person import NoPerson
from inspector.client.fetching import EndpointSender
from inspector.client.options import Options
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.doctor.diagnosis import Diagnosis, DoctorStep, TimeLimits
from inspector.doctor.run import diagnose
from inspector.journal.journal import Journal
from tests.transports.scripted_http import Web

SHORT = TimeLimits(answer=0.5, framing=10.0, port=3.0)
"""A silent server is waited for as long as it takes to see that it is silent, and no longer."""

Examine = Callable[..., Awaitable[Diagnosis]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without settings, and no proxy."""
    for name in ("HOME", "INSPECTOR_STATE_HOME", "INSPECTOR_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def examine() -> Iterator[Examine]:
    """`await examine(target)`; `.journal` holds the newest recording."""
    journals: list[Journal] = []

    async def work(target: StdioTarget | HttpTarget, **more: Any) -> Diagnosis:
        journal = Journal.unnamed(target.as_header(), target.secrets)
        journals.append(journal)
        authorize = None if isinstance(target, StdioTarget) else _without_person(more.pop("auth", AuthOptions()))
        work.journal = journal  # type: ignore[attr-defined]
        limits = more.setdefault("limits", SHORT)
        longest = {"max_timeout": more.pop("max_timeout")} if "max_timeout" in more else {}
        options = Options(authorize=authorize, timeout=limits.answer, **longest)
        return await diagnose(target, journal, options, **more)

    yield work
    for journal in journals:
        journal.release()


def _without_person(options: AuthOptions) -> Authorizer:
    return Authorizer(options, web=EndpointSender, person=NoPerson(), keeps=False)


def python(folder: Path, source: str, *words: str, **more: Any) -> StdioTarget:
    """A server that is this Python program."""
    path = folder / "server.py"
    path.write_text(source)
    return StdioTarget((sys.executable, str(path), *words), **more)


def executable(path: Path, content: str) -> Path:
    """A file that may be executed."""
    path.write_bytes(content.encode())
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def step(diagnosis: Diagnosis, name: str) -> DoctorStep:
    """The one step of that name."""
    (only,) = [one for one in diagnosis.steps if one.name == name]
    return only


def left_running(examine: Any) -> list[int]:
    """Of the processes that the newest examination started, those that there still are (Linux only)."""
    spawned = [event.fields["pid"] for event in examine.journal.events() if event.fields.get("event") == "spawn"]
    return [pid for pid in spawned if Path(f"/proc/{pid}").exists()]


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., Awaitable[Web]]]:
    """`await serve(handler)` starts a scripted server."""
    async with AsyncExitStack() as stack:

        async def start(handler: Any, **how: Any) -> Web:
            web: Web = await stack.enter_async_context(Web(handler, **how))
            return web

        yield start

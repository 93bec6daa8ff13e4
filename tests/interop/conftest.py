"""Real servers from PyPI and npm. `tests/interop/run` installs them and runs these tests; without it there are none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

said_of_servers: set[str] = set()
"""What the judge has found in the sessions of these tests: shown in the end, and nobody's failure."""

if "INSPECTOR_INTEROP" in os.environ:
    from tests.interop.peers import NAMES, STDIO, Peer, listening

    @pytest.fixture(scope="session")
    def listeners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Peer]]:
        """The servers over HTTP, started when they are first asked for."""
        with ExitStack() as stack:

            class Started(dict[str, Peer]):
                def __missing__(self, name: str) -> Peer:
                    log = tmp_path_factory.mktemp(name) / "log"
                    self[name] = stack.enter_context(listening(name, log))
                    return self[name]

            yield Started()

    @pytest.fixture(params=NAMES)
    def peer(request: pytest.FixtureRequest, listeners: dict[str, Peer]) -> Peer:
        """Each of the servers."""
        return STDIO.get(request.param) or listeners[request.param]

    @pytest.fixture
    def home(tmp_path: Path) -> Path:
        """The home of a user without settings and recordings."""
        folder = tmp_path / "home"
        folder.mkdir()
        return folder

    def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
        """Shows what the judge says of the servers."""
        terminalreporter.section("findings about the servers")
        for line in sorted(said_of_servers) or ["none"]:
            terminalreporter.write_line(line)

else:
    collect_ignore_glob = ["test_*.py"]

"""Real servers from PyPI and npm. `tests/interop/run` installs them and runs these tests; without it there are none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

said_of_servers: set[str] = set()
"""The judge's findings in the sessions of these tests, shown at the end; they do not fail a test."""

if "INSPECTOR_INTEROP" in os.environ:
    from tests.interop.authorizers import COLUMNS, SITES
    from tests.interop.corpus import ENTRIES
    from tests.interop.peers import NAMES, STDIO, Peer, listening
    from tests.interop.table import AUTHORIZATION, CORPUS

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

    def pytest_runtest_teardown(item: pytest.Item) -> None:
        """Pass the judge's findings to the process that prints them: the tests may run in several."""
        item.user_properties.append(("said", sorted(said_of_servers)))
        said_of_servers.clear()

    def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
        """Print the tables, and the judge's findings about the servers."""
        rows: dict[str, list[str]] = {}
        cells: dict[tuple[str, str], str] = {}
        findings: set[str] = set()
        for report in (test_report for reports in terminalreporter.stats.values() for test_report in reports):
            for name, value in getattr(report, "user_properties", ()):
                if name == "row":
                    rows[value[0]] = value[1:]
                elif name == "cell":
                    cells[value[0], value[1]] = value[2]
                elif name == "said":
                    findings.update(value)
        entries = [rows[entry.id] for entry in ENTRIES if entry.id in rows]
        sites = [
            [site.name, site.made_with, *(cells.get((site.id, column), "-") for column in COLUMNS)]
            for site in SITES
            if any(of == site.id for of, _ in cells)
        ]
        for table, order in ((CORPUS, entries), (AUTHORIZATION, sites)):
            terminalreporter.section(table.name)
            for line in table.plain(order):
                terminalreporter.write_line(line)
            if order and "INSPECTOR_INTEROP_PAGE" in os.environ:
                table.keep(order)
        terminalreporter.section("findings about the servers")
        for line in sorted(findings) or ["none"]:
            terminalreporter.write_line(line)

else:
    collect_ignore = [
        "test_breaks.py",
        "test_authorization.py",
        "test_command_line.py",
        "test_corpus.py",
        "test_exports.py",
        "test_fetch_node.py",
        "test_grants.py",
        "test_imports.py",
        "test_in_process.py",
        "test_interface_login.py",
        "test_locust.py",
        "test_rerun.py",
        "test_serve.py",
        "test_session.py",
        "test_tap.py",
    ]

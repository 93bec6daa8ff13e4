"""The pytest plugin: sessions with MCP servers in tests, recorded once and replayed afterwards.

Every run of pytest loads this module, so it imports nothing that is not loaded anyway. See docs/reference/pytest.md.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from inspector.calls.results import FlowResult
    from inspector.compare.rules import ComparisonRules
    from inspector.library.cassettes import CassetteServer, CassetteSession, Mode
    from inspector.library.recordings import Recording
    from inspector.library.serving import MockServer
    from inspector.library.session import Session

__all__ = ["McpFixture"]

MODES = ("once", "new-episodes", "none", "rewrite", "check", "live")
VARIABLE = "INSPECTOR_MCP_RECORD"
_MAX_NAME = 100
_EVENTS_SHOWN = 30
_Taped = TypeVar("_Taped", "CassetteSession", "CassetteServer")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--mcp-record` and the settings of the ini file."""
    group = parser.getgroup("mcp", "sessions with MCP servers (inspector)")
    group.addoption(
        "--mcp-record",
        choices=MODES,
        default=None,
        help="once: record what has no recording, replay the rest (default); new-episodes: replay what is recorded, "
        "request the rest from the servers and append it; none: replay only; rewrite: record again; check: run "
        "against the servers and compare with the recordings; live: run against the servers, record nothing. "
        f"Also {VARIABLE}.",
    )
    group.addoption(
        "--inspector-calls",
        action="append",
        default=[],
        metavar="PATH",
        help="Collect the saved calls in this file or folder, each as a test; may be repeated.",
    )
    group.addoption(
        "--inspector-environment",
        action="append",
        default=[],
        metavar="NAME",
        help="Variables of this environment for saved calls; may be repeated.",
    )
    parser.addini("mcp_record", "mode of --mcp-record", default="")
    parser.addini("mcp_recordings", "folder of the recordings, beside each test file", default="recordings")
    parser.addini("mcp_target", "server of tests without a target", default="")
    parser.addini("mcp_env", "variables of mcp_target, one a line: NAME, or NAME=VALUE", type="linelist", default=[])
    parser.addini("mcp_env_file", ".env files with variables of mcp_target", type="paths", default=[])
    parser.addini("mcp_inherit_env", "give mcp_target all variables of pytest", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the asynchronous fixture if pytest-asyncio is in use."""
    config.addinivalue_line(
        "markers",
        (
            "mcp(target, **options): the server of the fixtures `inspector_mcp`, `inspector_session` and "
            "`inspector_server`, with the parameters of inspector.open"
        ),
    )
    config.addinivalue_line(
        "markers",
        (
            "mcp_check(target, only=…, skip=…, allow_calls=…, fail_on=…): check the server before the test "
            "and fail the test on findings"
        ),
    )
    plugin = sys.modules.get("pytest_asyncio.plugin")
    if plugin is not None and config.pluginmanager.is_registered(plugin):
        config.pluginmanager.register(_asynchronous(), "inspector-asyncio")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """The flows of `--inspector-calls` are collected besides what the command line names."""
    config = session.config
    for word in config.getoption("--inspector-calls"):
        path = config.invocation_params.dir / word
        if not path.exists():
            raise pytest.UsageError(f"--inspector-calls: {word} does not exist.")
        if str(path) not in config.args:
            config.args.append(str(path))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Each flow below a path of `--inspector-calls` is a file with one test."""
    words = parent.config.getoption("--inspector-calls")
    if not words or file_path.suffix not in (".yaml", ".yml"):
        return None
    folder = parent.config.invocation_params.dir
    if not any(file_path.is_relative_to((folder / word).resolve()) for word in words):
        return None
    from inspector.calls.yaml_text import first_key

    with open(file_path, "rb") as file:
        if first_key(file.read(1 << 16)) != "inspector":
            return None
    made: pytest.Collector = FlowFile.from_parent(parent, path=file_path)
    return made


class FlowFile(pytest.File):
    """A file of saved calls."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield the flow, which is one test."""
        from inspector.calls.collection import read_flow
        from inspector.errors import UsageError
        from inspector.text import sentences

        try:
            name = read_flow(self.path).name
        except UsageError as error:
            raise self.CollectError(sentences(error.message, error.hint)) from None
        yield FlowItem.from_parent(self, name=name)


class FlowItem(pytest.Item):
    """A flow that is run as a test."""

    def runtest(self) -> None:
        """Run the flow on its server; an expectation that does not hold fails the test."""
        target = self.config.getini("mcp_target") or None
        _run_flow(self.path, target, self._environments() | (_variables(self.config) if target else {}))

    def _environments(self) -> dict[str, Any]:
        return {"environment": self.config.getoption("--inspector-environment")}

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the failures, without a traceback of ours."""
        from inspector.errors import InspectorError
        from inspector.text import sentences

        if isinstance(excinfo.value, FlowFailed):
            return str(excinfo.value)
        if isinstance(excinfo.value, InspectorError):
            return sentences(excinfo.value.message, excinfo.value.hint)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the flow begins."""
        return self.path, 0, self.name


class FlowFailed(AssertionError):
    """An expectation of a flow does not hold."""


@pytest.fixture
def inspector_flow(request: pytest.FixtureRequest) -> Callable[..., FlowResult]:
    """`inspector_flow(path, target=None, **options)` runs a flow of saved calls, and fails where it does.

    The parameters are those of `inspector.run_flow`; a relative path begins at the test file.
    """
    marker = request.node.get_closest_marker("mcp")
    named = (marker.args[0] if marker and marker.args else "") or request.config.getini("mcp_target") or None
    ours = bool(named) and not (marker and marker.args)
    kept: dict[str, Any] = dict(marker.kwargs) if marker else {}

    def run(path: str | os.PathLike[str], target: Any = None, **options: Any) -> FlowResult:
        __tracebackhide__ = True
        environments = {"environment": request.config.getoption("--inspector-environment")}
        variables = _variables(request.config) if ours and not target else {}
        given = _beside_test(request.node.path, {**kept, **options})
        return _run_flow(request.node.path.parent / path, target or named, {**environments, **variables, **given})

    return run


def _run_flow(path: Path, target: Any, options: dict[str, Any]) -> FlowResult:
    """Run a flow in a thread of its own, because a loop may run in this one. Raises `FlowFailed`.

    pytest runs the code of the folder anyway, so an environment or entry of the folder is used without a question.
    """
    __tracebackhide__ = True
    options = {"trust": True, **options}
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from inspector.library.flows import run_flow

    with ThreadPoolExecutor(1) as thread:
        result = thread.submit(lambda: asyncio.run(run_flow(path, target, **options))).result()
    if result.outcome == "failed":
        raise FlowFailed(result.failure)
    return result


def _asynchronous() -> object:
    """Return a plugin with the fixture that only pytest-asyncio can run."""
    import pytest_asyncio

    class Asynchronous:
        @pytest_asyncio.fixture
        async def inspector_session(self, inspector_mcp: McpFixture) -> AsyncIterator[Session]:
            """The session with the marker's server, recorded once and replayed afterwards."""
            taped = inspector_mcp.recorded()
            async with taped as session:
                yield session
                taped.keeps = not inspector_mcp.failed

        @pytest.fixture
        def mcp_session(self, request: pytest.FixtureRequest) -> Any:
            """The old name of `inspector_session`. Another plugin's fixture of this name takes precedence."""
            return _yielding(request, "mcp_session", "inspector_session")

    return Asynchronous()


@pytest.fixture
def inspector_mcp(request: pytest.FixtureRequest) -> McpFixture:
    """Sessions, recordings and mock servers for this test."""
    made = McpFixture(request.node, request.config)
    request.node.stash[_KEY] = made
    return made


@pytest.fixture
def inspector_server(inspector_mcp: McpFixture) -> Callable[..., CassetteServer]:
    """`async with inspector_server(TARGET) as server`: a recorded server for the client under test."""
    return inspector_mcp.server


@pytest.fixture
def mcp(request: pytest.FixtureRequest) -> Any:
    """The old name of `inspector_mcp`. Another plugin's fixture of this name takes precedence."""
    return _yielding(request, "mcp", "inspector_mcp")


def _yielding(request: pytest.FixtureRequest, name: str, ours: str) -> Any:
    """Return another plugin's fixture `name` if there is one, else our own.

    Test modules and conftest files override a plugin's fixtures anyway; between plugins the order of loading decides.
    """
    try:
        return request.getfixturevalue(name)
    except pytest.FixtureLookupError as error:
        if error.argname != name:
            raise
    return request.getfixturevalue(ours)


class McpFixture:
    """The fixture `inspector_mcp`. Use its results with `with` or `async with`, see docs/reference/pytest.md.

    Relative paths start at the test file.
    """

    def __init__(self, node: pytest.Item, config: pytest.Config) -> None:
        self.mode: Mode = _mode(config)
        """The mode of `recorded`."""
        marker = node.get_closest_marker("mcp")
        self.target: str | Sequence[str] = marker.args[0] if marker and marker.args else config.getini("mcp_target")
        """The default server."""
        self._options: dict[str, Any] = dict(marker.kwargs) if marker else {}
        self._variables = {} if marker and marker.args else _variables(config)
        self.failed = False
        """Whether the test has failed."""
        self._test = node.path
        self._folder = node.path.parent / config.getini("mcp_recordings") / node.path.stem
        self._name = _file_name(node.nodeid.partition("::")[2])
        self._count = 0
        self._sessions: list[Session] = []
        self._taped: list[CassetteSession | CassetteServer] = []
        # Node ids start at the root folder; pytest takes paths relative to its start folder.
        where = os.path.relpath(node.path, config.invocation_params.dir)
        from inspector import command_words

        test = command_words.quote(f"{where}::{node.nodeid.partition('::')[2]}")
        self._accept = f"pytest --mcp-record=rewrite {test}"

    def open(self, target: str | Sequence[str] | None = None, **options: Any) -> Session:
        """Return a session with the live server; `options` are those of `inspector.open`."""
        import inspector

        session = inspector.open(self._server(target), **self._given(target, options))
        self._sessions.append(session)
        return session

    def recorded(
        self,
        target: str | Sequence[str] | None = None,
        *,
        name: str = "",
        ignore: Iterable[str] = (),
        unordered: Iterable[str] = (),
        patterns: Iterable[str] = (),
        **options: Any,
    ) -> CassetteSession:
        """Return a session that is recorded or replayed, by the mode.

        `name` is that of the recording; by default the test's. `ignore`, `unordered` and `patterns` are the ignored
        differences with the mode `check`.
        """
        from inspector.library.cassettes import CassetteSession

        return self._taped_as(CassetteSession, target, name, _rules(ignore, unordered, patterns), options)

    def server(
        self,
        target: str | Sequence[str] | None = None,
        *,
        name: str = "",
        ignore: Iterable[str] = (),
        unordered: Iterable[str] = (),
        patterns: Iterable[str] = (),
        **options: Any,
    ) -> CassetteServer:
        """Return a recorded server for another client: `url` and `command`. Parameters are those of `recorded`."""
        from inspector.library.cassettes import CassetteServer

        return self._taped_as(CassetteServer, target, name, _rules(ignore, unordered, patterns), options)

    def _taped_as(
        self,
        kind: type[_Taped],
        target: str | Sequence[str] | None,
        name: str,
        rules: ComparisonRules,
        options: dict[str, Any],
    ) -> _Taped:
        made = kind(
            self._server(target), self._recording(name), self.mode, self._given(target, options), rules, self._accept
        )
        self._taped.append(made)
        return made

    def _recording(self, name: str) -> Path:
        """Return the file of the next recording."""
        from inspector.config.paths import RECORDING_SUFFIX

        self._count += not name
        number = f"-{self._count}" if self._count > 1 and not name else ""
        path: Path = self._folder / f"{_file_name(name) if name else self._name}{number}{RECORDING_SUFFIX}"
        return path

    def replay(self, path: str | os.PathLike[str], **options: Any) -> Session:
        """Return a session that is answered from a recording."""
        import inspector

        session = inspector.open(str(self._beside(path)), **options)
        self._sessions.append(session)
        return session

    def serve(self, path: str | os.PathLike[str], **options: Any) -> MockServer:
        """Return a mock server for the tested client: `url`, `command`, `report`."""
        import inspector

        return inspector.serve(self._beside(path), **options)

    def recording(self, path: str | os.PathLike[str]) -> Recording:
        """Return a recording to read."""
        import inspector

        return inspector.recording(self._beside(path))

    def same(
        self,
        actual: Any,
        expected: Any,
        *,
        ignore: Iterable[str] = (),
        unordered: Iterable[str] = (),
        patterns: Iterable[str] = (),
    ) -> None:
        """Assert that a result, or any JSON value, equals the expected one, except for times, ids, cursors and the
        like.

        `ignore`: places that may have any value, such as `$.content[*].text`; `unordered`: lists whose order is
        irrelevant; `patterns`: texts that count as equal.
        """
        __tracebackhide__ = True
        from inspector.library.differences import differences

        lines = differences(_raw(expected), _raw(actual), _rules(ignore, unordered, patterns))
        if lines:
            raise AssertionError("\n".join(["The values differ:", *lines]))

    def sections(self) -> list[tuple[str, str]]:
        """Return the additional sections of a failed test's report: requests not in a recording, and the last
        messages."""
        taped = [session for tape in self._taped if (session := getattr(tape, "session", None)) is not None]
        sessions = [*self._sessions, *taped]
        missing = "\n".join(line for tape in self._taped for line in tape.missing())
        if missing:
            missing += f"\nTo accept the change, run: {self._accept}"
        return [
            ("Not in the MCP recording", missing),
            ("MCP messages", "\n\n".join(filter(None, map(_transcript, sessions)))),
        ]

    def _server(self, target: str | Sequence[str] | None) -> str | Sequence[str]:
        server = target or self.target
        if not server:
            raise pytest.UsageError(
                "No server to use: pass a target, mark the test with @pytest.mark.mcp(TARGET), or set mcp_target."
            )
        return server

    def _given(self, target: str | Sequence[str] | None, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options of `inspector.open` for a target: of the ini file, of the marker, and of the test."""
        return {**({} if target else self._variables), **_beside_test(self._test, {**self._options, **options})}

    def _beside(self, path: str | os.PathLike[str]) -> Path:
        return self._test.parent / path


_KEY = pytest.StashKey[McpFixture]()
_CHECKED = pytest.StashKey[dict[tuple[int, Path, str], tuple[pytest.Mark, str]]]()
"""What each marker `mcp_check` found; the marker is kept, so that its id stays its own."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check the server of a test marked with `mcp_check` first; several markers are several checks.

    A marker of a module, a class or a parametrized test checks once, for all its tests.
    """
    __tracebackhide__ = True
    for marker in item.iter_markers("mcp_check"):
        done = item.config.stash.setdefault(_CHECKED, {})
        target = None if marker.args or "target" in marker.kwargs else _named(item)
        key = (id(marker), item.path, repr(target))
        if key not in done:
            done[key] = marker, _check(item, marker)
        if fault := done[key][1]:
            pytest.fail(fault, pytrace=False)


def _check(item: pytest.Item, marker: pytest.Mark) -> str:
    """Run a check, and return what fails the test; empty if nothing does."""
    import asyncio

    from inspector.errors import InspectorError
    from inspector.library.checking import check
    from inspector.text import sentences

    options = _beside_test(item.path, marker.kwargs)
    named = marker.args[0] if marker.args else options.pop("target", None)
    for name in ("record", "baseline"):
        if isinstance(options.get(name), (str, os.PathLike)):
            options[name] = item.path.parent / options[name]
    # Created by a factory, so other code does not find it as its loop and does not lose its own afterwards.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        try:
            target, variables = (named, {}) if named else _named(item)
            report = runner.run(check(target, **{**variables, **options}))
            return "\n".join(text for text in (report.faults, report.limits) if text)
        except InspectorError as error:
            return f"{type(error).__name__}: {sentences(error.message, error.hint)}"


def _variables(config: pytest.Config) -> dict[str, Any]:
    """Return the options of `inspector.open` with the variables of `mcp_target`; none if nothing is configured."""
    given = [line.partition("=") for line in config.getini("mcp_env")]
    variables = {
        "env": {name.strip(): value if equals else None for name, equals, value in given},
        "env_file": config.getini("mcp_env_file"),
        "inherit_env": config.getini("mcp_inherit_env"),
    }
    return {name: value for name, value in variables.items() if value}


def _beside_test(test: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of `inspector.open`, whose files of variables begin at the test file."""
    files = options.get("env_file")
    if not files:
        return dict(options)
    listed = [files] if isinstance(files, (str, os.PathLike)) else files
    return {**options, "env_file": [test.parent / file for file in listed]}


def _named(item: pytest.Item) -> tuple[str | Sequence[str], dict[str, Any]]:
    """Return the server of a marker without a target, and its variables."""
    marker = item.get_closest_marker("mcp")
    if marker and marker.args:
        return marker.args[0], {}
    target: str = item.config.getini("mcp_target")
    if not target:
        raise pytest.UsageError("No server to use: pass a target to mcp_check, or set mcp_target.")
    return target, _variables(item.config)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Add the messages to the report of a failed test."""
    outcome = yield
    made = item.stash.get(_KEY, None)
    report = outcome.get_result()
    if made is not None and report.failed:
        made.failed = True
        report.sections += [section for section in made.sections() if section[1]]


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain `assert result == …` by the places that differ."""
    results = sys.modules.get("inspector.library.results")
    if (
        op != "=="
        or results is None
        or (not isinstance(left, results.ProtocolObject) and not isinstance(right, results.ProtocolObject))
    ):
        return None
    from inspector.library.differences import differences

    lines = differences(_raw(right), _raw(left))
    return [f"{type(left).__name__} == {type(right).__name__}", *lines] if lines else None


def _mode(config: pytest.Config) -> Mode:
    mode = config.getoption("--mcp-record") or os.environ.get(VARIABLE) or config.getini("mcp_record") or "once"
    if mode not in MODES:
        raise pytest.UsageError(f"Invalid mode “{mode}” of MCP recordings. Use one of: {', '.join(MODES)}.")
    return cast("Mode", mode)


def _file_name(name: str) -> str:
    """Return a name as a file name; a digest distinguishes names that do not fit."""
    from inspector.text import file_stem

    plain = file_stem(name, _MAX_NAME)
    if re.fullmatch(r"[\w.:\[\]-]+", name, re.ASCII) and len(plain) < _MAX_NAME:
        return plain
    import hashlib

    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def _rules(ignore: Iterable[str], unordered: Iterable[str], patterns: Iterable[str]) -> ComparisonRules:
    from inspector.compare.rules import DEFAULT

    return DEFAULT.plus(ignore=ignore, unordered=unordered, patterns=patterns)


def _raw(value: Any) -> Any:
    """Return a result as its JSON value."""
    results = sys.modules.get("inspector.library.results")
    return value.raw if results is not None and isinstance(value, results.ProtocolObject) else value


def _transcript(session: Session) -> str:
    from inspector.errors import SessionLost
    from inspector.journal.format import Kind
    from inspector.text import safe

    try:
        recording = session.recording
    except SessionLost:
        return ""  # it was never connected
    lines = [f"{safe(repr(session))}"]
    events = [n for n in range(1, len(recording) + 1) if recording.journal.index.kind(n) <= Kind.STDERR]
    if len(events) > _EVENTS_SHOWN:
        lines.append(f"… {len(events) - _EVENTS_SHOWN:,} messages before these")
    for n in events[-_EVENTS_SHOWN:]:
        event = recording[n]
        sign = "→" if event.dir == "send" else "!" if event.kind == "stderr" else "←"
        lines.append(f"{n:>5} {sign} {safe(event.text, 300)}")
    return "\n".join(lines)

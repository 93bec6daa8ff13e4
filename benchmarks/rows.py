"""The measurements, and the limits that they must keep.

A `Measure` is one figure of several contestants, run one after the other in every round. A `Row` of the table looks at
one key of a measure, and holds ours against a contestant (a ratio) or against a bound.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("BENCH_CACHE", HERE.parent / ".cache" / "bench"))
NODE = os.environ.get("BENCH_NODE", "node")
OURS = sys.executable
THEIRS = str(CACHE / "venv" / "bin" / "python")

INSPECTOR, RAW, SDK, TYPESCRIPT = "inspector", "raw", "python sdk", "typescript"

Command = list[str]


@dataclass(frozen=True)
class Setting:
    """The settings of a round: the URLs of the running HTTP server, and whether to be quick."""

    url: str
    quick: bool


@dataclass(frozen=True)
class Measure:
    """`commands` gives the command line of each contestant; each prints one line of JSON."""

    name: str
    commands: Callable[[Setting], dict[str, Command]]
    outside: bool = False
    """Time and memory of the whole process are taken from outside, and what it prints does not matter."""
    repeats: int = 1
    """Runs of each contestant in one round."""
    once: frozenset[str] = frozenset()
    """Contestants that run in the first round only: they take long, and by design rather than by chance."""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    title: str
    measure: str
    key: str
    """The judged figure."""
    unit: str
    budget: float | None
    """None: the figure has no limit."""
    against: str = RAW
    """The contestant or yardstick that ours is divided by; empty: `budget` is a bound on our own figure."""
    more_is_better: bool = False
    plus: float = 0.0
    """Allowed on top of the budget times the other's figure: a wait by design, which no faster machine shortens."""
    beside: str = RAW
    """Whose figure stands next to ours."""
    shows: str = ""
    """The figure in the table, in `unit`, if it is not the judged one."""

    @property
    def table_key(self) -> str:
        return self.shows or self.key


def stdio_server(*words: str) -> str:
    return json.dumps([OURS, "-S", str(HERE / "server.py"), *words])


def client(who: str, *words: str) -> Command:
    """The command line of one of the four."""
    programs = {
        INSPECTOR: [OURS, str(HERE / "clients" / "inspector_client.py")],
        RAW: [THEIRS, str(HERE / "clients" / "raw.py")],
        SDK: [THEIRS, str(HERE / "clients" / "sdk.py")],
        TYPESCRIPT: [NODE, str(HERE / "clients" / "typescript.mjs")],
    }
    return [*programs[who], *words]


def clients(figure: str, words: list[str], raw: list[str], size: int = 0) -> dict[str, Command]:
    """The same figure of all four."""
    words = [figure, *words, *(["--n", str(size)] if size else [])]
    return {who: client(who, *words, *(raw if who == RAW else [])) for who in (INSPECTOR, RAW, SDK, TYPESCRIPT)}


ERAS = ("legacy", "modern")
SOCKET = "raw socket"
BEFORE = "with the handshake"
PINNED = "pinned"


def on_stdio(
    figure: str, *raw: str, era: str = "legacy", server: tuple[str, ...] = (), quick: int = 0, repeats: int = 1
) -> Measure:
    def commands(setting: Setting) -> dict[str, Command]:
        words = ["--server", stdio_server("--modern", *server), "--era", era]
        size = quick if setting.quick else 0
        by_client = clients(figure, words, list(raw), size)
        return with_handshake(by_client) if era == "modern" else by_client

    return Measure(f"stdio {figure} {era}", commands, repeats=repeats)


def on_http(
    figure: str,
    answers: str,
    way: str,
    era: str = "legacy",
    n: int = 0,
    quick: int = 0,
    repeats: int = 1,
    socket: bool = False,
) -> Measure:
    """`socket`: with the raw loop on a socket beside the four."""

    def commands(setting: Setting) -> dict[str, Command]:
        words = ["--url", f"{setting.url}/modern/{answers}", "--era", era]
        size = quick if setting.quick else n
        by_client = clients(figure, words, ["--way", way], size)
        if socket:
            by_client[SOCKET] = client(RAW, figure, *words, "--way", "socket", *(["--n", str(size)] if size else []))
        return with_handshake(by_client) if era == "modern" else by_client

    return Measure(f"{answers} {figure} {era}", commands, repeats=repeats)


def with_handshake(commands: dict[str, Command]) -> dict[str, Command]:
    """Compared with ourselves on the same server in the other era, to measure the metadata of each request."""
    return commands | {BEFORE: ["legacy" if word == "modern" else word for word in commands[INSPECTOR]]}


def in_flight(era: str) -> Measure:
    """A hundred calls in flight for each client; the raw loop has as many connections."""

    def commands(setting: Setting) -> dict[str, Command]:
        words = ["--url", f"{setting.url}/modern/json", "--era", era]
        by_client = clients("throughput", words, ["--way", "post"], 600)
        sizes = ["--n", "600" if setting.quick else "5000"]
        return by_client | {
            INSPECTOR: client(INSPECTOR, "throughput", *words, *sizes),
            SOCKET: client(RAW, "throughput", *words, "--way", "sockets", *sizes),
        }

    return Measure(f"json in flight {era}", commands)


def connect(name: str, server: tuple[str, ...] | None, path: str = "", pinned: str = "legacy", n: int = 0) -> Measure:
    """Connect without knowing the era; beside it Inspector with the era given, and the peers."""

    def commands(setting: Setting) -> dict[str, Command]:
        where = ["--url", setting.url + path] if server is None else ["--server", stdio_server(*server)]
        words = ["connect", *where, *(["--n", str(n)] if n else []), "--era"]
        return {
            PINNED: client(INSPECTOR, *words, pinned),
            **{who: client(who, *words, "auto") for who in (INSPECTOR, SDK, TYPESCRIPT)},
        }

    return Measure(f"connect {name}", commands, once=frozenset((SDK, TYPESCRIPT)) if n else frozenset())


def cold(setting: Setting) -> dict[str, Command]:
    """`inspector tools` as it is typed, beside programs that do just that."""
    commands = clients("cold", ["--server", stdio_server()], [])
    command = json.loads(stdio_server())
    return commands | {INSPECTOR: [str(Path(OURS).parent / "inspector"), "tools", "--json", "--", *command]}


def terminal(figure: str, *contestants: str, repeats: int = 1) -> Measure:
    def commands(setting: Setting) -> dict[str, Command]:
        return {who: [OURS, str(HERE / "terminal.py"), figure, who] for who in contestants}

    return Measure(f"terminal {figure}", commands, repeats=repeats)


BARE, OFFICIAL = "bare Textual", "official"

LOOP_OF_PYTHON, BARE_KEY = "fixed loop", "a key of bare Textual"


@dataclass(frozen=True)
class Yardstick:
    """A figure of the same round that times are divided by where no other program does the same.

    A machine that is half as fast has half the figure here too, so a budget is a ratio and no time.
    """

    measure: str
    contestant: str
    key: str


YARDSTICKS = {
    LOOP_OF_PYTHON: Yardstick("fixed loop", LOOP_OF_PYTHON, "s"),
    BARE_KEY: Yardstick("terminal keys", BARE, "key_p95_s"),
}
MCPSNOOP = shutil.which("mcpsnoop")
"""It is distributed as Go source only, so it takes part only where it was built."""
RECORDER = "mcpsnoop" if MCPSNOOP else "mcp-rec"


def tap(setting: Setting) -> dict[str, Command]:
    """One call through a recording proxy between client and server; beside it other recorders."""
    taps = {
        INSPECTOR: [str(Path(OURS).parent / "inspector"), "tap", "--"],
        "mcp-rec": [str(CACHE / "venv" / "bin" / "mcp-rec"), "record", "-o", os.devnull, "--"],
    }
    if MCPSNOOP:
        taps["mcpsnoop"] = [MCPSNOOP, "--"]
    words = [
        OURS,
        str(HERE / "clients" / "tapped.py"),
        "--server",
        stdio_server(),
        "--n",
        str(1000 if setting.quick else 4000),
    ]
    return {who: [*words, "--tap", json.dumps(command)] for who, command in taps.items()}


def check(over: str) -> Measure:
    """A whole `inspector check` as it is typed, of all revisions, on a quick server."""

    def commands(setting: Setting) -> dict[str, Command]:
        where = ["--", *json.loads(stdio_server("--modern"))] if over == "stdio" else [f"{setting.url}/modern/json"]
        program = str(Path(OURS).parent / "inspector")
        return {INSPECTOR: [program, "check", "--json", "--no-record", "--fail-on", "never", *where]}

    return Measure(f"check {over}", commands, outside=True)


def export(setting: Setting) -> dict[str, Command]:
    """A recording with one long message, as Markdown."""
    return {INSPECTOR: [OURS, str(HERE / "export_memory.py")]}


LOOP = "library loop"


def flows(shared: bool) -> Measure:
    """Flows of five calls, against the same calls in a loop of the library."""

    def commands(setting: Setting) -> dict[str, Command]:
        words = [stdio_server(), "--flows", "20" if setting.quick else "200", *(["--shared"] if shared else [])]
        program = [OURS, str(HERE / "clients" / "saved_calls.py")]
        return {INSPECTOR: [*program, "flows", *words], LOOP: [*program, "loop", *words]}

    return Measure("flows shared" if shared else "flows", commands)


def fixed_loop(setting: Setting) -> dict[str, Command]:
    return {LOOP_OF_PYTHON: [OURS, str(HERE / "fixed_loop.py")]}


MEASURES = [
    Measure("fixed loop", fixed_loop, repeats=3),
    terminal("keys", BARE, repeats=2),
    flows(False),
    flows(True),
    Measure("cold", cold, outside=True, repeats=5),
    *(on_stdio("latency", era=era, quick=500, repeats=3) for era in ERAS),
    *(on_stdio("throughput", era=era, quick=2000) for era in ERAS),
    on_stdio("notifications", "--log", quick=30_000),
    on_stdio("large"),
    check("stdio"),
    check("http"),
    Measure("export", export),
    Measure("stdio tap", tap, repeats=3),
    on_stdio("pages", server=("--tools", "10000", "--page", "100")),
    *(on_http("latency", "json", "post", era, 500, 300, repeats=2, socket=True) for era in ERAS),
    *(on_http("latency", "sse", "post", era, 500, 300, repeats=2) for era in ERAS),
    *(in_flight(era) for era in ERAS),
    *(on_http("notifications", "sse", "events", era, 50_000, 20_000) for era in ERAS),
    on_http("large", "json", "socket"),
    on_http("large", "sse", "socket"),
    connect("stdio legacy", ()),
    connect("stdio modern", ("--modern",), pinned="modern"),
    connect("http legacy", None, "/json"),
    connect("http modern", None, "/modern/json", pinned="modern"),
    connect("silence", ("--unknown", "silence"), n=1),
    connect("exit", ("--unknown", "exit"), n=3),
    terminal("launch", INSPECTOR, BARE, OFFICIAL, repeats=3),
    terminal("first", INSPECTOR, BARE, OFFICIAL, repeats=3),
    terminal("down", INSPECTOR, OFFICIAL, repeats=2),
    terminal("recording", INSPECTOR, BARE),
    terminal("memory", INSPECTOR),
    terminal("replay", INSPECTOR),
    terminal("table", INSPECTOR),
    terminal("flood", INSPECTOR),
    terminal("rate", INSPECTOR),
    terminal("sessions", INSPECTOR),
    terminal("search", INSPECTOR),
    terminal("timeline", INSPECTOR),
    terminal("long timeline", INSPECTOR),
]


def rate(name: str, title: str, measure: str, share: float) -> Row:
    """A rate, judged by the CPU time. The limit is a `share` of the rate of a raw loop."""
    return Row(name, title, measure, "cpu_us", "/s", 1 / share, shows="per_s")


def metadata(name: str, measure: str) -> Row:
    """The extra cost of a call in the era that repeats its metadata with each request."""
    return Row(name, "… CPU, to that with the handshake", measure, "cpu_us", "µs", None, against=BEFORE, beside=BEFORE)


def key(name: str, title: str, measure: str, figure: str = "key_p95_s", most: float = 8) -> Row:
    """From a key to the end of its frame, beside the same in a list of bare Textual."""
    return Row(name, title, measure, figure, "ms", most, against=BARE_KEY, beside=BARE_KEY)


def found_out(name: str, title: str, measure: str) -> Row:
    """The extra time of detecting the era."""
    return Row(name, title, measure, "s", "ms", None, against=PINNED, beside=PINNED)


GROUPS: dict[str, list[Row]] = {
    "A command line": [
        Row("cold", "`inspector tools`, whole process", "cold", "s", "ms", 0.8, against=TYPESCRIPT),
        Row("cold-memory", "… its memory", "cold", "rss_mb", "MB", 60, against=""),
        Row("export-memory", "`inspector export --to md`, a line of 50 MB: memory", "export", "rss_mb", "MB", 180,
            against=""),
    ],
    "A whole check": [
        Row("check-stdio", "`inspector check`, stdio", "check stdio", "s", "ms", 60, against=LOOP_OF_PYTHON,
            beside=LOOP_OF_PYTHON),
        Row("check-http", "`inspector check`, Streamable HTTP", "check http", "s", "ms", 90, against=LOOP_OF_PYTHON,
            beside=LOOP_OF_PYTHON),
    ],
    "Saved calls": [
        Row("flows", "200 flows of five calls, stdio: one call", "flows", "call_us", "µs", 1.5, against=LOOP,
            beside=LOOP),
        Row("flows-memory", "… memory that is added by the last 150", "flows", "grown_mb", "MB", 10, against=""),
        Row("flows-shared", "… in one session (`--shared`)", "flows shared", "call_us", "µs", 1.5, against=LOOP,
            beside=LOOP),
    ],
    "stdio": [
        Row("stdio-latency", "one call, median", "stdio latency legacy", "p50_us", "µs", 1.6),
        Row("stdio-latency-modern", "one call, median, 2026-07-28", "stdio latency modern", "p50_us", "µs", 1.6),
        metadata("stdio-metadata", "stdio latency modern"),
        Row("stdio-100", "100 calls in flight", "stdio throughput legacy", "per_s", "/s", 25 / 67, more_is_better=True),
        Row("stdio-100-modern", "100 calls in flight, 2026-07-28", "stdio throughput modern", "per_s", "/s", 25 / 67,
            more_is_better=True),
        rate("stdio-notifications", "notifications, recorded", "stdio notifications legacy", 0.5),
        Row("stdio-large", "a result of 50 MB, CPU", "stdio large legacy", "cpu_s", "ms", 3.0),
        Row("tap", "one call through the tap: added", "stdio tap", "added_us", "µs", 1.8, against=RECORDER,
            beside=RECORDER),
        Row("stdio-pages", "10,000 tools, 100 a page, CPU", "stdio pages legacy", "cpu_s", "ms", 3.5),
    ],
    "Streamable HTTP": [
        Row("json-latency", "one call, JSON, median", "json latency legacy", "p50_us", "µs", 2.5, against=SOCKET,
            beside=SOCKET),
        Row("json-latency-modern", "one call, JSON, median, 2026-07-28", "json latency modern", "p50_us", "µs", 2.5,
            against=SOCKET, beside=SOCKET),
        metadata("json-metadata", "json latency modern"),
        Row("sse-latency", "one call, events, median", "sse latency legacy", "p50_us", "µs", 0.85),
        Row("sse-latency-modern", "one call, events, median, 2026-07-28", "sse latency modern", "p50_us", "µs", 0.85),
        Row("http-100", "100 calls in flight", "json in flight legacy", "per_s", "/s", 0.25, against=SOCKET,
            more_is_better=True, beside=SOCKET),
        Row("http-100-modern", "100 calls in flight, 2026-07-28", "json in flight modern", "per_s", "/s", 0.25,
            against=SOCKET, more_is_better=True, beside=SOCKET),
        rate("sse-notifications", "notifications, recorded", "sse notifications legacy", 0.8),
        rate("sse-notifications-modern", "notifications, recorded, 2026-07-28", "sse notifications modern", 0.8),
        Row("json-large", "a result of 50 MB, JSON, CPU", "json large legacy", "cpu_s", "ms", 3.0),
        Row("sse-large", "a result of 50 MB, events, CPU", "sse large legacy", "cpu_s", "ms", 3.0),
    ],
    "Connecting without being told the era": [
        found_out("connect-stdio", "stdio, handshake's era", "connect stdio legacy"),
        found_out("connect-stdio-modern", "stdio, 2026-07-28", "connect stdio modern"),
        found_out("connect-http", "HTTP, handshake's era", "connect http legacy"),
        found_out("connect-http-modern", "HTTP, 2026-07-28", "connect http modern"),
        Row("connect-silence", "a server silent about what it does not know", "connect silence", "s", "ms", 1.0,
            against=PINNED, plus=2.0, beside=PINNED),
        Row("connect-exit", "a server that exits at what it does not know", "connect exit", "s", "ms", 1.0,
            against=PINNED, plus=1.5, beside=PINNED),
    ],
    "The interface": [
        Row("launch", "launch to the list of tools", "terminal launch", "s", "ms", 2.4, against=BARE, beside=BARE),
        Row("launch-official", "… than the official Inspector's", "terminal launch", "s", "ms", 1.0, against=OFFICIAL,
            beside=OFFICIAL),
        Row("first", "first text on the screen", "terminal first", "s", "ms", 1.0, against=OFFICIAL, beside=OFFICIAL),
        Row("down", "Down in a list of 1,000 tools, key to frame, p95", "terminal down", "key_p95_s", "ms", 1.0,
            against=OFFICIAL, beside=OFFICIAL),
        Row("log-launch", "launch to a log of 1,000,000", "terminal recording", "s", "ms", 4, against=BARE,
            beside=BARE),
        key("log-keys", "… key to frame, p95", "terminal recording"),
        key("log-early-keys", "… the same while it is being read", "terminal recording", "early_p95_s"),
        Row("log-memory", "… its memory", "terminal recording", "rss_mb", "MB", 150, against=""),
        Row("log-event-memory", "… private memory for each message", "terminal memory", "each_bytes", "B", 24,
            against=""),
        key("replay-seek", "replay of it: seek, key to frame, p95", "terminal replay", "seek_p95_s"),
        key("replay-step", "… step by message or exchange, p95", "terminal replay", "step_p95_s"),
        key("replay-match", "… to the next match of a filter, p95", "terminal replay", "match_p95_s"),
        Row("replay-filter", "… a filter applied to all of it", "terminal replay", "filter_s", "ms", None, against=""),
        Row("replay-memory", "… its memory", "terminal replay", "rss_mb", "MB", 150, against=""),
        Row("table-first", "a result of 100,000 objects as a table", "terminal table", "s", "ms", 10,
            against=LOOP_OF_PYTHON, beside=LOOP_OF_PYTHON),
        key("table-keys", "… key to frame, p95", "terminal table"),
        Row("table-sort", "… sorted by a column", "terminal table", "sort_s", "ms", None, against=""),
        Row("table-memory", "… growth of its memory", "terminal table", "growth_mb", "MB", 60, against=""),
        Row("flood-kept", "flood of 40,000: kept", "terminal flood", "kept", "", 40_000, against="",
            more_is_better=True),
        key("flood-keys", "… key to frame, p95", "terminal flood", most=16),
        Row("flood-memory", "… growth of its memory", "terminal flood", "growth_mb", "MB", 60, against=""),
    ],
    "The timeline": [
        key("timeline-zoom", "10,000 overlapping calls: zoom, key to frame, p95", "terminal timeline", "zoom_p95_s"),
        key("timeline-pan", "… pan and cursor, p95", "terminal timeline", "pan_p95_s"),
        Row("timeline-memory", "… its memory", "terminal timeline", "rss_mb", "MB", 150, against=""),
    ],
    "Floods, sessions and search": [
        Row("rate", "5,000 notifications a second: CPU in a second", "terminal rate", "cpu_s", "ms", 2.5,
            against=LOOP_OF_PYTHON, beside=LOOP_OF_PYTHON),
        key("sessions-keys", "five sessions, one of them flooded: key to frame in front, p95", "terminal sessions",
            most=3),
        Row("sessions-memory", "… memory of each further one", "terminal sessions", "each_mb", "MB", 25, against=""),
        Row("search-first", "search over 100 recordings, 2,000,000 events: first result", "terminal search", "s",
            "ms", 2, against=LOOP_OF_PYTHON, beside=LOOP_OF_PYTHON),
        Row("search-all", "… all results", "terminal search", "all_s", "ms", None, against=""),
        key("search-keys", "… key to frame while it searches, p95", "terminal search"),
        key("timeline-long-zoom", "timeline of 1,000,000 messages: zoom, key to frame, p95", "terminal long timeline",
            "zoom_p95_s"),
        key("timeline-long-pan", "… pan and cursor, p95", "terminal long timeline", "pan_p95_s"),
    ],
}  # fmt: skip

ROWS = [row for rows in GROUPS.values() for row in rows]

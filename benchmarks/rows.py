"""What is measured, and what is asked of it.

A `Measure` is one figure of several contestants, run one after the other in every round. A `Row` of the table looks at
one key of a measure, and holds ours against a contestant (a ratio) or against a bound.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("BENCH_CACHE", HERE.parent / ".cache" / "bench"))
NODE = os.environ.get("BENCH_NODE", "node")
OURS = sys.executable
THEIRS = str(CACHE / "venv" / "bin" / "python")

INSPECTOR, RAW, SDK, TYPESCRIPT = "inspector", "raw", "python sdk", "typescript"

Command = list[str]


@dataclass(frozen=True)
class Setting:
    """What a round needs to know: the URLs of the running HTTP server, and whether to be quick."""

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


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    title: str
    measure: str
    key: str
    unit: str
    budget: float
    against: str = RAW
    """The contestant that ours is divided by; empty: `budget` is a bound on our own figure."""
    more_is_better: bool = False
    plus: float = 0.0
    """Allowed on top of the budget times the other's figure."""
    beside: str = RAW
    """Whose figure stands next to ours."""


def stdio_server(*words: str) -> str:
    return json.dumps([OURS, "-S", str(HERE / "server.py"), *words])


def clients(figure: str, where: list[str], raw: list[str], size: int = 0) -> dict[str, Command]:
    """The same figure of all four."""
    words = [figure, *where, *(["--n", str(size)] if size else [])]
    return {
        INSPECTOR: [OURS, str(HERE / "clients" / "inspector_client.py"), *words],
        RAW: [THEIRS, str(HERE / "clients" / "raw.py"), *words, *raw],
        SDK: [THEIRS, str(HERE / "clients" / "sdk.py"), *words],
        TYPESCRIPT: [NODE, str(HERE / "clients" / "typescript.mjs"), *words],
    }


def on_stdio(figure: str, *raw: str, server: tuple[str, ...] = (), quick: int = 0) -> Measure:
    def commands(setting: Setting) -> dict[str, Command]:
        return clients(figure, ["--server", stdio_server(*server)], list(raw), quick if setting.quick else 0)

    return Measure(f"stdio {figure}", commands)


def on_http(figure: str, answers: str, way: str, *raw: str, n: int = 0, quick: int = 0) -> Measure:
    def commands(setting: Setting) -> dict[str, Command]:
        size = quick if setting.quick else n
        return clients(figure, ["--url", f"{setting.url}/{answers}"], ["--way", way, *raw], size)

    return Measure(f"{answers} {figure}", commands)


ALONE = "inspector, one at a time"


def http_in_flight(setting: Setting) -> dict[str, Command]:
    """A hundred in flight for everybody, and one for us."""
    found = clients("throughput", ["--url", f"{setting.url}/json"], ["--way", "post"], 1000 if setting.quick else 1500)
    return {ALONE: [*found[INSPECTOR], "--flight", "1"], **found}


def cold(setting: Setting) -> dict[str, Command]:
    """`inspector tools` as it is typed, beside programs that do just that."""
    found = clients("cold", ["--server", stdio_server()], [])
    command = json.loads(stdio_server())
    return found | {INSPECTOR: [str(Path(OURS).parent / "inspector"), "tools", "--json", "--", *command]}


def terminal(figure: str, *contestants: str, repeats: int = 1) -> Measure:
    def commands(setting: Setting) -> dict[str, Command]:
        return {who: [OURS, str(HERE / "terminal.py"), figure, who] for who in contestants}

    return Measure(f"terminal {figure}", commands, repeats=repeats)


BARE, OFFICIAL = "textual", "official"

MEASURES = [
    Measure("cold", cold, outside=True, repeats=5),
    on_stdio("latency", quick=500),
    on_stdio("throughput", quick=2000),
    on_stdio("notifications", "--log", quick=30_000),
    on_stdio("large"),
    on_stdio("pages", server=("--tools", "10000", "--page", "100")),
    on_http("latency", "json", "post", n=1000, quick=300),
    on_http("latency", "sse", "post", n=1000, quick=300),
    Measure("json in flight", http_in_flight),
    on_http("notifications", "sse", "events", quick=30_000),
    on_http("large", "json", "socket"),
    on_http("large", "sse", "socket"),
    terminal("launch", INSPECTOR, BARE, OFFICIAL, repeats=3),
    terminal("recording", INSPECTOR, BARE),
    terminal("flood", INSPECTOR),
]

ROWS = [
    Row("cold", "`inspector tools`, whole process", "cold", "s", "ms", 0.8, against=TYPESCRIPT),
    Row("cold-memory", "… its memory", "cold", "rss_mb", "MB", 60, against=""),
    Row("stdio-latency", "stdio, one call, median", "stdio latency", "p50_us", "µs", 1.6),
    Row("stdio-100", "stdio, 100 calls in flight", "stdio throughput", "per_s", "/s", 25 / 67, more_is_better=True),
    Row("stdio-notifications", "stdio, notifications", "stdio notifications", "per_s", "/s", 0.5, more_is_better=True),
    Row("stdio-large", "stdio, a result of 50 MB, CPU", "stdio large", "cpu_s", "ms", 3.0),
    Row("stdio-pages", "10,000 tools, 100 a page, CPU", "stdio pages", "cpu_s", "ms", 3.5),
    Row("json-latency", "HTTP, one call, JSON, median", "json latency", "p50_us", "µs", 0.85),
    Row("sse-latency", "HTTP, one call, events, median", "sse latency", "p50_us", "µs", 0.85),
    Row("http-100", "HTTP, 100 in flight, to one at a time", "json in flight", "per_s", "/s", 1.0, against=ALONE,
        more_is_better=True, beside=ALONE),
    Row("sse-notifications", "HTTP, notifications", "sse notifications", "per_s", "/s", 0.8, more_is_better=True),
    Row("json-large", "HTTP, a result of 50 MB, JSON, CPU", "json large", "cpu_s", "ms", 3.0),
    Row("sse-large", "HTTP, a result of 50 MB, events, CPU", "sse large", "cpu_s", "ms", 3.0),
    Row("launch", "launch to the list of tools", "terminal launch", "s", "ms", 1.0, against=BARE, plus=0.25,
        beside=BARE),
    Row("launch-official", "… than the official Inspector's", "terminal launch", "s", "ms", 1.0, against=OFFICIAL,
        beside=OFFICIAL),
    Row("log-launch", "launch to a log of 1,000,000", "terminal recording", "s", "ms", 1.0, against=BARE, plus=0.75,
        beside=BARE),
    Row("log-keys", "… key to frame, p95", "terminal recording", "key_p95_s", "ms", 0.05, against=""),
    Row("log-early-keys", "… the same while it is being read", "terminal recording", "early_p95_s", "ms", 0.05,
        against=""),
    Row("log-memory", "… its memory", "terminal recording", "rss_mb", "MB", 150, against=""),
    Row("flood-kept", "flood of 40,000: kept", "terminal flood", "kept", "", 40_000, against="", more_is_better=True),
    Row("flood-keys", "… key to frame, p95", "terminal flood", "key_p95_s", "ms", 0.1, against=""),
    Row("flood-memory", "… growth of its memory", "terminal flood", "growth_mb", "MB", 60, against=""),
]  # fmt: skip

"""Runs the benchmarks in interleaved rounds and prints tables of ratios: `run` sets up and calls this.

A machine has noise and changes its clock. Within a round the best figure of each contestant counts, because whatever
else runs can only make it worse; a ratio is taken within each round, and of all rounds the median is shown, for figures
and for ratios alike. Nothing here passes or fails: `over` is a fact to look into, not an error.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from statistics import median
from typing import Any

from rows import CACHE, GROUPS, HERE, INSPECTOR, MEASURES, NODE, OURS, ROWS, THEIRS, YARDSTICKS, Measure, Row, Setting
from table import tables

CPU_KEY = "cpu_us"
"""CPU time of one call or message: other programs on the machine change it least."""
PATIENCE = 240
"""Seconds one contestant has for one figure."""

Samples = dict[str, list[dict[str, Any]]]
"""By contestant, what each run has printed; `{"failed": why}` for one that went wrong."""


@contextlib.contextmanager
def http_server() -> Iterator[str]:
    """The benchmark server on a port of its own; gives its URL."""
    command = [OURS, "-S", str(HERE / "server.py"), "--http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def run(command: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """The last line that the contestant printed."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, env=environment, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {PATIENCE} s"}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        words = [line for line in done.stderr.strip().splitlines() if "rror" in line] or ["no output"]
        return {"failed": words[-1].strip()[:200], "code": done.returncode}
    result: dict[str, Any] = json.loads(lines[-1])
    return result


def run_outside(command: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """Seconds and memory of the whole process."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        return {"failed": f"exit code {process.returncode}"}
    return {"s": seconds, "cpu_s": used.ru_utime + used.ru_stime, "rss_mb": used.ru_maxrss / 1024}


def measure_all(measures: list[Measure], rounds: int, minutes: float, quick: bool) -> tuple[dict[str, Samples], int]:
    """Run all contestants of all measures `rounds` times in random order. Returns the samples and the rounds made.

    Once `minutes` are over no other round is begun.
    """
    began = time.perf_counter()
    samples: dict[str, Samples] = {measure.name: {} for measure in measures}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, http_server() as url:
        environment = os.environ | {
            "XDG_STATE_HOME": f"{folder}/state",
            "XDG_CONFIG_HOME": f"{folder}/config",
            "BENCH_NPM": str(CACHE / "npm"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # An installed program is compiled once.
        for number in range(1, rounds + 1):
            if number > 1 and time.perf_counter() - began > minutes * 60:
                rounds = number - 1
                break
            for measure in measures:
                contestants = [
                    (who, command)
                    for who, command in measure.commands(Setting(url, quick)).items()
                    if number == 1 or who not in measure.once
                ] * measure.repeats
                random.shuffle(contestants)
                for who, command in contestants:
                    say(f"round {number} of {rounds}: {measure.name}, {who}")
                    result = (run_outside if measure.outside else run)(command, environment)
                    samples[measure.name].setdefault(who, []).append(result)
    say("")
    return samples, rounds


def say(text: str) -> None:
    """Print progress, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def by_round(runs: list[dict[str, Any]], key: str, repeats: int, more_is_better: bool) -> list[float]:
    """The best figure of each round; empty where a run has failed or has no such figure."""
    if not all(key in run for run in runs):
        return []
    best = max if more_is_better else min
    return [best(run[key] for run in runs[i : i + repeats]) for i in range(0, len(runs), repeats)]


def shown_figure(row: Row, runs: list[dict[str, Any]], repeats: int) -> float | str | None:
    """The cell of a contestant in the table: the median of the rounds, or in words why there is none."""
    values = by_round(runs, row.table_key, repeats, row.more_is_better or row.unit == "/s")
    return median(values) if values else next((run["failed"] for run in runs if "failed" in run), None)


def with_yardstick(row: Row, measured: dict[str, Samples], repeats: dict[str, int]) -> Samples:
    """The samples of the measure of a row, with its yardstick as one more contestant."""
    samples = measured[row.measure]
    if (yardstick := YARDSTICKS.get(row.against)) is None:
        return samples
    runs = measured[yardstick.measure][yardstick.contestant]
    figures = by_round(runs, yardstick.key, repeats[yardstick.measure], more_is_better=False)
    return samples | {row.against: [{row.key: figure} for figure in figures for _ in range(repeats[row.measure])]}


def judge(group: str, row: Row, samples: Samples, repeats: int) -> dict[str, Any]:
    """A row of the table, as it stands in the JSON."""
    figures = {who: shown_figure(row, runs, repeats) for who, runs in samples.items()}
    facts: dict[str, Any] = {
        "group": group, "row": row.name, "title": row.title, "unit": row.unit, "inspector": figures.pop(INSPECTOR),
        "others": figures, "beside": row.beside, "against": row.against, "budget": row.budget, "plus": row.plus,
        "more_is_better": row.more_is_better, "judged_on": row.key, "ok": None,
    }  # fmt: skip
    facts["ratio"] = ratio_of(pairs(row, row.table_key, samples, repeats)) if row.against else None
    facts["cpu_ratio"] = ratio_of(pairs(row, CPU_KEY, samples, repeats)) if row.against else None
    judged = pairs(row, row.key, samples, repeats)
    if judged and row.budget is not None:
        over = median((mine - row.plus) / theirs for mine, theirs in judged) - row.budget
        facts["ok"] = over >= 0 if row.more_is_better else over <= 0
    return facts


def pairs(row: Row, key: str, samples: Samples, repeats: int) -> list[tuple[float, float]]:
    """Our figure and the one to compare with, for each round; empty if either is missing."""
    more = key == "per_s" or (row.more_is_better and key == row.key)
    ours = by_round(samples[INSPECTOR], key, repeats, more)
    theirs = by_round(samples[row.against], key, repeats, more) if row.against else [1.0] * len(ours)
    return list(zip(ours, theirs, strict=True)) if ours and theirs else []


def ratio_of(figures: list[tuple[float, float]]) -> float | None:
    """The median of the rounds."""
    return median(mine / theirs for mine, theirs in figures) if figures else None


def versions() -> dict[str, str]:
    """The measurements and the machine."""
    names = ("mcp", "httpx", "orjson")
    ask = f"import importlib.metadata as m, json; print(json.dumps({{n: m.version(n) for n in {names}}}))"
    theirs = json.loads(subprocess.run([THEIRS, "-c", ask], capture_output=True, text=True, check=True).stdout)
    packages = CACHE / "npm" / "node_modules" / "@modelcontextprotocol"
    for name in ("client", "inspector"):
        theirs[f"@modelcontextprotocol/{name}"] = json.loads((packages / name / "package.json").read_text())["version"]
    node = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return {
        "python": platform.python_version(), "node": node, "cores": str(os.cpu_count()), "system": platform.platform(),
        "textual": importlib.metadata.version("textual"), **theirs,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/run", description="Ratios against a raw loop and against peers.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=60, help="begin no other round after so many (60)")
    parser.add_argument("--quick", action="store_true", help="one round of small sizes")
    parser.add_argument("--only", metavar="WORD", help="the rows whose name has this word in it")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    words = parser.parse_args()
    chosen = [row for row in ROWS if not words.only or words.only in row.name]
    if words.list or not chosen:
        print("\n".join(row.name for row in ROWS))
        return
    needed = {row.measure for row in chosen}
    needed |= {YARDSTICKS[row.against].measure for row in chosen if row.against in YARDSTICKS}
    started = datetime.now(UTC)
    facts = versions()
    measures = [measure for measure in MEASURES if measure.name in needed]
    samples, rounds = measure_all(measures, 1 if words.quick else words.rounds, words.minutes, words.quick)
    repeats = {measure.name: measure.repeats for measure in measures}
    group_of = {row.name: group for group, rows in GROUPS.items() for row in rows}
    run = {
        "started": started.isoformat(), "seconds": round((datetime.now(UTC) - started).total_seconds()),
        "rounds": rounds, "quick": words.quick, "versions": facts,
        "rows": [
            judge(group_of[row.name], row, with_yardstick(row, samples, repeats), repeats[row.measure])
            for row in chosen
        ],
        "samples": samples,
    }  # fmt: skip
    print(tables(run))
    results = HERE / "results" / f"{started:%Y%m%d-%H%M%S}.json"
    results.parent.mkdir(exist_ok=True)
    results.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n")
    print(f"All samples: {os.path.relpath(results)}")


if __name__ == "__main__":
    main()

"""An hour of use: does anything get lost, and does anything stay behind? `soak` calls this.

The interface runs on a pseudo-terminal with a server that sends 1,000 log messages a second. Keys call tools, cancel
calls, answer questions, move through the log, reconnect and restart the server, which also crashes. Beside it
`inspector tap` stands between another such server and a client. Every ten seconds the memory, descriptors, threads,
tasks and children of both are sampled.

Each key counts only when the server has seen what it does. At the end what the servers say that they sent and received
is compared with both recordings, number by number. PREFIX.csv has the samples, PREFIX.svg their curve, PREFIX.json the
verdict. The exit code is 1 if anything was lost, grew or stayed.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rows import HERE, OURS
from soak_picture import picture
from terminal import CTRL_END, CTRL_HOME, DOWN, END, HOME, PAGE_UP, UP, Late, Terminal

from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

TOOLS = ("echo", "slow", "ask", "crash")
"""The tools of the server, in the order of its list."""
RECONNECT, RESTART, START_AGAIN = b"6r", b"6R", b"r"
"""In the pane of the server, and in the one that a crash opens."""
CALL, ESCAPE = b"\x12", b"\x1b"
PATIENCE = 30.0
"""Seconds that an effect of a key may take, on a machine that does other things too."""
EACH = 10.0
"""Seconds between two samples."""
WARM_UP = 5.0
"""Minutes whose growth does not count; at most a quarter of a run."""
MAX_GROWTH = 24
"""Bytes that a process may grow for each message that it records: its index is in files, the rows of lists are not."""
SLACK_MB = 6.0
"""Growth that is never a fault: what the allocator keeps moves by so much."""
NUMBERED = re.compile(rb'"data\\": ?\\"(\d+) (\d+) x')

SETTLED = 12.0
"""Seconds without keys before things are counted."""
NOTICES = 15
"""Seconds more for the last notices to go on a busy machine: each is a task while it is shown."""
SAMPLES = 5
"""Samples of a settled process, one a second. The one in the middle counts: the timer of the next drawing is a task
that does not exist while the drawing is made, and a sample that falls into a drawing has one task less."""

NAMED = 5
"""Tasks and threads that a sentence of the verdict names."""

_INDEX = re.compile(r"/inspector/index/")
"""The files of an index: they are opened once, when a recording has become long."""
_POOLED = re.compile("asyncio_|ThreadPoolExecutor")
"""The names of threads that a pool keeps: there are at most six, and they come when they are first needed at once."""


@dataclass
class Finding:
    """One sentence of the verdict."""

    text: str
    ok: bool


class Ledger:
    """The files of the server processes in a folder, read while they are written."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.seen: Counter[str] = Counter()
        """Events by name, calls by `call NAME`."""
        self.ends: dict[int, dict[str, Any]] = {}
        """The last line of each process that has ended, by its name."""
        self.pids: dict[int, int] = {}
        """The process id of each, by its name."""
        self._at: dict[Path, int] = {}

    def poll(self) -> None:
        """Read what is new."""
        for path in self.folder.iterdir():
            if int(path.stem) in self.ends:
                continue
            with path.open("rb") as file:
                file.seek(self._at.get(path, 0))
                whole = file.read().rpartition(b"\n")[0]
            for line in whole.splitlines():
                fact = json.loads(line)
                self.pids[fact["name"]] = fact["pid"]
                self.seen[f"call {fact['tool']}" if fact["event"] == "call" else fact["event"]] += 1
                if fact["event"] == "end":
                    self.ends[fact["name"]] = fact
            self._at[path] = self._at.get(path, 0) + (len(whole) + 1 if whole else 0)

    def total(self, side: str) -> Counter[str]:
        """The sum over all processes of what they `sent` or `received`, by kind."""
        total: Counter[str] = Counter()
        for end in self.ends.values():
            total.update(end[side])
        return total


@dataclass
class Process:
    """Inspector in one of its two places, as the system sees it."""

    name: str
    pid: int
    counts: Path
    children: set[int] = field(default_factory=set)
    """Every child that was ever seen."""
    own: dict[str, Any] = field(default_factory=dict)
    """The names of its tasks and threads, at the last sample."""

    def sample(self) -> dict[str, float]:
        """Return its facts of now. Raises `Late` if it does not write its own counts."""
        self.counts.unlink(missing_ok=True)
        os.kill(self.pid, signal.SIGUSR1)
        proc = Path(f"/proc/{self.pid}")
        status = dict(re.findall(r"(RssAnon):\s+(\d+)", (proc / "status").read_text()))
        times = (proc / "stat").read_text().rpartition(")")[2].split()
        children = {int(pid) for task in (proc / "task").iterdir() for pid in (task / "children").read_text().split()}
        self.children |= children
        until = time.monotonic() + PATIENCE
        while not self.counts.exists():
            if time.monotonic() > until:
                raise Late(f"{self.name} did not write its counts")
            time.sleep(0.005)
        self.own = own = json.loads(self.counts.read_text())
        return {
            "mb": int(status["RssAnon"]) / 1024, "descriptors": sum(map(_is_counted, (proc / "fd").iterdir())),
            "threads": sum(not _POOLED.match(name) for name in own["threads"]), "tasks": len(own["tasks"]),
            "children": len(children),
            "objects": own["objects"], "cpu_s": (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK"),
        }  # fmt: skip


def _is_counted(descriptor: Path) -> bool:
    try:
        return _INDEX.search(str(descriptor.readlink())) is None
    except OSError:  # It was closed meanwhile.
        return False


class TappedClient:
    """A client behind the tap: it counts what arrives and calls `echo` once a second."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.messages = self.answers = self.calls = 0
        self.wrong = ""
        """Why the numbers of the messages were not in order, if they were not."""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._send(
            "initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "s", "version": "1"}
        )
        self._send("notifications/initialized", None)

    def _send(self, method: str, id: int | None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if id is None else {"id": id})
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def call(self) -> None:
        """Call a tool without waiting for the answer."""
        self.calls += 1
        self._send("tools/call", self.calls, name="echo", arguments={"text": str(self.calls)})

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if b'"method":' not in line:
                self.answers += 1
                continue
            number = json.loads(line)["params"]["data"].split()[1]
            if int(number) != self.messages:
                self.wrong = self.wrong or f"message {number} came as number {self.messages}"
            self.messages += 1

    def close(self) -> int:
        """Close the input; return the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code


class Person:
    """Presses keys and waits for what the server sees of them."""

    def __init__(self, terminal: Terminal, ledger: Ledger) -> None:
        self.terminal = terminal
        self.ledger = ledger
        self.problems: list[str] = []
        self.done: Counter[str] = Counter()

    def until(self, what: str, count: int) -> None:
        """Read the screen until the servers have noted `what` so often. Raises `Late`."""
        end = time.monotonic() + PATIENCE
        while True:
            self.ledger.poll()
            if self.ledger.seen[what] >= count:
                return
            if time.monotonic() > end:
                raise Late(f"no “{what}” within {PATIENCE:g} s")
            self.terminal.read(0.02)

    def press(self, keys: bytes, *effects: str) -> None:
        """Press keys and wait for one more of each effect."""
        self.ledger.poll()
        expected = [(effect, self.ledger.seen[effect] + 1) for effect in effects]
        self.terminal.press(keys)
        for effect, count in expected:
            self.until(effect, count)

    def call(self, tool: str) -> None:
        self.press(b"1" + HOME + DOWN * TOOLS.index(tool) + CALL, f"call {tool}")

    def cancel(self) -> None:
        self.call("slow")
        self.terminal.watch(0.3)
        self.press(ESCAPE, "cancelled")

    def answer(self) -> None:
        self.call("ask")
        self.terminal.shows(b"decline", patience=PATIENCE)  # A key of the question, so it has the focus.
        self.terminal.watch(0.6)  # What is pressed as a question comes is not an answer.
        self.press(CALL, "answered")
        self.terminal.shows(b"Oslo", patience=PATIENCE)
        self.terminal.watch(0.3)
        self.terminal.press(ESCAPE)
        self.terminal.watch(0.2)

    def look(self) -> None:
        """Move through the log, and through the first message in detail."""
        for keys in (b"m", UP * 5, PAGE_UP * 3, DOWN, CTRL_HOME, CTRL_END, END, b"1"):
            self.terminal.press(keys)
            self.terminal.watch(0.15)

    def filter(self) -> None:
        for keys in (b"m", b"/method:tools/call\r", UP, b"g", ESCAPE, ESCAPE, END, b"1"):
            self.terminal.press(keys)
            self.terminal.watch(0.4)

    def timeline(self) -> None:
        for keys in (b"m", b"z", b"v", b"++", b"-", b"v", b"z", END, b"1"):
            self.terminal.press(keys)
            self.terminal.watch(0.4)

    def reconnect(self) -> None:
        self.press(RECONNECT, "end", "start", "listed")
        self.terminal.watch(0.3)

    def restart(self) -> None:
        self.press(RESTART, "end", "start", "listed")
        self.terminal.watch(0.3)

    def crash(self) -> None:
        self.call("crash")
        self.until("end", len(self.ledger.pids))
        self.terminal.shows(b"start again", patience=PATIENCE)
        self.terminal.watch(0.3)
        self.press(START_AGAIN, "start", "listed")
        self.terminal.watch(0.3)

    def cycle(self, number: int) -> None:
        """Everything that a person does in some seconds. A problem is noted, and the next cycle begins."""
        steps: list[Callable[[], None]] = [lambda: self.call("echo"), self.cancel, self.answer, self.look]
        for interval, step in (
            (4, self.reconnect),
            (6, self.restart),
            (10, self.crash),
            (9, self.filter),
            (13, self.timeline),
        ):
            if number % interval == 0:
                steps.append(step)
        for step in steps:
            try:
                step()
                self.done[getattr(step, "__name__", "call").replace("<lambda>", "call")] += 1
            except Late as late:
                self.problems.append(f"cycle {number}: {late}")
                self.terminal.press(ESCAPE)
                self.terminal.watch(1.0)


def sequences(path: Path) -> tuple[dict[int, int], list[str]]:
    """How many numbered messages of each server process a recording has, and what is wrong with their numbers."""
    counts: dict[int, int] = {}
    wrong = []
    with path.open("rb") as file:
        for line in file:
            if match := NUMBERED.search(line):
                name, number = int(match[1]), int(match[2])
                if number != counts.get(name, 0):
                    wrong.append(f"process {name}: message {number} stands where {counts.get(name, 0)} should")
                counts[name] = number + 1
    return counts, wrong


def compare(name: str, path: Path, ledger: Ledger) -> list[Finding]:
    """A recording beside what its servers say."""
    counts, wrong = sequences(path)
    sent_counts = {process: end["sent"]["message"] for process, end in ledger.ends.items() if end["sent"]["message"]}
    sent = sum(sent_counts.values())
    lost = [f"process {process} sent {count}, {counts.get(process, 0)} are recorded"
            for process, count in sent_counts.items() if count != counts.get(process, 0)]  # fmt: skip
    findings = [
        Finding(f"{name}: {sum(counts.values()):,} of {sent:,} numbered messages are recorded, in order"
                + "".join(f"; {text}" for text in [*wrong[:3], *lost[:3]]), not wrong and not lost),
        Finding(f"{name}: {len(ledger.ends)} of {len(ledger.pids)} server processes said what they sent",
                len(ledger.ends) == len(ledger.pids)),
    ]  # fmt: skip
    journal = Journal.open(path)
    try:
        while journal.refresh():
            pass
        out, back = ledger.total("sent"), ledger.total("received")
        for text, query, count in (
            ("progress notifications", Query(dir=Dir.RECV, method="notifications/progress"), out["progress"]),
            ("answers", Query(dir=Dir.RECV, shape=(Shape.RESULT, Shape.ERROR)), out["response"]),
            ("questions", Query(dir=Dir.RECV, shape=Shape.REQUEST), out["request"]),
            ("requests", Query(dir=Dir.SEND, shape=Shape.REQUEST), back["request"]),
            ("answers to questions", Query(dir=Dir.SEND, shape=(Shape.RESULT, Shape.ERROR)), back["response"]),
            (
                "cancellations and other notifications",
                Query(dir=Dir.SEND, shape=Shape.NOTIFICATION),
                back["notification"],
            ),
        ):
            recorded = query.count(journal.index)
            findings.append(Finding(f"{name}: {recorded:,} of {count:,} {text} are recorded", recorded == count))
        findings.append(Finding(f"{name}: no line is unreadable", Query(kind=Kind.INVALID).count(journal.index) == 0))
    finally:
        journal.close()
        journal.release()
    return findings


def slope(samples: list[dict[str, float]], x: str, y: str) -> float:
    """The least-squares slope of `y` over `x`."""
    xs, ys = [sample[x] for sample in samples], [sample[y] for sample in samples]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((a - mean_x) ** 2 for a in xs)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(xs, ys, strict=True)) / spread if spread else 0.0


def growth(name: str, samples: list[dict[str, float]], warm: float) -> Finding:
    """How much a process grew for each message after the warm-up."""
    late = [sample for sample in samples if sample["minutes"] >= warm]
    per_message = slope(late, f"{name}_messages", f"{name}_mb") * (1 << 20)
    messages = late[-1][f"{name}_messages"] - late[0][f"{name}_messages"]
    total = per_message * messages / (1 << 20)
    first, last = late[0][f"{name}_mb"], late[-1][f"{name}_mb"]
    text = f"{name}: {first:.1f} MB after {late[0]['minutes']:.1f} minutes, {last:.1f} MB at the end"
    text += f"; {per_message:.0f} bytes a message"
    return Finding(text, per_message <= MAX_GROWTH or total <= SLACK_MB)


def _facts_of(process: Process, row: dict[str, float]) -> dict[str, Any]:
    facts: dict[str, Any] = {
        key.removeprefix(f"{process.name}_"): value for key, value in row.items() if key.startswith(process.name)
    }
    return facts | {"own": process.own}


def left(name: str, before: dict[str, Any], after: dict[str, Any]) -> list[Finding]:
    """Compare what a process has with what it had before in the same state."""
    findings = []
    for key in ("descriptors", "threads", "tasks", "children"):
        text = f"{name}: {before[key]:.0f} {key} at first, {after[key]:.0f} at the end"
        then, now = (Counter(facts["own"].get(key, ())) for facts in (before, after))
        for word, names in (("new", now - then), ("gone", then - now)):
            if names:
                listed = [f"{count} × {what}" for what, count in names.most_common(NAMED)]
                text += f"; {word} are " + ", ".join(listed + ["…"] * (len(names) > NAMED))
        findings.append(Finding(text, after[key] <= before[key]))
    return findings


def alive(pids: set[int], folder: Path) -> list[int]:
    """The processes of a run that still exist, also those that ended and are not waited for.

    In an hour a system gives the number of an ended process to another one, which does not have the folder in its
    command line, or is the child of another program.
    """
    return [
        pid
        for pid in pids
        if (words := command_line(pid)) is not None
        and (str(folder) in words if words else parent(pid) in (1, os.getpid()))
    ]


def parent(pid: int) -> int:
    """The parent of a process: the first process for what an ended program left; 0 without such a process."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except OSError:
        return 0


def command_line(pid: int) -> str | None:
    """The command line of a process, empty for one that ended; None without such a process."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return None


class Soak:
    """One run, in a folder of its own."""

    def __init__(self, folder: Path, minutes: float, rate: int, fault: str) -> None:
        self.minutes, self.folder = minutes, folder
        self.samples: list[dict[str, float]] = []
        environment = os.environ | {
            "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config"), "SOAK_FAULT": fault,
        }  # fmt: skip
        self.ledgers = {name: Ledger(folder / f"{name}-ledger") for name in ("interface", "tap")}
        self.recordings = {name: folder / f"{name}.mcp.jsonl" for name in self.ledgers}
        command = {
            name: [
                OURS, str(HERE / "soak_program.py"), str(folder / f"{name}.counts"),
                *(["tap"] if name == "tap" else []),
                "--record", str(self.recordings[name]),
                "--", OURS, "-S", str(HERE / "soak_server.py"), str(ledger.folder), "--rate", str(rate),
            ] for name, ledger in self.ledgers.items()
        }  # fmt: skip
        self.terminal = Terminal(command["interface"], environment, str(folder))
        self.client = TappedClient(command["tap"], environment)
        self.person = Person(self.terminal, self.ledgers["interface"])
        self.processes = [
            Process("interface", self.terminal.pid, folder / "interface.counts"),
            Process("tap", self.client.process.pid, folder / "tap.counts"),
        ]

    def sample(self, minutes: float) -> dict[str, float]:
        """One line of the curve."""
        row = {"minutes": minutes}
        for process in self.processes:
            facts = process.sample()
            size = self.recordings[process.name].stat().st_size
            facts |= {"messages": self.client.messages if process.name == "tap" else size / self._line()}
            row |= {f"{process.name}_{key}": value for key, value in facts.items()}
        self.samples.append(row)
        return row

    def _line(self) -> float:
        """Bytes of a line of the interface's recording: the tap's has the same messages, and its client counts them."""
        return self.recordings["tap"].stat().st_size / max(1, self.client.messages)

    def settled(self) -> list[dict[str, Any]]:
        """Return the facts of each process with nothing in flight."""
        self.terminal.press(b"1" + HOME)
        self.terminal.watch(SETTLED)
        settled: list[list[dict[str, Any]]] = []
        while len(settled) < SAMPLES + NOTICES:
            facts = self.sample((time.monotonic() - self.began) / 60)
            settled.append([_facts_of(process, facts) for process in self.processes])
            if len(settled) >= SAMPLES and not any(
                "ToastHolder" in task for one in settled[-1] for task in one["own"]["tasks"]
            ):
                break
            self.terminal.watch(1.0)
        return [
            sorted(one, key=lambda facts: facts["tasks"])[SAMPLES // 2] for one in zip(*settled[-SAMPLES:], strict=True)
        ]

    def run(self) -> list[Finding]:
        """Use it for the given time, end it, and compare."""
        self.terminal.shows(b"crash")
        for _ in range(int(PATIENCE)):
            if self.client.messages:
                break
            self.terminal.watch(1.0)
        else:
            sys.exit(f"No message has come through the tap in {PATIENCE:g} seconds.")
        self.began = time.monotonic()
        warm = min(WARM_UP, self.minutes / 4)
        before: list[dict[str, Any]] = []
        number, sampled = 0, 0.0
        while (now := time.monotonic() - self.began) < self.minutes * 60:
            if now >= sampled:
                sampled += EACH
                self.sample(now / 60)
            if not before and now >= warm * 60:
                before = self.settled()
            self.client.call()
            self.person.cycle(number)
            number += 1
            say(f"{now / 60:.1f} minutes, cycle {number}, {len(self.person.problems)} problems, "
                f"{self.samples[-1]['interface_mb']:.0f} and {self.samples[-1]['tap_mb']:.0f} MB")  # fmt: skip
        after = self.settled()
        findings = [growth(process.name, self.samples, warm) for process in self.processes]
        for process, at_first, at_last in zip(self.processes, before, after, strict=True):
            findings += left(process.name, at_first, at_last)
        findings += self.end()
        for name, ledger in self.ledgers.items():
            ledger.poll()
            findings += compare(name, self.recordings[name], ledger)
        sent = self.ledgers["tap"].total("sent")
        client = self.client
        problems = self.person.problems
        findings += [
            Finding(f"tap: {client.messages:,} of {sent['message']:,} messages reached the client {client.wrong}",
                    client.messages == sent["message"] and not client.wrong),
            Finding(f"tap: {client.answers:,} of {sent['response']:,} answers reached the client",
                    client.answers == sent["response"]),
            Finding(f"{len(problems)} keys had no effect{''.join(f'; {text}' for text in problems[:5])}", not problems),
        ]  # fmt: skip
        return findings

    def end(self) -> list[Finding]:
        """Quit both; what is still there afterwards."""
        self.terminal.press(b"q")
        code, until = None, time.monotonic() + PATIENCE
        while code is None and time.monotonic() < until:
            try:
                self.terminal.read(0.05)
            except Late:
                time.sleep(0.05)
            pid, status = os.waitpid(self.terminal.pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
        if code is None:
            self.terminal.end()
        tapped = self.client.close()
        for ledger in self.ledgers.values():
            ledger.poll()
        pids = set.union(
            *(process.children for process in self.processes), *(set(x.pids.values()) for x in self.ledgers.values())
        )
        still = alive(pids, self.folder)
        return [
            Finding(f"interface: ended with exit code {code}", code == 0),
            Finding(f"tap: ended with exit code {tapped}", tapped == 0),
            Finding(f"{len(still)} of {len(pids)} child processes are left", not still),
        ]


def say(text: str) -> None:
    """Print progress."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks/soak", description="An hour of use: nothing lost, nothing left.")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=int, default=1000, help="log messages a second, of each of both servers")
    parser.add_argument("--out", type=Path, help="where to write PREFIX.csv, .svg and .json", metavar="PREFIX")
    parser.add_argument("--fault", default="", choices=("leak", "task", "descriptor", "thread", "lose"),
                        help="break Inspector, to see the run fail")  # fmt: skip
    words = parser.parse_args()
    started = datetime.now(UTC)
    out = words.out or HERE / "results" / f"soak-{started:%Y%m%d-%H%M%S}"
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        soak = Soak(Path(folder), words.minutes, words.rate, words.fault)
        try:
            findings = soak.run()
        finally:
            with out.with_suffix(".csv").open("w", newline="") as file:
                if soak.samples:
                    writer = csv.DictWriter(file, list(soak.samples[0]))
                    writer.writeheader()
                    writer.writerows({key: round(value, 3) for key, value in one.items()} for one in soak.samples)
            soak.client.process.kill()
            if os.environ.get("SOAK_TYPES"):
                os.system(f"cp {folder}/*.types {out.parent}")
    say("")
    ok = all(finding.ok for finding in findings)
    verdict = {
        "started": started.isoformat(), "minutes": words.minutes, "rate": words.rate, "fault": words.fault, "ok": ok,
        "did": dict(soak.person.done), "findings": [vars(finding) for finding in findings],
    }  # fmt: skip
    out.with_suffix(".json").write_text(json.dumps(verdict, indent=1, ensure_ascii=False) + "\n")
    out.with_suffix(".svg").write_text(picture(soak.samples))
    print(", ".join(f"{count} × {name}" for name, count in soak.person.done.items()))
    for finding in findings:
        print(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.text}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())

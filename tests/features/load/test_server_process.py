"""CPU time and memory from /proc: the process, its children, and those that have ended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inspector.features.load.server_process import LoadedServer
from inspector.system.posix import processes


def process(proc: Path, pid: int, ticks: int, pages: int, children: str = "") -> None:
    folder = proc / str(pid) / "task" / str(pid)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "children").write_text(children)
    fields = ["S", *["0"] * 10, str(ticks), "0", *["0"] * 8, str(pages), *["0"] * 20]
    (proc / str(pid) / "stat").write_text(f"{pid} (a (b) c) " + " ".join(fields))


def test_a_process_with_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PROC", str(tmp_path))
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    process(tmp_path, 10, 5 * tick, 100, "11 ")
    process(tmp_path, 11, 2 * tick, 50)
    server = LoadedServer()
    assert server.cpu is None
    assert server.rss is None
    server.read([10])
    assert server.cpu == 0
    assert server.rss == 150 * page
    process(tmp_path, 10, 6 * tick, 100, "12 ")
    process(tmp_path, 12, 3 * tick, 10)
    server.read([10])
    assert server.cpu == pytest.approx(1 + 3)
    assert server.rss == 110 * page
    assert server.most_rss == 150 * page


def test_a_system_without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PROC", str(tmp_path))
    server = LoadedServer()
    server.read([10])
    assert server.cpu is None
    assert server.rss is None


def test_our_own_process_is_found() -> None:
    server = LoadedServer()
    server.read([os.getpid()])
    assert server.rss is None or server.rss > 1_000_000

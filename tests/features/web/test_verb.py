"""`inspector web` without its extra, and its end."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from inspector.features.web import verb
from tests.cli.conftest import Run, home, run
from tests.processes import INSPECTOR, environment, left_of

__all__ = ["home", "run"]


def test_without_the_extra_it_says_how_to_install_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "find_spec", lambda name: None)
    ran = run("web")
    assert ran.code == 2
    assert "needs the package textual-serve" in ran.err
    assert "pip install '.[web]'" in ran.err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_it_prints_one_address_and_ends_with_a_signal(tmp_path: Path, name: str) -> None:
    process = subprocess.Popen(
        [*INSPECTOR, "web"],
        env=environment(tmp_path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:")
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert url.rsplit("/", 2)[1] not in err
    assert left_of(process.pid) == []

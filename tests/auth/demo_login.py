"""The demo server behind its authorization server, as a process; and a browser that follows redirects."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
BROWSER = """#!{python}
import contextlib, sys, urllib.error, urllib.request
with contextlib.suppress(urllib.error.HTTPError):  # A browser shows the page.
    urllib.request.urlopen(sys.argv[1], timeout=20).read()
"""


@contextmanager
def protected_server(*options: str) -> Iterator[str]:
    """The URL of a server that requires a token; its authorization server allows every request."""
    words = [sys.executable, "-m", "inspector.demo", "--http", "0", "--auth", "--auth-auto", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if line.startswith("demo server on "):
                    url = line.split()[-1]
                if line.startswith("authorization server:"):
                    break
            yield url
        finally:
            process.terminate()


def browser(folder: Path) -> str:
    """A program that follows an address to where it leads, as a browser does."""
    program = folder / "browser"
    program.write_text(BROWSER.format(python=sys.executable))
    program.chmod(0o755)
    return str(program)


def environment(state: Path, **more: str) -> dict[str, str]:
    """Variables for a command of ours: state of its own, no keyring of the person who runs the tests."""
    own = {
        "PYTHONPATH": str(ROOT), "INSPECTOR_STATE_HOME": str(state), "INSPECTOR_CONFIG_HOME": str(state),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring", "TERM": "xterm", "COLUMNS": "100",
    }  # fmt: skip
    return os.environ | own | more

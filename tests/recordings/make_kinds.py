"""Makes `recordings/kinds/`: a small recording of each kind, and beside it the facts that a reader must find in it.

`make golden` runs it, or `python -m tests.recordings.make_kinds NAME …` for some of them. The verbs of the command line
make them, as a user would. A recording of an older version is never made again: it stays as it is, with its
facts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from inspector.config.paths import RECORDING_SUFFIX
from inspector.journal.journal import whole_journal
from tests.auth.demo_login import browser
from tests.processes import INSPECTOR, environment
from tests.recordings.kinds import FOLDER, facts
from tests.recordings.make_recordings import neutral, serving

DEMO = ("--", "python", "-m", "inspector.demo", "--items", "3", "--tick", "60")
HOSTILE = ("--", "python", str(Path(__file__).parents[1] / "servers" / "hostile.py"), "--case")
SLOW = ("call", "slow", "seconds=0.05", "steps=2")
"""A call of the command line, which lists the tools first."""
COUNT = ("request", "tools/call", '{"name":"count","arguments":{"to":2,"interval":0.01},"_meta":{"progressToken":"p"}}')
ADD = ("request", "tools/call", '{"name":"add","arguments":{"a":1,"b":2}}')
HANG_UP = ("request", "tools/call", '{"name":"hang-up","arguments":{"retry":50}}')
ASK = ("request", "tools/call", '{"name":"ask-model"}')
ECHO = ("request", "tools/call", '{"name":"echo","arguments":{"message":"hello"}}')
NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
URL, SSE = "{url}", "{sse}"
"""The demo server over HTTP, instead of a target."""

KINDS: dict[str, tuple[str, ...]] = {
    "stdio-legacy": ("--era", "legacy", *SLOW, *DEMO),
    "stdio-modern": ("--era", "modern", *SLOW, *DEMO),
    "http-legacy": ("--era", "legacy", *COUNT, URL),
    "http-modern": ("--era", "modern", *COUNT, URL),
    "http-json": ("--era", "legacy", *ADD, URL),
    "http-resumed": ("--era", "legacy", *HANG_UP, URL),
    "http-sse": ("--transport", "sse", *COUNT, SSE),
    "sampling": ("--era", "legacy", "--sampling", "a word", *ASK, *DEMO),
    "hostile": ("--era", "legacy", *ECHO, *HOSTILE, "invalid-utf8"),
}
"""What is said to `inspector`, besides `--record`, for each that a session is."""


def say(folder: Path, *words: str, **variables: str) -> None:
    """Run `inspector`; some of the sessions end in an error."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(
        [*INSPECTOR, *words], cwd=folder, env=environment(folder, PATH=path, **NO_KEYRING, **variables), check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip


def record(folder: Path, name: str, url: str) -> None:
    """Make the recording of a session."""
    places = {URL: url, SSE: url.replace("/mcp", "/sse")}
    verb = [places.get(word, word) for word in KINDS[name]]
    at = next(i for i, word in enumerate(verb) if word in ("call", "request"))
    flags, call = verb[:at], verb[at:]
    last = call.index("--") if "--" in call else len(call) - 1
    say(folder, *call[:last], *flags, "--record", f"{name}{RECORDING_SUFFIX}", *call[last:])


def made_by_others(folder: Path) -> None:
    """Make the recordings of a tap, a mock server, a rerun and a login."""
    call = (*ADD, "--era", "legacy", "--no-record", "--")
    say(folder, *call, "inspector", "tap", "--record", f"tap{RECORDING_SUFFIX}", *DEMO)
    say(folder, *call, "inspector", "serve", "--record", f"mock{RECORDING_SUFFIX}", f"tap{RECORDING_SUFFIX}")
    say(folder, "rerun", f"tap{RECORDING_SUFFIX}", "--record", f"rerun{RECORDING_SUFFIX}", *DEMO)
    with serving("--auth", "--auth-auto") as url:
        say(folder, "login", "--open-browser", "--record", f"auth{RECORDING_SUFFIX}", url, BROWSER=browser(folder))


def damaged(folder: Path) -> None:
    """A recording whose writer was killed within a character, one of a later version, and an empty session."""
    whole = neutral((folder / f"stdio-legacy{RECORDING_SUFFIX}").read_bytes(), "kind stdio-legacy", str(folder))
    header, *lines = whole.splitlines(keepends=True)
    torn = b"".join([header, *lines[:6]]) + '{"n":7,"t":9,"dir":"recv","kind":"rpc","ch":"stdio","raw":"…'.encode()[:-1]
    (folder / f"torn{RECORDING_SUFFIX}").write_bytes(torn)
    newer = json.loads(header) | {"version": 2, "clock": "tai"}
    event = {"n": 1, "at": {"us": 5}, "way": "out", "kind": "message", "body": {"jsonrpc": "2.0"}}
    (folder / f"newer{RECORDING_SUFFIX}").write_text(
        "\n".join(map(json.dumps, (newer, event))) + "\n", encoding="utf-8"
    )
    unknown = {"n": 1, "t": 5, "dir": "local", "kind": "weather", "ch": "", "sky": "clear"}
    (folder / f"unknown-kind{RECORDING_SUFFIX}").write_bytes(header + json.dumps(unknown).encode() + b"\n" + lines[-1])
    (folder / f"empty{RECORDING_SUFFIX}").write_bytes(header)


def marked(folder: Path) -> None:
    """A recording in which the user marked two messages after the session, and removed a third mark."""
    path = folder / f"marks{RECORDING_SUFFIX}"
    path.write_bytes((folder / f"stdio-modern{RECORDING_SUFFIX}").read_bytes())
    with whole_journal(path) as journal:
        journal.mark(2)
        journal.mark(4, "not what the docs say:\nsee page 3")
        journal.mark(5, "a mistake")
        journal.mark(5, on=False)


def main(wanted: list[str]) -> None:
    """Make all of them, or those named."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving() as url:
            for kind in KINDS:
                record(folder, kind, url)
        made_by_others(folder)
        damaged(folder)
        marked(folder)
        FOLDER.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.glob(f"*{RECORDING_SUFFIX}")):
            kind = path.name.removesuffix(RECORDING_SUFFIX)
            if wanted and kind not in wanted:
                continue
            data = path.read_bytes()
            (FOLDER / path.name).write_bytes(data if kind == "torn" else neutral(data, f"kind {kind}", str(folder)))
            found = json.dumps(facts(FOLDER / path.name), indent=1, ensure_ascii=False)
            (FOLDER / f"{kind}.facts.json").write_text(found + "\n", encoding="utf-8")
            print(f"{path.name}: {len(data):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])

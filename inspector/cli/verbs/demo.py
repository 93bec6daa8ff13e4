"""`inspector demo`: the interface on the server that comes with Inspector."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inspector.cli.options import CONNECT, Option
from inspector.cli.verb import Verb
from inspector.cli.verbs import open as interface
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation

_WITHOUT = ("--header", "--config", "--cwd", "--transport", "--trust", "--no-verify")
_AUTH = (
    Option("--auth", "Let the server want a login, over HTTP; it has an authorization server of its own."),
    Option("--auth-auto", "The same, where everything is allowed at once."),
    Option(
        "--auth-fault", "Let one thing be wrong with it; may be repeated. See docs/reference/demo.md.", "NAME",
        many=True,
    ),
    Option("--auth-layout", "Where the authorization server is: apart, path, oidc, several, …", "NAME"),
    Option("--auth-expiry", "Seconds for which a token holds.", "SECONDS"),
    Option("--auth-port", "The port of the authorization server.", "PORT"),
)  # fmt: skip


def run(said: Invocation) -> int:
    """Open the interface on the demo server."""
    import shlex

    interface.need_terminal(
        f"Every verb works on the demo server: inspector tools -- {shlex.quote(sys.executable)} -m inspector.demo"
    )
    words = _words(said)
    if words:
        from inspector.config.targets import HttpTarget

        with _serving(words) as url:
            return interface.interface(said, HttpTarget(url, name="demo"))
    from dataclasses import replace

    from inspector.config.targets import demo_target

    return interface.interface(said, replace(demo_target(), env=dict(said.option("env", ()))))


def _words(said: Invocation) -> list[str]:
    """What of the command line is for the demo server itself."""
    words: list[str] = []
    for option in _AUTH:
        value = said.option(option.name)
        if value is None:
            continue
        for each in value if option.many else [value]:
            words += [f"--{option.name}={each}"] if option.metavar else [f"--{option.name}"]
    return words


@contextmanager
def _serving(words: list[str]) -> Iterator[str]:
    """Run the demo server over HTTP, as a process that ends with this one, and give its URL.

    Raises `UsageError` with its own words where it does not start.
    """
    import re
    import subprocess
    import threading

    command = [sys.executable, "-m", "inspector.demo", "--http", "0", "--attached", *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stderr is not None
        found = re.fullmatch(rb"demo server on (http://\S+)\s*", first := server.stderr.readline())
        if found is None:
            said = (first + server.stderr.read()).decode("utf-8", "replace").strip().splitlines()
            why = said[-1].removeprefix("python -m inspector.demo: error: ") if said else "it says nothing"
            raise UsageError(f"The demo server does not start: {why}")
        # Nobody reads what else it says, but it must not wait for somebody who does.
        threading.Thread(target=server.stderr.read, daemon=True).start()
        try:
            yield found[1].decode("ascii")
        finally:
            server.stdin.close()
            server.terminate()


VERBS = {
    "demo": Verb(
        "demo",
        run,
        target="none",
        prints=False,
        options=(*(option for option in CONNECT if option.flags[0] not in _WITHOUT), *_AUTH),
        about="Every feature of the protocol, without a network.",
        examples=("inspector demo",),
    )
}

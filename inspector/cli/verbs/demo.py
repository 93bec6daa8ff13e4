"""`inspector demo`: the interface on the built-in demo server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inspector.cli.options import CONNECT, Option
from inspector.cli.verb import Verb
from inspector.cli.verbs import open as interface
from inspector.errors import UsageError
from inspector.own_commands import module_command

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation

_WITHOUT = ("--header", "--config", "--cwd", "--transport", "--trust", "--no-verify")
_AUTH = (
    Option("--auth", "Serve over HTTP and require a login at a built-in authorization server"),
    Option("--auth-auto", "The same, but approve every login without asking"),
    Option(
        "--auth-fault",
        "Add this authorization fault; repeatable. docs/reference/demo.md lists the names",
        "NAME",
        many=True,
    ),
    Option("--auth-layout", "Layout of the authorization server: apart, path, oidc, several, …", "NAME"),
    Option("--auth-expiry", "Lifetime of an access token", "SECONDS"),
    Option("--auth-port", "Port of the authorization server", "PORT"),
)


def run(invocation: Invocation) -> int:
    """Open the interface on the demo server."""
    from inspector import command_words

    demo = command_words.join(module_command("inspector.demo"))
    interface.need_terminal(f"Every verb works on the demo server: inspector tools -- {demo}")
    words = _words(invocation)
    if words:
        from inspector.config.targets import HttpTarget

        with _serving(words) as url:
            return interface.interface(invocation, HttpTarget(url, name="demo"))
    import os

    from inspector.config.server_variables import ServerVariables
    from inspector.config.targets import demo_target

    given = dict(invocation.option("env", ()))
    variables = ServerVariables(given, invocation.option("env-file", ()), bool(invocation.option("inherit-env")))
    return interface.interface(invocation, variables.added_to(demo_target(), os.environ))


def _words(invocation: Invocation) -> list[str]:
    """The command-line words for the demo server."""
    words: list[str] = []
    for option in _AUTH:
        value = invocation.option(option.name)
        if value is None:
            continue
        for item in value if option.many else [value]:
            words += [f"--{option.name}={item}"] if option.metavar else [f"--{option.name}"]
    return words


@contextmanager
def _serving(words: list[str]) -> Iterator[str]:
    """Run the demo server over HTTP as a child process and yield its URL.

    Raises `UsageError` if it does not start.
    """
    import re
    import subprocess
    import threading

    command = [*module_command("inspector.demo"), "--http", "0", "--attached", *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stderr is not None
        match = re.fullmatch(rb"demo server on (http://\S+)\s*", first := server.stderr.readline())
        if match is None:
            output = (first + server.stderr.read()).decode("utf-8", "replace").strip().splitlines()
            reason = output[-1].removeprefix("python -m inspector.demo: error: ") if output else "it printed no error"
            raise UsageError(f"The demo server does not start: {reason}")
        # Drain stderr, or the server blocks when the pipe is full.
        threading.Thread(target=server.stderr.read, daemon=True).start()
        try:
            yield match[1].decode("ascii")
        finally:
            server.stdin.close()
            server.terminate()


DEMO = Verb(
    "demo",
    run,
    target="none",
    prints=False,
    options=(*(option for option in CONNECT if option.flags[0] not in _WITHOUT), *_AUTH),
)

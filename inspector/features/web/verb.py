"""`inspector web`: the interface in a browser on this machine."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from inspector.cli import verbs
from inspector.cli.options import Option, Value
from inspector.cli.verb import Verb
from inspector.cli.verbs.open import OPTIONS, WEB_DRIVER
from inspector.errors import Interrupted, UsageError
from inspector.own_commands import module_command

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.features.web.server import WebServer


def run(invocation: Invocation) -> int:
    """Serve the interface until a signal."""
    if find_spec("textual_serve") is None:
        raise UsageError(
            "`inspector web` needs the package textual-serve, which is not installed.",
            hint="Install Inspector with the extra web, from its folder: pip install '.[web]'",
        )
    import asyncio

    from inspector.cli.signals import until_interrupted
    from inspector.features.web.server import WebServer

    async def serve() -> None:
        server = WebServer(command_of(invocation), dict([WEB_DRIVER]), invocation.output.aside)
        with suppress(Interrupted):
            await until_interrupted(_serve(invocation, server), server.kill)

    asyncio.run(serve())
    return 0


async def _serve(invocation: Invocation, server: WebServer) -> None:
    import asyncio

    out = invocation.output
    try:
        await server.start(invocation.option("port", 0))
        out.line(server.url)
        out.note("Open this address in a browser on this machine. It gives control of the interface: keep it secret.")
        out.note("Each page has a session of its own. Ctrl-C ends all of them.")
        await asyncio.Event().wait()
    finally:
        await server.close()


def command_of(invocation: Invocation) -> list[str]:
    """Return the command of the interface, with the options and the target of the invocation."""
    words = []
    for option, word in invocation.typed:
        if isinstance(option, Option) and option is not _PORT:
            words.append(f"{option.flags[-1]}={word}" if option.metavar and word else option.flags[-1])
    target = invocation.target_words
    dashes = ["--"] if invocation.command or (target[:1] and verbs.is_verb(target[0])) else []
    return [*module_command("inspector"), *words, *dashes, *target]


def port(word: str) -> int:
    """Return a TCP port, or 0 for any free one."""
    if not (word.isascii() and word.isdigit() and len(word) < 6 and int(word) < 65536):
        raise UsageError(f"“{word[:80]}” is not a port.", hint="Use a number from 1 to 65535, or 0 for any free port.")
    return int(word)


_PORT = Option("--port", "Listen on this port; default: a free one", Value("N", port))

WEB = Verb("web", run, target="optional", recordings=True, prints=False, options=(_PORT, *OPTIONS), several=True)

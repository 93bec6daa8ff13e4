"""`python -m inspector.demo`: the demo server over stdio, or over HTTP with `--http [HOST:]PORT`."""

from __future__ import annotations

import sys

from inspector.demo.prompts import all_prompts
from inspector.demo.revisions import ERAS, MODERN, REVISIONS
from inspector.demo.server_state import DemoState
from inspector.demo.tools import all_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

_HERE = ("127.0.0.1", "localhost", "::1")


def _parse(words: list[str]) -> Namespace:
    from argparse import ArgumentParser

    from inspector.demo.auth.options import add_options, settings_of

    parser = ArgumentParser(prog="python -m inspector.demo", description="An MCP server that shows every feature.")
    parser.add_argument(
        "--http",
        metavar="[HOST:]PORT",
        type=_address,
        help="serve over HTTP (port 0: any) and write the URL to stderr",
    )
    parser.add_argument("--attached", action="store_true", help="with --http: stop when stdin ends")
    parser.add_argument("--items", metavar="N", type=_count, default=3000, help="number of generated resources")
    parser.add_argument(
        "--slow", metavar="SECONDS", type=_seconds, nargs="?", const=0.5, default=0.0, help="delay every response"
    )
    parser.add_argument("--tick", metavar="SECONDS", type=_seconds, default=1.0, help="time between clock changes")
    parser.add_argument(
        "--era", choices=ERAS, default="both", help="with a handshake (legacy), without (modern), or both at once"
    )
    parser.add_argument("--revision", choices=REVISIONS, default=REVISIONS[-1], help="newest revision to support")
    add_options(parser)
    options = parser.parse_args(words)
    options.auth = settings_of(options, parser)
    if options.auth is not None:
        options.http = options.http or _address("0")
        if options.http[0] not in _HERE:
            parser.error("authorization without TLS works only on this machine: --http 127.0.0.1:PORT")
    if options.era == "modern" and options.revision not in MODERN:
        parser.error(f"--era modern needs --revision {MODERN[0]}")
    return options


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not 0 <= int(port) < 65536:
        raise ValueError(text)
    return host.strip("[]") or "127.0.0.1", int(port)


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < 3600:
        raise ValueError(text)
    return seconds


def main(words: list[str]) -> None:
    """Runs the server until its client disconnects or it is interrupted."""
    options = _parse(words) if words else None  # nothing to parse: argparse would be a fifth of the start
    tools, prompts = all_tools(), all_prompts()
    if options is None:
        state, address, auth, attached = DemoState(tools, prompts), None, None, False
    else:
        state = DemoState(
            tools,
            prompts,
            items=options.items,
            delay=options.slow,
            tick=options.tick,
            newest=options.revision,
            era=options.era,
        )
        address, auth, attached = options.http, options.auth, options.attached
    try:
        if address is None:
            from inspector.demo.stdio import serve

            serve(state)
        else:
            from inspector.demo.http import serve_http

            serve_http(state, *address, auth=auth, attached=attached)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main(sys.argv[1:])

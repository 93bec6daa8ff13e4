"""`inspector info`: name, capabilities and instructions of a server, and the negotiated revision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli import eras
from inspector.cli.options import Option
from inspector.cli.output import Output
from inspector.cli.verb import Verb

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.state.server import Server

NAME = 200


def run(said: Invocation) -> int:
    """Open the target or read the recording, and print the server's description."""
    from inspector.cli.recorded import recorded_session
    from inspector.cli.setup import target_of
    from inspector.config.targets import RecordingTarget

    target = target_of(said)
    if isinstance(target, RecordingTarget):
        out = Output.of(said)
        with recorded_session(target.path, out) as session:
            _print(out, session.server, "recording")
        return 0
    if said.option("era") == "both":
        return eras.run(said, target)
    from inspector.cli import headless

    async def work(session: Any, out: Output) -> int:
        _print(out, session.server, session.transport.name)
        return 0

    return headless.run(said, work, target)


def _print(out: Output, server: Server, transport: str) -> None:
    if out.json:
        ours = {"era": server.era, "revision": server.revision, "transport": transport}
        out.document(ours | {key: value for key, value in server.raw.items() if key not in ours})
        return
    if not server.known:
        out.note("The server has sent no serverInfo.")
        return
    safe = out.safe
    named = "  ".join(filter(None, (safe(server.name, NAME) or "(unnamed)", safe(server.version, NAME))))
    facts = [("server", named)]
    if server.title != server.name:
        facts.append(("title", safe(server.title, NAME)))
    for key, label in (("description", "about"), ("websiteUrl", "website")):
        if server.info.get(key):
            facts.append((label, safe(server.info[key], 2000)))
    how = f" ({safe(server.how, NAME)})" if server.how else ""
    facts += [("era", f"{server.era}{how}"), ("revision", safe(server.revision, NAME)), ("transport", transport)]
    facts.append(
        ("can", ", ".join(_capability(out, name, value) for name, value in server.capabilities.items()) or "nothing")
    )
    out.lines(f"{label:<12}{text}" for label, text in facts)
    if server.instructions:
        out.lines(["instructions", *(line.rstrip() for line in out.wrapped(server.instructions, "  "))])


def _capability(out: Output, name: str, value: Any) -> str:
    """A capability with its declared parts: `resources (subscribe, listChanged)`."""
    parts = eras.parts_of(out, value)
    return out.safe(name, 60) + (f" ({', '.join(parts)})" if parts else "")


VERBS = {
    "info": Verb(
        "info",
        run,
        options=(
            Option(
                "--era",
                "Protocol era to use; auto detects it, both opens the server once in each era",
                choices=("auto", "legacy", "modern", "both"),
            ),
        ),
        about=(
            "Prints the name, version, capabilities and instructions of the server, and how its era was detected. "
            "--era both compares the server in the two eras."
        ),
        examples=(
            "inspector info npx -y @modelcontextprotocol/server-everything",
            "inspector info --json https://host.example/mcp",
            "inspector info --era both -- python server.py",
            "inspector info session.mcp.jsonl",
        ),
    )
}

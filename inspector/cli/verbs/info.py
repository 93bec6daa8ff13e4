"""`inspector info`: name, capabilities and instructions of a server, and the negotiated revision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli import era_comparison
from inspector.cli.options import Option
from inspector.cli.output import Output
from inspector.cli.verb import Verb

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.session_state import SessionState

NAME = 200
SHOWN_EXTENSIONS = 50


def run(invocation: Invocation) -> int:
    """Open the target or read the recording, and print the server's description."""
    from inspector.cli.open_recording import recorded_session
    from inspector.cli.session_setup import target_of
    from inspector.config.targets import RecordingTarget

    target = target_of(invocation)
    if isinstance(target, RecordingTarget):
        out = Output.of(invocation)
        with recorded_session(target.path, out) as session:
            _print(out, session, "recording")
        return 0
    if invocation.option("era") == "both":
        return era_comparison.run(invocation, target)
    from inspector.cli import headless

    async def work(session: Any, out: Output) -> int:
        _print(out, session, session.transport.name)
        return 0

    return headless.run(invocation, work, target)


def _print(out: Output, session: SessionState, transport: str) -> None:
    from inspector.client.extensions import client_in, extension_states, map_problem, offered_in
    from inspector.client.state.cache import NewestAnswers, as_json

    server = session.server
    client = client_in(session.journal, session.upto)
    states = extension_states(server, offered_in(session.journal, session.upto))
    cached = next((each for each in NewestAnswers(session.journal).advance() if each.method == "server/discover"), None)
    if out.json:
        ours = {
            "era": server.era,
            "revision": server.revision,
            "transport": transport,
            "client": client,
            "extensions": [state.as_json() for state in states],
            **({"cache": as_json(cached)} if cached else {}),
        }
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
    capabilities = [(name, value) for name, value in server.capabilities.items() if name != "extensions"]
    facts += [("era", f"{server.era}{how}"), ("revision", safe(server.revision, NAME)), ("transport", transport)]
    facts.append(("can", ", ".join(_capability(out, name, value) for name, value in capabilities) or "nothing"))
    if client.get("name") not in (None, "inspector"):
        facts.append(
            ("client", "  ".join(safe(client.get(key), NAME) for key in ("name", "version") if client.get(key)))
        )
    label = "extensions"
    if problem := map_problem(server):
        facts.append((label, safe(problem, NAME)))
        label = ""
    for state in states[:SHOWN_EXTENSIONS]:
        parts = era_comparison.parts_of(out, state.settings)
        settings = f" ({', '.join(parts)})" if parts else ""
        facts.append((label, f"{safe(state.id, NAME)}{settings}: {safe(state.problem, NAME) or state.standing}"))
        label = ""
    if len(states) > SHOWN_EXTENSIONS:
        facts.append(("", f"{len(states) - SHOWN_EXTENSIONS:,} more extensions; --json has all"))
    if cached is not None:
        facts.append(("cache", cached.describe(session.journal.clock(session.now))))
    out.lines(f"{label:<12}{text}" for label, text in facts)
    if server.instructions:
        out.lines(["instructions", *(line.rstrip() for line in out.wrapped(server.instructions, "  "))])


def _capability(out: Output, name: str, value: Any) -> str:
    """A capability with its declared parts: `resources (subscribe, listChanged)`."""
    parts = era_comparison.parts_of(out, value)
    return out.safe(name, 60) + (f" ({', '.join(parts)})" if parts else "")


INFO = Verb(
    "info",
    run,
    options=(
        Option(
            "--era",
            "Protocol era to use; auto detects it, both opens the server once in each era",
            choices=("auto", "legacy", "modern", "both"),
        ),
    ),
)

"""`inspector info`: name, capabilities and instructions of a server, and the negotiated revision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from inspector.cli.options import Option
from inspector.cli.output import ErrorKept, Output
from inspector.cli.verb import Verb
from inspector.errors import ConnectionProblem, InspectorError, UsageError

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.session import Session
    from inspector.client.session_state import SessionState
    from inspector.client.state.catalog import ListName, SurfaceChange
    from inspector.client.state.server import Server
    from inspector.config.targets import Target
    from inspector.protocol.revisions import Era

NAME = 200
SHOWN_EXTENSIONS = 50


def run(invocation: Invocation) -> int:
    """Open the target or read the recording, and print the server's description."""
    from inspector.cli.open_recording import recorded_session
    from inspector.cli.session_setup import target_of
    from inspector.config.targets import RecordingTarget

    target = target_of(invocation)
    if isinstance(target, RecordingTarget):
        out = invocation.output
        with recorded_session(target.path, out) as session:
            _print(out, session, "recording")
        return 0
    if invocation.option("era") == "both":
        return _both_eras(invocation, target)
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
    cached = next(
        (answer for answer in NewestAnswers(session.journal).advance() if answer.method == "server/discover"), None
    )
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
        parts = _parts_of(out, state.settings)
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
    parts = _parts_of(out, value)
    return out.safe(name, 60) + (f" ({', '.join(parts)})" if parts else "")


INTERRUPTED = 128
"""Exit codes from here on mean a signal."""
DIFFERENT = 20
"""Names listed for one kind of difference; --json has all."""
ERAS: tuple[Era, ...] = ("legacy", "modern")


class EraOutcome:
    """The server in one era: its self-description and list sizes, or the error."""

    def __init__(self, era: Era) -> None:
        self.era = era
        self.error: InspectorError | None = None
        self.server: Server
        self.counts: dict[ListName, int] = {}
        self.failed: dict[ListName, InspectorError] = {}
        """Lists that could not be read completely."""
        self.surface: dict[ListName, dict[str, dict[str, Any]]] = {}

    async def read_lists(self, session: Session) -> None:
        """Read every list that the server offers. Raises errors of the connection."""
        from inspector.client.state.catalog import KINDS

        self.server = session.server
        for name, kind in KINDS.items():
            if session.server.can(kind.capability):
                await session.load(name)
                catalog_list = session.catalog[name]
                self.counts[name] = len(catalog_list.items)
                if isinstance(catalog_list.error, ConnectionProblem):
                    raise catalog_list.error
                if catalog_list.error is not None:
                    self.failed[name] = catalog_list.error
            # Taken at once: a change that the server reports loads this list again, beside the next one.
            self.surface[name] = session.catalog[name].by_id()

    def as_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        if self.error is not None:
            return {"error": self.error.as_json()}
        server = self.server
        ours: dict[str, Any] = {"revision": server.revision, "counts": self.counts}
        if self.failed:
            ours["errors"] = {name: error.as_json() for name, error in self.failed.items()}
        return ours | {key: value for key, value in server.raw.items() if key not in ours}


def _both_eras(invocation: Invocation, target: Target) -> int:
    """Open the target in both eras and print both; fails if it supports neither."""
    for name in ("record", "revision"):
        if invocation.option(name) is not None:
            raise UsageError(
                f"--{name} works with one session, and --era both opens two.", hint="Open each era separately."
            )
    outcomes: list[EraOutcome] = []
    for era in ERAS:
        spoken = EraOutcome(era)
        code = _open_in(invocation, target, spoken)
        if code >= INTERRUPTED:
            return code
        outcomes.append(spoken)
    legacy, modern = outcomes
    out = invocation.output
    if legacy.error is not None and modern.error is not None:
        _fail(out, legacy.error, modern.error)
        return legacy.error.exit_code
    changes = _differences(legacy, modern)
    if out.json:
        differences = [
            {"list": change.list, "legacy_only": change.removed, "modern_only": change.added, "other": change.altered}
            for change in changes
        ]
        out.document({"legacy": legacy.as_json(), "modern": modern.as_json(), "differences": differences})
        return 0
    out.table(list(_rows(out, legacy, modern)))
    out.lines(_difference_lines(out, changes))
    for spoken in outcomes:
        _tell_errors(out, spoken)
    return 0


def _open_in(invocation: Invocation, target: Target, spoken: EraOutcome) -> int:
    from inspector.cli import headless

    out = ErrorKept(quiet=invocation.quiet)

    async def work(session: Session, out: Output) -> int:
        await spoken.read_lists(session)
        return 0

    code = headless.run(invocation, work, target, era=spoken.era, out=out)
    spoken.error = out.failure
    return code


def _fail(out: Output, legacy: InspectorError, modern: InspectorError) -> None:
    """The server supports neither era: the error of one, or both errors."""
    if out.json or legacy.message == modern.message:
        out.error(legacy)
        return
    for era, error in zip(ERAS, (legacy, modern), strict=True):
        out.aside(f"{era} era:\n")
        out.error(error)


def _tell_errors(out: Output, spoken: EraOutcome) -> None:
    errors = [spoken.error] if spoken.error is not None else list(spoken.failed.values())
    for error in errors:
        out.lines(("", f"{spoken.era} era: {out.safe(error.message, 1000)}"))


def _differences(legacy: EraOutcome, modern: EraOutcome) -> list[SurfaceChange]:
    """The differences between the lists of the eras."""
    if legacy.error is not None or modern.error is not None:
        return []
    from inspector.client.state.catalog import compare

    return compare(legacy.surface, modern.surface)


def _rows(out: Output, *outcomes: EraOutcome) -> Iterator[tuple[str, ...]]:
    """A row for each fact, a column for each era."""

    def row(label: str, fact: Callable[[EraOutcome], str]) -> tuple[str, ...]:
        return (label, *("-" if spoken.error is not None else fact(spoken) or "-" for spoken in outcomes))

    yield ("era", *(spoken.era for spoken in outcomes))
    yield row("revision", lambda spoken: out.safe(spoken.server.revision, NAME))
    yield row("server", lambda spoken: out.safe(f"{spoken.server.name}  {spoken.server.version}".strip(), NAME))
    yield row("title", lambda spoken: out.safe(spoken.server.title, NAME))
    names = dict.fromkeys(name for spoken in outcomes if spoken.error is None for name in spoken.server.capabilities)
    for name in names:
        yield row(out.safe(name, NAME), partial(_offered, out, name))
        if name == "resources":
            yield row("templates", lambda spoken: str(spoken.counts.get("templates", "")))
    yield row("instructions", lambda spoken: _lines_of(spoken.server.instructions))


def _offered(out: Output, name: str, spoken: EraOutcome) -> str:
    """A capability in one cell: the number of list entries, and the declared parts."""
    value = spoken.server.capabilities.get(name)
    if value is None:
        return ""
    amount = spoken.counts.get(cast("ListName", name))
    what = "yes" if amount is None else str(amount)
    parts = _parts_of(out, value)
    return f"{what} ({', '.join(parts)})" if parts else what


def _parts_of(out: Output, value: Any) -> list[str]:
    """The declared parts of a capability, safe to print."""
    return [out.safe(key, 60) for key, on in value.items() if on or on == {}][:20] if type(value) is dict else []


def _lines_of(text: str) -> str:
    count = len(text.splitlines())
    return f"{count} line{'' if count == 1 else 's'}" if count else ""


def _difference_lines(out: Output, changes: list[SurfaceChange]) -> Iterator[str]:
    for change in changes:
        groups = (
            (f"{change.list} in the legacy era only", change.removed),
            (f"{change.list} in the modern era only", change.added),
            (f"{change.list} that differ between the eras", change.altered),
        )
        for title, names in groups:
            if names:
                more = "" if len(names) <= DIFFERENT else f" and {len(names) - DIFFERENT:,} more"
                yield ""
                yield f"{title}: {', '.join(out.safe(name, NAME) for name in names[:DIFFERENT])}{more}"


INFO = Verb(
    "info",
    run,
    recordings=True,
    options=(
        Option(
            "--era",
            "Protocol era to use; auto detects it, both opens the server once in each era",
            choices=("auto", "legacy", "modern", "both"),
        ),
    ),
)

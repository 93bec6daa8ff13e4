"""`inspector servers`: lists the servers in config files of this directory and this user."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from inspector.cli.options import FILE, Option
from inspector.cli.verb import Verb
from inspector.config import trust
from inspector.config.host_files.reading import not_passed
from inspector.config.host_files.table import host_with_id
from inspector.config.server_memory import LastOpen, ServerMemory
from inspector.config.servers import exposure_of

if TYPE_CHECKING:
    from inspector.auth.store import StoredLogin
    from inspector.cli.verb import Invocation
    from inspector.config.servers import ServerEntry, ServerList

NAME = 120
STATE = 60
_MARKS: dict[trust.Standing, str] = {"free": "", "asks": "asks first  ", "allowed": "allowed  "}
"""The mark of an entry in a file that is not the user's and that uses the user's secrets or an unsafe connection."""


def run(invocation: Invocation) -> int:
    """List the servers; an unreadable config file is reported, and the others are still listed."""
    from inspector.config.servers import find_servers

    out = invocation.output
    if invocation.option("schema"):
        from inspector.cli.verbs.settings import schema

        out.document_text(schema("servers"))
        return 0
    for added in invocation.verb.added:
        code: int | None = added.use(invocation)
        if code is not None:
            return code
    listed = find_servers(config=invocation.option("config"))
    logins = _logins()
    memory = trust.Memory()
    lasts = [ServerMemory(entry).last_open() for entry in listed.entries]
    exposed = [(exposure, trust.standing(exposure, memory)) for exposure in map(exposure_of, listed.entries)]
    if out.json:
        problems = [{"path": str(problem.path), "message": problem.message} for problem in listed.problems]
        from inspector.cli.login_options import as_json

        servers = [
            _entry(entry, *asked, last) for entry, asked, last in zip(listed.entries, exposed, lasts, strict=True)
        ]
        out.document(
            {
                "servers": servers,
                "problems": problems,
                "logins": [as_json(kept.grant, kept.renewable) for kept in logins],
            }
        )
        return 0
    out.table(
        [
            (
                out.safe(entry.reference, NAME),
                out.safe(entry.source_label, NAME),
                "never connected" if last is None else out.safe(last.describe(), STATE),
                _switched(entry) + _MARKS[standing] + out.safe(entry.definition.describe_fully(2000)),
            )
            for entry, (_, standing), last in zip(listed.entries, exposed, lasts, strict=True)
        ]
    )
    if logins:
        from inspector.cli.login_options import described

        for kept in logins:
            description = described(kept.grant, kept.renewable, out)
            out.line(f"logged in to {out.safe(kept.grant.server, NAME)}: {description}")
    for entry, (exposure, standing) in zip(listed.entries, exposed, strict=True):
        if exposure is not None and standing == "asks":
            facts = "; ".join(out.safe(fact, 800) for fact in exposure.facts())
            out.note(f"note: {out.safe(entry.reference, NAME)} asks first: {facts}")
    for text, hint in _notes(listed):
        out.note(f"note: {out.safe(text, 500)}" + (f" ({out.safe(hint, 500)})" if hint else ""))
    if not listed.entries and not (listed.config and listed.problems):
        where = "No config file names a" if listed.config is None else f"{out.safe(str(listed.config), 500)} names no"
        out.note(f"{where} server. Try `inspector demo`.")
    return 0


def _notes(listed: ServerList) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with files and entries, each with its fix, once."""
    notes = [(problem.message, problem.hint.command_line) for problem in listed.problems]
    notes += [(remark.text, remark.fix) for remark in listed.remarks() if not remark.is_choice]
    notes += [
        (f"{entry.reference}: {remark.text}", remark.fix)
        for entry in listed.entries
        for host in [host_with_id(entry.host)]
        if host is not None and entry.remark is None
        for remark in not_passed(host, entry.raw)
    ]
    yield from dict.fromkeys(notes)


def _switched(entry: ServerEntry) -> str:
    """The mark of an entry that its host does not start."""
    if entry.remark is not None and not entry.remark.is_choice:
        return "its host does not start it  "
    return "disabled  " if entry.disabled else ""


def _logins() -> list[StoredLogin]:
    """The logins, newest last, without tokens."""
    from inspector.config import paths

    if not paths.logins_file().exists():
        return []
    from inspector.auth.store import Store

    return Store().logins()


def _entry(
    entry: ServerEntry, exposure: trust.Exposure | None, standing: trust.Standing, last: LastOpen | None
) -> dict[str, Any]:
    return {
        "name": entry.name,
        "reference": entry.reference,
        "kind": entry.kind,
        "summary": entry.summary,
        "disabled": entry.disabled,
        "remark": entry.remark.text if entry.remark else None,
        "source": entry.source_label,
        "path": str(entry.path),
        "last": None if last is None else _last(last),
        "trust": None if exposure is None else {"state": standing, **exposure.as_json()},
    }


def _last(last: LastOpen) -> dict[str, Any]:
    when = datetime.fromtimestamp(last.when, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {"at": when, "ok": last.ok, "code": last.code or None, "note": last.note or None}


SERVERS = Verb(
    "servers",
    run,
    target="none",
    options=(
        Option("--config", "Read only this config file", FILE),
        Option("--schema", "Print the JSON Schema of inspector.json, for editors"),
    ),
    extended=True,
)

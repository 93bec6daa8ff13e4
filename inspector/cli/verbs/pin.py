"""`inspector pin`: saves what a server offers, so that later sessions report changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import FILE, Option
from inspector.cli.output import Output
from inspector.cli.output_files import forced
from inspector.cli.verb import Verb
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.pins import Pin, Pins
    from inspector.client.session import Session
    from inspector.compare.surface import Change
    from inspector.config.targets import Target

DRIFTED = 5
NAME = 200
_WHICH = ("show", "remove", "update")


def run(invocation: Invocation) -> int:
    """Pin the target, compare it with its pin, or show, replace or delete the pin."""
    from inspector.client.pins import Pins

    out = invocation.output
    given = [f"--{name}" for name in _WHICH if invocation.option(name)]
    if len(given) > 1:
        raise UsageError(f"{given[0]} cannot be used with {given[1]}.", hint="Remove one of them.")
    file = invocation.option("file")
    pins = Pins(file=file)
    if file is not None and not invocation.target_words and not invocation.option("show"):
        raise UsageError("`inspector pin --file FILE` needs a target.", hint="Give the server to pin in FILE.")
    if not invocation.target_words and file is None:
        if given and given != ["--show"]:
            raise UsageError(f"`inspector pin {given[0]}` needs a target.", hint="List the pins with `inspector pin`.")
        return _list(out, pins)
    from inspector.cli.session_setup import live_target
    from inspector.config.targets import StdioTarget

    # A file is shown without a target, because it contains the target.
    target = live_target(invocation) if invocation.target_words else StdioTarget((str(file),))
    if invocation.option("remove"):
        return _remove(out, pins, target)
    if invocation.option("show"):
        return _show(out, pins, target)
    return _pin(invocation, out, pins, target)


def _list(out: Output, pins: Pins) -> int:
    pinned = pins.all()
    if out.json:
        out.document({"pins": [_entry(pin) for pin in pinned]})
        return 0
    out.table([(out.safe(pin.label, 80), _when(pin), _amounts(pin), out.safe(pin.target, NAME)) for pin in pinned])
    if not pinned:
        out.note("No server is pinned. Pin one with `inspector pin` and a command, a URL or @NAME.")
    return 0


def _remove(out: Output, pins: Pins, target: Target) -> int:
    if pins.file is not None:
        pins.get(target)  # A file that is not a pin is not removed.
    if not pins.remove(target):
        raise _no_pin(pins, target)
    if out.json:
        out.document({"removed": True})
    else:
        out.line(f"The pin of {out.safe(target.label, NAME)} was deleted.")
    return 0


def _show(out: Output, pins: Pins, target: Target) -> int:
    pin = pins.get(target)
    if pin is None:
        raise _no_pin(pins, target)
    if out.json:
        out.document(_entry(pin) | {"surface": pin.surface})
        return 0
    from inspector.cli.item_text import ROWS

    out.lines([f"{out.safe(pin.label, NAME)}  pinned {_when(pin)}, {_amounts(pin)}", out.safe(pin.target, NAME)])
    instructions = pin.surface.get("instructions")
    if instructions:
        out.lines(["", "instructions", *out.wrapped(instructions, "  ")])
    for name, row in ROWS.items():
        items = pin.surface.get(name)
        if type(items) is list and items:
            out.lines(["", name])
            out.table([row(out, item) for item in items])
    return 0


def _no_pin(pins: Pins, target: Target) -> UsageError:
    if pins.file is not None:
        return UsageError(f"{pins.file} does not exist.", hint="Write it with --file and without --show.")
    return UsageError(
        f"{target.label} is not pinned.",
        hint="A pin belongs to a URL, or to a command with its directory and variables; `inspector pin` lists them.",
    )


def _pin(invocation: Invocation, out: Output, pins: Pins, target: Target) -> int:
    """Read what the server offers, compare it with its pin, and save it if wanted."""
    from inspector.cli import headless

    update = bool(invocation.option("update"))
    replaceable = update and (pins.file is None or forced(invocation))
    before = None if replaceable and not _readable(pins, target) else pins.get(target)

    async def work(session: Session, out: Output) -> int:
        from inspector.client.state.surfaces import read_surface

        surface = await read_surface(session)
        changes = _changes(surface, before)
        keep = before is None or update
        if keep:
            for name, reason in surface["incomplete"].items():
                out.warn(f"warning: {name} are pinned incompletely: {out.safe(reason, 300)}")
            pins.put(target, surface)
        code = DRIFTED if changes and not keep else 0
        _tell(out, pins, target, before, changes, kept=keep, code=code)
        return code

    return headless.run(invocation, work, target, check_pin=False)


def _readable(pins: Pins, target: Target) -> bool:
    """Whether the pin can be read; an unreadable one may be replaced."""
    from inspector.errors import ConfigError

    try:
        pins.get(target)
    except ConfigError:
        return False
    return True


def _changes(surface: dict[str, Any], before: Pin | None) -> list[Change]:
    if before is None:
        return []
    from inspector.check.drift import drift_from

    drift = drift_from(surface, before)
    return list(drift.changes) if drift is not None else []


def _tell(
    out: Output, pins: Pins, target: Target, before: Pin | None, changes: list[Change], *, kept: bool, code: int
) -> None:
    if out.json:
        out.document(
            {
                "same": not changes,
                "exit_code": code,
                "pinned": kept,
                "path": str(pins.path_of(target).absolute()),
                "changes": [change.as_json() for change in changes],
            }
        )
        return
    name = out.safe(target.label, NAME)
    if before is None:
        pin = pins.get(target)
        amounts = f": {_amounts(pin)}" if pin is not None else ""
        later = "Later sessions report changes."
        if pins.file is not None:
            later = "Run the same command to compare the server with the file."
        out.line(f"{name} is pinned{amounts}. {later}")
        return
    if not changes:
        out.line(f"{name} still offers what was pinned {_when(before)}.")
        return
    from inspector.cli import surface_report
    from inspector.cli.colours import Colours
    from inspector.compare.surface import AREAS

    paint = Colours()
    ordered = sorted(changes, key=lambda change: AREAS.index(change.area))
    out.lines(paint(line, "red") for line in surface_report.warning(out, ordered))
    out.line(f"Changes since it was pinned {_when(before)}: {surface_report.summary(ordered)}")
    out.lines(surface_report.lines(out, paint, ordered))
    out.line()
    if kept:
        out.line("The pin was updated.")
    else:
        out.line(f"If the changes are intended, run: {out.safe(out.command('pin', '--update'), 500)}")


def _when(pin: Pin) -> str:
    return pin.at.astimezone().strftime("%Y-%m-%d %H:%M") if pin.at is not None else "at an unknown time"


def _amounts(pin: Pin) -> str:
    """The number of items in a pin."""
    from inspector.compare.surface import LISTS, SINGULAR

    amounts = []
    for name in LISTS:
        items = pin.surface.get(name)
        if type(items) is list and items:
            amounts.append(f"{len(items):,} {SINGULAR[name] if len(items) == 1 else name}")
    return ", ".join(amounts) or "no lists"


def _entry(pin: Pin) -> dict[str, Any]:
    at = None if pin.at is None else pin.at.isoformat().replace("+00:00", "Z")
    return {"label": pin.label, "target": pin.target, "at": at, "path": str(pin.path.absolute())}


PIN = Verb(
    "pin",
    run,
    target="optional",
    options=(
        Option("--file", "Keep the pin in this file, for example in your repository", FILE),
        Option("--show", "Print the pin of the target without connecting"),
        Option("--update", "Replace the pin with what the server offers now"),
        Option("--remove", "Delete the pin of the target without connecting"),
    ),
)

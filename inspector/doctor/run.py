"""The complete examination of a target, in order and in limited time; a failed step does not stop the others."""

from __future__ import annotations

import asyncio
import os

from inspector import command_words
from inspector.client.engine.connect import Connect, transport_for
from inspector.client.options import Options
from inspector.config.command_lines import CommandLine, line_of
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.config.trust import Exposure
from inspector.doctor.config_entry import ExaminedEntry
from inspector.doctor.diagnosis import (
    NO_FIX,
    Diagnosis,
    DoctorOutcome,
    Fix,
    StepCallback,
    StepCollector,
    Stopwatch,
    TimeLimits,
    Weight,
)
from inspector.doctor.hosts import report_host
from inspector.doctor.privacy import Privacy
from inspector.doctor.session_step import OpenResult
from inspector.errors import AuthorizationNeeded, TrustNeeded
from inspector.journal.journal import Journal
from inspector.text import duration


async def diagnose(
    target: StdioTarget | HttpTarget,
    journal: Journal,
    options: Options,
    *,
    entry: ExaminedEntry | None = None,
    limits: TimeLimits | None = None,
    on_step: StepCallback | None = None,
    connect: Connect = transport_for,
    line: CommandLine | None = None,
) -> Diagnosis:
    """Find out whether a target connects, and why not. Everything is recorded in `journal`; nothing is left running.

    `entry` is the config entry of the target, if any; a target with unset variables is not started. `line` is the
    command line that a fix repeats. Never raises a failure of the server or the network.
    """
    limits = limits or TimeLimits()
    longest = limits.others + options.max_timeout
    line = line or line_of(target, os.environ, "doctor")
    privacy = Privacy(target.secrets)
    journal.redactor.tell(privacy.add)
    steps = StepCollector(privacy, line, journal, on_step or (lambda _step: None))
    watch = Stopwatch()
    opened: OpenResult | None = None
    usable = _config(steps, target, entry)
    try:
        async with asyncio.timeout(longest):
            if isinstance(target, StdioTarget):
                opened = await _stdio(steps, target, journal, options, limits, usable, connect)
            else:
                from inspector.doctor.url import UrlDoctor

                opened = await UrlDoctor(steps, journal, options, limits, target, usable, connect=connect).check()
    except TimeoutError:
        steps.add(
            "time",
            "failed",
            f"not finished within {longest:g} s: the later steps are missing",
            cause=f"The examination did not finish within {longest:g} s.",
            weight=Weight.SYMPTOM,
        )
    return _concluded(steps, target, opened, watch.seconds, str(journal.path or ""))


async def _stdio(
    steps: StepCollector,
    target: StdioTarget,
    journal: Journal,
    options: Options,
    limits: TimeLimits,
    usable: bool,
    connect: Connect,
) -> OpenResult | None:
    from inspector.doctor.command import CommandDoctor
    from inspector.doctor.process import ProcessDoctor

    command = CommandDoctor(target, steps, limits)
    await command.check()
    if not usable:
        steps.add("start", "skipped", "not started, because variables are not set")
        return None
    opened = await ProcessDoctor(steps, journal, options, limits, target, connect=connect).check()
    if opened.server is None and command.program is not None:
        command.suspect(opened.connection.stderr)
    return opened


def _config(steps: StepCollector, target: StdioTarget | HttpTarget, entry: ExaminedEntry | None) -> bool:
    """Report the target's source; True if the target can be opened."""
    if entry is None:
        if target.name and target.source:
            steps.add("config", "ok", f"@{target.name} in {target.source}")
        return True
    return report_entry(steps, entry)


def report_entry(steps: StepCollector, entry: ExaminedEntry) -> bool:
    """Add the steps of a config entry; True if it can be used."""
    server_entry = entry.entry
    where = f"@{server_entry.name} in {server_entry.path}"
    off = [] if not server_entry.disabled else ["it is disabled there"]
    details = [f"{server_entry.source_label}: {server_entry.summary}", *off]
    report_host(steps, server_entry, entry.host)
    if entry.missing:
        names = ", ".join(entry.missing)
        many = len(entry.missing) > 1
        steps.add("config", "ok", where, details=details)
        what = "variables {}, which are" if many else "variable {}, which is"
        steps.add(
            "variables",
            "failed",
            f"not set: {names}",
            details=entry.missing,
            fix=Fix(
                "Set it before you start inspector.",
                "; ".join(command_words.set_variable(name) for name in entry.missing),
            ),
            cause=f"{where} needs the environment {what.format(names)} not set.",
        )
    elif isinstance(entry.problem, TrustNeeded):
        steps.add("config", "ok", where, details=details)
    elif entry.problem is not None:
        steps.add(
            "config",
            "failed",
            entry.problem.message,
            details=details,
            fix=Fix(entry.problem.hint),
            cause=f"{entry.problem.message}.",
        )
    else:
        steps.add("config", "warn" if server_entry.disabled else "ok", where, details=details)
        if server_entry.definition.has_references:
            steps.add("variables", "ok", "all variables have a value")
    if entry.exposure is not None:
        _report_trust(steps, entry, entry.exposure)
    return entry.usable


def _report_trust(steps: StepCollector, entry: ExaminedEntry, exposure: Exposure) -> None:
    """Report what an entry outside the user's own config files exposes, and whether the user allowed it."""
    if not isinstance(entry.problem, TrustNeeded):
        text = "not your own config file" if entry.missing else "allowed, though it is not your own config file"
        steps.add("trust", "warn" if entry.missing else "ok", text, details=exposure.facts())
        return
    steps.add(
        "trust",
        "failed",
        "not allowed: it is not your own config file",
        details=exposure.facts(),
        fix=Fix(entry.problem.hint),
        cause=f"{exposure.title} is not your own config file, and you did not allow it.",
    )


def _concluded(
    steps: StepCollector, target: StdioTarget | HttpTarget, opened: OpenResult | None, seconds: float, recording: str
) -> Diagnosis:
    from inspector.doctor.process import introduced

    cause = steps.cause()
    outcome: DoctorOutcome = "fails"
    text, fix = (
        (cause.text, cause.fix)
        if cause is not None
        else ("The connection failed, and no step shows the cause.", NO_FIX)
    )
    if opened is not None and opened.server is not None:
        outcome = "connects"
        remark = f", but: {_decapitalised(text)}" if cause is not None and cause.weight >= Weight.LIKELY else "."
        text = f"It connects: {steps.privacy(introduced(opened))}, in {duration(opened.seconds * 1e6)}{remark}"
        fix = fix if remark != "." else NO_FIX
    elif opened is not None and isinstance(opened.error, AuthorizationNeeded):
        outcome = "authorization"
    return Diagnosis(
        steps.privacy(target.describe()),
        target.kind,
        outcome,
        text,
        fix,
        tuple(steps.added),
        steps.last_words,
        seconds,
        steps.privacy(recording),
    )


def _decapitalised(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def of_entry(entry: ExaminedEntry) -> Diagnosis:
    """Return the diagnosis of a config entry without a usable target."""
    steps = StepCollector(Privacy())
    report_entry(steps, entry)
    cause = steps.cause()
    assert cause is not None
    outcome: DoctorOutcome = "trust" if isinstance(entry.problem, TrustNeeded) and not entry.missing else "fails"
    return Diagnosis(
        steps.privacy(entry.entry.reference), entry.entry.kind, outcome, cause.text, cause.fix, tuple(steps.added)
    )

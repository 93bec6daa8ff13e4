"""`inspector doctor`: finds out step by step why a target does not connect."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.cli import session_setup
from inspector.cli.options import Option, Value, names_in
from inspector.cli.output import Output, ProgressLine
from inspector.cli.verb import Verb
from inspector.config import trust
from inspector.config.targets import RecordingTarget
from inspector.errors import TargetError, UsageError
from inspector.system import NAME

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.config.targets import HttpTarget, StdioTarget
    from inspector.doctor.config_entry import ExaminedEntry
    from inspector.doctor.diagnosis import Diagnosis, DoctorStep
    from inspector.doctor.hosts import HostFolder

_MEANINGLESS = ("root", "sampling", "elicit", "log-level", "no-pin", "login-timeout", "open-browser", "no-browser")
"""Options that only matter after a session is open. The doctor closes it immediately."""


def run(invocation: Invocation) -> int:
    """Diagnose the target and report; the exit code says whether it connects."""
    out = invocation.output
    if not invocation.target_words:
        return _hosts(invocation, out)
    consent = trust.asking_once(session_setup.consent_of(invocation))
    try:
        entry = _entry(invocation, consent)
    except TargetError:
        files = _of_files(invocation, invocation.target_words[0].removeprefix("@"))
        if files is None or files.outcome != "fails":
            raise
        _print(invocation, out, files)
        return files.exit_code
    if entry is not None and not entry.usable and entry.target is None:
        from inspector.doctor.run import of_entry

        diagnosis: Diagnosis = of_entry(entry)
    else:
        guess = entry.target if entry is not None and (entry.host is not None or not entry.usable) else None
        target = guess or session_setup.target_of(invocation, consent)
        if isinstance(target, RecordingTarget):
            from inspector.doctor.recording import diagnose_recording

            diagnosis = diagnose_recording(target)
        else:
            diagnosis = _of_server(invocation, out, target, entry)
    _print(invocation, out, diagnosis)
    return diagnosis.exit_code


def _hosts(invocation: Invocation, out: Output) -> int:
    """Report what the hosts of `--host` would start; `all` is every host that has a file here."""
    names = names_in(invocation.option("host", ()))
    if not names:
        raise UsageError(
            "`inspector doctor` needs a target.",
            hint="Give a command after --, a URL, @NAME from a config file, a recording, or --host HOST.",
        )
    from inspector.config.host_files.table import hosts
    from inspector.doctor.hosts import survey

    if "all" in names:
        names = [host.id for host in hosts() if _host_folder(host.id).is_used]
    diagnoses = [survey(_host_folder(name)) for name in names]
    if out.json:
        out.document({"hosts": [diagnosis.as_json() for diagnosis in diagnoses]})
    else:
        for at, diagnosis in enumerate(diagnoses):
            out.lines([""] * bool(at))
            _print(invocation, out, diagnosis)
    if not diagnoses:
        out.note("No host has a config file here.")
    return max((diagnosis.exit_code for diagnosis in diagnoses), default=0)


def _host_folder(name: str) -> HostFolder:
    import os
    from pathlib import Path

    from inspector.config import paths
    from inspector.config.host_files.table import Machine, host_named
    from inspector.doctor.hosts import HostFolder

    return HostFolder(host_named(name), Machine(paths.home_folder(), os.environ, NAME), Path.cwd())


def _of_files(invocation: Invocation, name: str) -> Diagnosis | None:
    """Say what is wrong with this entry in the files of the host; None without a host."""
    from inspector.doctor.hosts import survey

    names = names_in(invocation.option("host", ()))
    return survey(_host_folder(names[0]), name) if names else None


def _entry(invocation: Invocation, consent: trust.Consent) -> ExaminedEntry | None:
    """The config entry of @NAME and its problems; None for other targets."""
    words, hosts = invocation.target_words, names_in(invocation.option("host", ()))
    is_name = not invocation.command and words[0].startswith("@") and len(words) == 1
    if hosts:
        refused = [name for name in (*session_setup.STARTS, "config", "header") if invocation.option(name)]
        if len(hosts) > 1 or hosts == ["all"] or not is_name or refused:
            what = f"and --{refused[0]} cannot be used together" if refused else "needs one host and @NAME of its files"
            raise UsageError(f"--host {what}.", hint="For example: inspector doctor --host cursor @shop")
        from inspector.doctor.hosts import as_host_starts

        return as_host_starts(_host_folder(hosts[0]), words[0], prompt=session_setup.ask, consent=consent)
    if not is_name:
        return None
    from inspector.doctor.config_entry import look_up

    return look_up(words[0], config=invocation.option("config"), prompt=session_setup.ask, consent=consent)


def _of_server(
    invocation: Invocation, out: Output, target: StdioTarget | HttpTarget, entry: ExaminedEntry | None
) -> Diagnosis:
    from inspector.cli.signals import until_interrupted
    from inspector.doctor.hosts import start_time
    from inspector.doctor.report import step_line
    from inspector.doctor.run import diagnose
    from inspector.doctor.session_options import without_person

    settings = session_setup.settings_of(invocation)
    host = None if entry is None else entry.host
    named = None if host is None else host.client
    options = without_person(session_setup.options_of(invocation, target, settings, in_interface=False, host=named))
    seconds = None if entry is None or host is None else start_time(host, entry.entry)
    if seconds is not None and not invocation.option("timeout"):
        options = replace(options, timeout=seconds, max_timeout=max(seconds, options.max_timeout))
    journal = session_setup.new_journal(invocation, target, settings)
    line = ProgressLine(out)

    def report_step(step: DoctorStep) -> None:
        line.draw(step_line(step, ascii=out.ascii)[:78])

    try:
        work = diagnose(target, journal, options, entry=entry, on_step=report_step, line=invocation.line)
        return asyncio.run(until_interrupted(work))
    finally:
        line.draw("")
        session_setup.end_recording(out, journal)


def _print(invocation: Invocation, out: Output, diagnosis: Diagnosis) -> None:
    if out.json:
        out.document(diagnosis.as_json())
        return
    from inspector.doctor.report import lines, paste

    if invocation.option("paste"):
        out.lines(paste(diagnosis, _about()).splitlines())
    else:
        out.lines(lines(diagnosis, verbose=bool(invocation.option("verbose")), ascii=out.ascii, width=out.width))
    if diagnosis.recording and diagnosis.kind != "recording":
        out.note(f"recording: {out.safe(diagnosis.recording)}")


def _about() -> str:
    """Versions of Inspector, Python and the system, without user data."""
    from inspector.version import __version__, platform_text

    return f"inspector {__version__}, {platform_text()}"


DOCTOR = Verb(
    "doctor",
    run,
    recordings=True,
    without=_MEANINGLESS,
    target="optional",
    options=(
        Option(
            "--host",
            "Say what these hosts would start of their config files; with @NAME, start that one as the host does",
            Value("HOST,…|all", str, "config-host"),
            many=True,
        ),
        Option("--paste", "Print the full report as Markdown, for an issue"),
        Option("-v --verbose", "Show details of successful steps too"),
    ),
)

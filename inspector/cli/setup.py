"""From what was said to what a session wants: target, options. Flags win over config entries, these over settings."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from inspector.cli import logins
from inspector.cli.output import Output
from inspector.client.engine.era_memory import Verdicts
from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.config import paths, secrecy, trust
from inspector.config.settings import Settings, load_settings
from inspector.config.target_words import parse_target
from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget, Target
from inspector.errors import UsageError
from inspector.transports.base import HttpOptions

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.config.expand import Question


def target_of(said: Invocation, consent: trust.Consent | None = None) -> Target:
    """The target that was named; raises `TargetError`, `ConfigError` or `TrustNeeded`.

    `consent` stands in place of the question that the options make (see `consent_of`).
    """
    target = parse_target(
        said.target_words,
        command=said.command,
        config=said.option("config"),
        headers=said.option("header", ()),
        env=dict(said.option("env", ())),
        cwd=said.option("cwd"),
        transport=said.option("transport", "auto"),
        verify=not said.option("no-verify"),
        prompt=ask,
        consent=consent or consent_of(said),
    )
    warn_of_interception(said, target)
    return target


def consent_of(said: Invocation) -> trust.Consent:
    """Decides whether an entry of a file that is not the user's is opened: `--trust`, else the user, asked once."""
    return trust.always if said.option("trust") else trust.asking_once(partial(allow, Output.of(said)))


def warn_of_interception(said: Invocation, target: Target) -> None:
    """Say on stderr, whatever the options, that others can read what is sent to `target`."""
    if not isinstance(target, HttpTarget) or not target.withholds_login:
        return
    out = Output.of(said)
    parts = [] if target.verify else [f"The certificate of {out.safe(target.describe(), 300)} is not checked."]
    if target.proxy:
        parts.append(f"Everything is sent through the proxy {out.safe(secrecy.mask_url(target.proxy), 300)}.")
    out.warn(f"warning: {' '.join(parts)} No kept login is sent.")


def live_target(said: Invocation) -> StdioTarget | HttpTarget:
    """The target that was named, if it is a server."""
    target = target_of(said)
    if isinstance(target, RecordingTarget):
        raise UsageError(
            f"{target.describe()} is a recording, and `inspector {said.verb.name}` needs a server.",
            hint="`inspector replay FILE` opens recordings; info and the lists read them too.",
        )
    return target


def settings_of(said: Invocation) -> Settings:
    """The user's settings, with what the flags say of them."""
    return load_settings(flags={"log_level": said.option("log-level")})


def options_of(said: Invocation, target: Target | None, settings: Settings, *, asking: bool) -> Options:
    """What a session wants. `asking`: there is an interface in which questions can wait for a person."""
    entry = None if target is None or isinstance(target, RecordingTarget) else target.options
    _check_eras_agree(said)
    if isinstance(target, StdioTarget):
        logins.refuse(said)
    timeout = said.option("timeout") or (entry and entry.timeout) or settings.timeout
    http = HttpOptions(max_body=settings.max_body_bytes)
    if isinstance(target, HttpTarget):
        http = HttpOptions(
            headers=target.headers, proxy=target.proxy, verify=target.verify, max_body=settings.max_body_bytes
        )
    return Options(
        timeout=timeout,
        max_timeout=max(settings.max_timeout, timeout),
        era=said.option("era") or (entry and entry.era) or settings.era,
        protocol=said.option("protocol") or (entry and entry.protocol) or settings.protocol,
        standing=_standing(said, entry.roots if entry else (), settings, asking=asking),
        log_level=settings.log_level or "",
        verdicts=Verdicts(paths.state_folder() / "verdicts.json"),
        http=http,
        authorize=None if isinstance(target, StdioTarget) else logins.authorize(said, asking=asking),
    )


def _check_eras_agree(said: Invocation) -> None:
    """An era and a revision of the other one cannot both be meant."""
    from inspector.protocol.revisions import LEGACY, MODERN

    era, revision = said.option("era"), said.option("protocol")
    if (era == "legacy" and revision in MODERN) or (era == "modern" and revision in LEGACY):
        raise UsageError(
            f"--era {era} and --protocol {revision} exclude each other: that revision is of the other era.",
            hint="Leave one of them out.",
        )


def _standing(said: Invocation, entry_roots: tuple[str, ...], settings: Settings, *, asking: bool) -> StandingAnswers:
    """The answers given beforehand. Where nobody can be asked, what has none is not offered to the server."""
    sampling = said.option("sampling", settings.sampling)
    elicitation: Any = said.option("elicit", settings.elicitation)
    roots: tuple[str, ...] | Literal["ask"] | None = (
        tuple(said.option("root", ())) or entry_roots or settings.roots or "ask"
    )
    if not asking and not asks_on_terminal(said):
        for flag in ("sampling", "elicit"):
            if said.option(flag) == "ask":
                raise UsageError(f"--{flag} ask needs the interface, or --ask on a terminal.", hint="Leave it out.")
        sampling, elicitation, roots = (None if value == "ask" else value for value in (sampling, elicitation, roots))
    return StandingAnswers(
        sampling, elicitation if elicitation is None or isinstance(elicitation, str) else dict(elicitation), roots
    )


def allow(out: Output, exposure: trust.Exposure) -> trust.Answer:
    """Ask on the terminal whether an entry of a file that is not the user's may be opened; `no` without a terminal."""
    if not _is_terminal():
        return "no"
    lines = [f"{out.safe(exposure.title, 600)} is not in your own config file. This entry:"]
    lines += [f"  - {out.safe(fact, 800)}" for fact in exposure.facts()]
    out.warn("\n".join(lines))
    out.aside("Allow it? [o]nce, [a]lways until the entry changes, [N]o: ")
    answer = sys.stdin.readline().strip().lower()
    return "always" if answer in ("a", "always") else "once" if answer in ("o", "once") else "no"


def _is_terminal() -> bool:
    """Whether there is a user to ask: standard input and stderr are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def asks_on_terminal(said: Invocation) -> bool:
    """Whether questions of the server are put to the person at the terminal: `--ask`, and there is one."""
    return bool(said.option("ask")) and _is_terminal()


def ask(question: Question) -> str | None:
    """Ask on the terminal for a value that a config file leaves to its user; None where there is no terminal."""
    if not _is_terminal():
        return None
    from inspector.text import safe

    text = safe(question.description or question.id, 200)
    if question.choices:
        text += f" ({', '.join(safe(choice, 40) for choice in question.choices[:20])})"
    if question.default:
        text += f" [{'default' if question.secret else safe(question.default, 80)}]"
    text = f"{text}, for {safe(question.server, 80)}: "
    try:
        if question.secret:
            import getpass

            answer = getpass.getpass(text, stream=sys.stderr)
        else:
            sys.stderr.write(text)
            sys.stderr.flush()
            answer = sys.stdin.readline().rstrip("\n")
    except EOFError:
        return None
    return answer or question.default

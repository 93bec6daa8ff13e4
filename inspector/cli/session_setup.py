"""Builds the target and session options from an invocation.

Options override config entries, these override settings.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal

from inspector.cli import login_options
from inspector.cli.options import LOGIN, names_in
from inspector.cli.output import Output, has_user
from inspector.client.answer_program import PREFIX, AnswerProgram
from inspector.client.engine.era_memory import Verdicts
from inspector.client.extensions import by_id, client_identity
from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.config import paths, secret_values, trust
from inspector.config.settings import Settings, load_settings
from inspector.config.target_arguments import parse_target
from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget, Target
from inspector.errors import UsageError
from inspector.transports.base import HttpOptions, MessageFilter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from inspector.cli.verb import Invocation
    from inspector.config.expand import InputQuestion
    from inspector.config.servers import ServerEntry
    from inspector.hosts import Fact
    from inspector.journal.journal import Journal


def target_of(invocation: Invocation, consent: trust.Consent | None = None) -> Target:
    """The target of the invocation; raises `TargetError`, `ConfigError` or `TrustNeeded`.

    `consent` replaces the prompt of the options (see `consent_of`).
    """
    if not invocation.target_words:
        raise invocation.verb.needs_target
    target = target_from(invocation, invocation.target_words, invocation.command, consent or consent_of(invocation))
    if not isinstance(target, RecordingTarget) and target.remark:  # The host whose file has it does not start it.
        out = invocation.output
        out.note(f"note: {out.safe(target.remark, 500)}")
    return target


def target_from(invocation: Invocation, words: Sequence[str], command: bool, consent: trust.Consent) -> Target:
    """The target in `words`, with the options of the invocation; warns of a connection that others can read."""
    target = parse_target(
        words,
        command=command,
        config=invocation.option("config"),
        headers=invocation.option("header", ()),
        **start_of(invocation),
        transport=invocation.option("transport", "auto"),
        verify=not invocation.option("no-verify"),
        prompt=ask,
        consent=consent,
    )
    warn_of_interception(invocation, target)
    return target


def start_of(invocation: Invocation) -> dict[str, Any]:
    """How a command is started, for `parse_target`: its variables and its folder."""
    return {
        "env": dict(invocation.option("env", ())),
        "env_files": invocation.option("env-file", ()),
        "inherit_env": bool(invocation.option("inherit-env")),
        "cwd": invocation.option("cwd"),
    }


STARTS = ("env", "env-file", "inherit-env", "cwd")
"""The options that `start_of` reads."""


def consent_of(invocation: Invocation) -> trust.Consent:
    """Decides whether to open an entry of an untrusted file: `--trust`, else the user is asked once."""
    return trust.always if invocation.option("trust") else trust.asking_once(partial(allow, invocation.output))


def credentials_of(invocation: Invocation) -> list[str]:
    """The options with credentials, without their values: each server of the command gets them."""
    named = [f"--{option} {name}" for option in ("header", "env") for name, _ in invocation.option(option, ())]
    named += [f"--{name}" for name in ("env-file", "inherit-env") if invocation.option(name)]
    named += [f"--{option.name}" for option in LOGIN if option.is_secret and invocation.option(option.name)]
    content = invocation.option("elicit")
    if isinstance(content, dict) and any(map(secret_values.looks_secret, content)):
        named.append("--elicit")
    return named


def refuse_credentials(invocation: Invocation) -> None:
    """Raise `UsageError` for an option with credentials where several servers would get it."""
    for option in credentials_of(invocation)[:1]:
        raise UsageError(
            f"{option.partition(' ')[0]} is for one server, but several are named.",
            hint="Name one server, or put the credentials of each server into its config entry.",
        )


def warn_of_incomplete(out: Output, journal: Journal, *, named: bool = False) -> None:
    """Say why a recording is incomplete, if it is. `named`: with its name, because a run has several."""
    if journal.incomplete:
        name = f" {out.safe(journal.path.name, 200)}" if named and journal.path is not None else ""
        out.warn(f"warning: The recording{name} is incomplete: {out.safe(journal.incomplete)}")


def new_journal(invocation: Invocation, target: Target, settings: Settings, record: Path | None = None) -> Journal:
    """The recording of the command: in `record`, else where its options say."""
    from inspector.cli.output_files import new_recording
    from inspector.client.new_recording import new_journal as create

    record = record or new_recording(invocation)
    keep = settings.record and not invocation.option("no-record")
    return create(target, record=record, keep=keep, settings=settings, purpose=invocation.verb.name)


def end_recording(out: Output, journal: Journal, *, named: bool = False) -> None:
    """End a recording and close its file; say why it is incomplete, if it is."""
    warn_of_incomplete(out, journal, named=named)
    journal.close("closed")
    journal.release()


def warn_of_interception(invocation: Invocation, target: Target) -> None:
    """Warn on stderr, regardless of the options, if others can read the traffic to `target`."""
    if not isinstance(target, HttpTarget) or not target.withholds_login:
        return
    out = invocation.output
    parts = [] if target.verify else [f"The certificate of {out.safe(target.describe_fully(), 400)} is not verified."]
    if target.proxy:
        from inspector.addresses import shown_url

        parts.append(
            f"All traffic goes through the proxy {out.safe(shown_url(secret_values.mask_url(target.proxy), 300))}."
        )
    out.warn(f"warning: {' '.join(parts)} Kept logins are not sent.")


def facts_of(invocation: Invocation) -> tuple[Fact, ...]:
    """The facts of the hosts in `--host`; none without it. Raises `UsageError` for an unknown host."""
    names = names_in(invocation.option("host", ()))
    if not names:
        return ()
    from inspector.hosts import host_facts

    return host_facts().choose(tuple(names))


def live_target(invocation: Invocation) -> StdioTarget | HttpTarget:
    """The target of the invocation, if it is a server."""
    target = target_of(invocation)
    if isinstance(target, RecordingTarget):
        raise UsageError(
            f"`inspector {invocation.verb.name}` needs a server, and {target.describe()} is a recording.",
            hint="Open recordings with `inspector replay FILE`; info and the lists read them too.",
        )
    return target


def settings_of(invocation: Invocation) -> Settings:
    """The user's settings, overridden by the options."""
    settings = load_settings(
        flags={"log_level": invocation.option("log-level"), "login_timeout": invocation.option("login-timeout")}
    )
    if "addon" not in {option.name for option in invocation.verb.options}:
        return replace(settings, addons=())
    files = tuple(str(path.absolute()) for path in invocation.option("addon", ()))
    return replace(settings, addons=(*settings.addons, *files))


@cache
def _filter(files: tuple[str, ...], say: Callable[[str], None]) -> MessageFilter:
    from pathlib import Path

    from inspector.addons.chain import Addons

    return Addons([Path(file).expanduser() for file in files], say)


def filter_of(invocation: Invocation, settings: Settings, *, in_interface: bool = False) -> MessageFilter | None:
    """The addons of the command line and the settings, loaded once; None without any.

    What they say goes to stderr, unless the interface draws there (`in_interface`): the recording has it in any case.
    """
    if not settings.addons:
        return None
    return _filter(settings.addons, _say_nothing if in_interface else invocation.output.warn)


def _say_nothing(sentence: str) -> None:
    """The recording has the sentence."""


def options_of(
    invocation: Invocation, target: Target | None, settings: Settings, *, in_interface: bool, host: str | None = None
) -> Options:
    """The options of a session. `in_interface`: requests of the server are shown there.

    `host` is the host to introduce itself as, unless an option says another one.
    """
    entry = None if target is None or isinstance(target, RecordingTarget) else target.options
    _check_eras_agree(invocation)
    if isinstance(target, StdioTarget):
        login_options.refuse(invocation)
    timeout = invocation.option("timeout") or (entry and entry.timeout) or settings.timeout
    http = HttpOptions(max_body=settings.max_body_bytes)
    if isinstance(target, HttpTarget):
        http = HttpOptions(
            headers=target.headers, proxy=target.proxy, verify=target.verify, max_body=settings.max_body_bytes
        )
    options = Options(
        timeout=timeout,
        max_timeout=max(settings.max_timeout, timeout),
        # Once, however many processes of the server start slowly. The interface shows the steps of connecting itself.
        noted=None if in_interface else cache(lambda text: invocation.output.note(f"note: {text}")),
        era=invocation.option("era") or (entry and entry.era) or settings.era,
        protocol=invocation.option("revision") or (entry and entry.protocol) or settings.protocol,
        standing=_standing(invocation, entry.roots if entry else (), settings, in_interface=in_interface),
        client=client_identity(invocation.option("client") or (entry and entry.client) or settings.client),
        extensions=by_id(
            settings.extensions, entry.extensions if entry else {}, dict(invocation.option("extension", ()))
        ),
        log_level=settings.log_level or "",
        verdicts=Verdicts(paths.state_folder() / "verdicts.json"),
        http=http,
        authorize=None
        if isinstance(target, StdioTarget)
        else login_options.authorize(invocation, settings, in_interface=in_interface),
        filter=filter_of(invocation, settings, in_interface=in_interface),
        trace=bool(invocation.option("trace")),
    )
    return _as_host(options, host, invocation)


def _as_host(options: Options, host: str | None, invocation: Invocation) -> Options:
    """The options of a session that introduces itself as a host does; what the command line says wins.

    It is the host of `--as`, or `host`, whose entry is opened: not of each is known how it does.
    """
    named = invocation.option("as")
    if not named and host is None:
        return options
    from inspector.client.extensions import identity_of
    from inspector.hosts.facts import client_of, host_facts

    client = client_of(named) if named else host_facts().clients.get(host or "")
    if client is None:
        return options
    # The server may use what the host declares, so each question has an answer.
    standing = options.standing
    answers: dict[str, Any] = {
        topic: "decline"
        for topic in ("sampling", "elicitation")
        if topic in client.capabilities and getattr(standing, topic) is None
    }
    if "roots" in client.capabilities and standing.roots is None:
        answers["roots"] = ()
    protocol = options.protocol
    if not protocol and options.era == "auto":
        protocol = client.protocol
    return replace(
        options,
        client=options.client if invocation.option("client") else identity_of(client.info),
        extensions=by_id(client.extensions, dict(invocation.option("extension", ()))),
        default_extensions=(),
        declared=client.capabilities,
        standing=standing._replace(**answers),
        protocol=protocol,
    )


def _check_eras_agree(invocation: Invocation) -> None:
    """An era and a revision of the other era contradict each other."""
    from inspector.protocol.revisions import LEGACY, MODERN

    era, revision = invocation.option("era"), invocation.option("revision")
    if (era == "legacy" and revision in MODERN) or (era == "modern" and revision in LEGACY):
        raise UsageError(
            f"--era {era} cannot be used with --revision {revision}, which belongs to the other era.",
            hint="Remove one of them.",
        )


def _standing(
    invocation: Invocation, entry_roots: tuple[str, ...], settings: Settings, *, in_interface: bool
) -> StandingAnswers:
    """The answers from the options. Without a user, only capabilities with an answer are declared."""
    sampling = _answer(invocation.option("sampling", settings.sampling))
    elicitation: Any = _answer(invocation.option("elicit", settings.elicitation))
    roots: tuple[str, ...] | Literal["ask"] | None = (
        tuple(invocation.option("root", ())) or entry_roots or settings.roots or "ask"
    )
    if not in_interface and not asks_on_terminal(invocation):
        for flag in ("sampling", "elicit"):
            if invocation.option(flag) == "ask":
                raise UsageError(
                    f"--{flag} ask works only in the interface, or with --ask on a terminal.",
                    hint="Remove it, or add --ask.",
                )
        sampling, elicitation, roots = (None if value == "ask" else value for value in (sampling, elicitation, roots))
    return StandingAnswers(sampling, dict(elicitation) if isinstance(elicitation, Mapping) else elicitation, roots)


def _answer(given: Any) -> Any:
    """The standing answer in an option or a setting: `run:PROGRAM` is a program."""
    return AnswerProgram.read(given) if isinstance(given, str) and given.startswith(PREFIX) else given


def allow(out: Output, exposure: trust.Exposure) -> trust.TrustAnswer:
    """Ask on the terminal whether to open an entry of an untrusted file; `no` without a terminal."""
    if not has_user():
        return "no"
    lines = [f"{out.safe(exposure.title, 600)} is not in your own {exposure.file}. This {exposure.part}:"]
    lines += [f"  - {out.safe(fact, 800)}" for fact in exposure.facts()]
    out.ask("\n".join(lines))
    out.aside(f"Allow it? [o]nce, [a]lways until the {exposure.part} changes, [N]o: ")
    answer = sys.stdin.readline().strip().lower()
    return "always" if answer in ("a", "always") else "once" if answer in ("o", "once") else "no"


def confirm_start(invocation: Invocation, entries: Sequence[ServerEntry]) -> None:
    """Ask before more than one configured server is started or contacted; `--yes` is the answer of a script.

    Raises `UsageError` for another answer than yes, and without a terminal if `--yes` is missing.
    """
    if len(entries) < 2 or invocation.option("yes"):
        return
    out = invocation.output
    count = f"{len(entries)} configured servers"
    if not has_user():
        raise UsageError(
            f"`{f'inspector {invocation.verb.name}'.strip()}` would start {count} without asking.",
            hint="Read the commands with `inspector servers`, then add --yes.",
        )
    lines = [f"This starts {count}:"]
    for entry in entries:
        does = "connects to" if entry.kind == "http" else "runs"
        lines.append(f"  {out.safe(entry.reference, 100)} {does} {out.safe(entry.definition.describe_fully(2000))}")
        lines.append(f"      from {out.safe(str(entry.path), 300)}")
    out.ask("\n".join(lines))
    if not out.confirms("Start them?"):
        raise UsageError(f"The {count} were not started.", hint="Answer y, or name one server.")


def asks_on_terminal(invocation: Invocation) -> bool:
    """Whether requests of the server are shown at the terminal: `--ask` on a terminal."""
    return bool(invocation.option("ask")) and has_user()


def ask(question: InputQuestion) -> str | None:
    """Ask on the terminal for a value that a config file requires; None without a terminal."""
    if not has_user():
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

"""The recipients of the credentials of a run.

They are checked, and the user is asked where files are not the user's own, before any credential is read. Credentials
are the options of the command line that have some, the secrets of environments, and values of `--set` under a
secret-looking name. Each of them goes to one server: an origin, or a command.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from inspector.addresses import host_remarks, shown_url
from inspector.calls.environments import Environment, in_effect
from inspector.calls.variables import names_used
from inspector.config import paths, secret_values, trust
from inspector.config.client_config_paths import belongs_to_user
from inspector.config.expand import Reference
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import UsageError
from inspector.text import quantity, safe

if TYPE_CHECKING:
    from inspector.calls.collection import Flow

_SHOWN = 300
_LISTED = 10
_PLACE = "variable "
"""Begins the place of a secret: the variable of an environment follows."""

Servers: TypeAlias = "Mapping[Flow, str | None]"
"""By flow the text of its server; None where a secret stands in it, so that it is not known yet."""


@dataclass
class Recipient:
    """A server of a run, and the credentials that it gets."""

    description: str
    """Its origin or command, without secrets."""
    meaning: Mapping[str, Any]
    """What makes it this server, as JSON without secrets; `kind` is `http` or `stdio`."""
    flows: list[Flow] = field(default_factory=list)
    credentials: dict[object, str] = field(default_factory=dict)
    """By what each credential is, its name: `--bearer-env`, `token (env:SHOP_TOKEN)`."""
    uses: dict[tuple[str, Reference], Environment] = field(default_factory=dict)
    """By variable and place of a secret, the environment that names it."""

    @property
    def runs_a_named_command(self) -> bool:
        """Whether it is a command that stands in a flow, and not in a config file."""
        return self.meaning["kind"] == "stdio" and not self.meaning.get("name")

    def sentence(self) -> str:
        """Return what it gets, as a sentence."""
        return f"{self.description} gets {_and(self.credentials.values())}."


@dataclass
class CredentialCheck:
    """Refuses a run that gives one credential to several servers.

    It asks before a file that is not the user's gets any of them; without `consent`, such a file gets none.
    """

    target_of: Callable[[Flow, str], StdioTarget | HttpTarget] | None = None
    """Finds the server that a flow means; None: it is known by its text only."""
    consent: trust.Consent | None = None
    given: Sequence[str] = ()
    """Options of the command line with credentials, which every server gets."""

    def __call__(
        self,
        servers: Servers,
        environments: Sequence[Environment],
        values: Mapping[str, Any],
        *,
        named: bool,
        dry: bool = False,
    ) -> list[Recipient]:
        """Check a run, and return the servers that get credentials.

        `values` are those of `--set`; `named`: the user names the server, and not each flow. Raises `UsageError` for a
        credential with several recipients, `CallsError` for a variable that is not set, and `TrustNeeded`.
        """
        recipients = self._recipients(servers, environments, values)
        _check_single(recipients)
        for recipient in recipients:
            self._ask(recipient, named=named, dry=dry)
        return [recipient for recipient in recipients if recipient.credentials]

    def _recipients(
        self, servers: Servers, environments: Sequence[Environment], values: Mapping[str, Any]
    ) -> list[Recipient]:
        _, secret = in_effect(environments, values)
        recipients: dict[object, Recipient] = {}
        for flow, server in servers.items():
            key, made = self._recipient(flow, server)
            recipient = recipients.setdefault(key, made)
            recipient.flows.append(flow)
            recipient.credentials |= {option: option for option in self.given}
            for name in sorted(names_used(flow)):
                if name in secret:
                    place = secret[name].reference(name)
                    recipient.uses[f"{_PLACE}{name}", place] = secret[name]
                    recipient.credentials[place] = f"{name} ({safe(secret[name].references[name], _SHOWN)})"
                elif name in values and secret_values.looks_secret(name):
                    recipient.credentials[name] = f"the variable {name}"
        return list(recipients.values())

    def _recipient(self, flow: Flow, server: str | None) -> tuple[object, Recipient]:
        if server is None or self.target_of is None:
            text = flow.model.server if server is None else server
            description = shown_url(secret_values.mask_url(text), _SHOWN)
            return text, Recipient(description, {"kind": "http", "written": text})
        target = self.target_of(flow, server)
        label = f"{safe(target.label, 80)} at " if target.label.startswith("@") else ""
        if isinstance(target, HttpTarget):
            origin = _origin(target)
            return origin, Recipient(f"{label}{shown_url(origin, _SHOWN)}", {"kind": "http", "origin": origin})
        command = target.describe()
        description = f"{label}{safe(command, _SHOWN)}{host_remarks(command)}"
        return (target.command, target.cwd), Recipient(description, target.as_header())

    def _ask(self, recipient: Recipient, *, named: bool, dry: bool) -> None:
        """Raise `TrustNeeded` unless the user allows what files of others do with this server."""
        asks_for_command = dry and not named and recipient.runs_a_named_command
        if not asks_for_command and not recipient.uses:
            return
        foreign = [] if named else [flow for flow in recipient.flows if not _is_own(flow.path)]
        if asks_for_command and foreign:
            self._require("saved call", foreign[0].name, foreign[0].path, recipient)
        for environment in dict.fromkeys(recipient.uses.values()):
            if environment.owned and not foreign:
                continue
            uses = [use for use, of in recipient.uses.items() if of is environment]
            for place, _ in uses:
                environment.check_set(place.removeprefix(_PLACE))
            path = foreign[0].path if environment.owned else environment.path
            self._require("environment", environment.name, path, recipient, uses)
            environment.allowed |= {reference for _, reference in uses}

    def _require(
        self,
        part: trust.Part,
        name: str,
        path: Path,
        recipient: Recipient,
        uses: Sequence[tuple[str, Reference]] = (),
    ) -> None:
        exposure = trust.exposure_of_calls(part, name, path, recipient.description, recipient.meaning, uses)
        if exposure is not None:
            trust.require(exposure, self.consent)


def _check_single(recipients: Sequence[Recipient]) -> None:
    """Raise `UsageError` for a credential that more than one server would get."""
    counts = Counter(key for recipient in recipients for key in recipient.credentials)
    shared = {key for key, count in counts.items() if count > 1}
    concerned = [recipient for recipient in recipients if shared & recipient.credentials.keys()]
    if not concerned:
        return
    names = dict.fromkeys(
        name for recipient in concerned for key, name in recipient.credentials.items() if key in shared
    )
    listed = "; ".join(f"{recipient.description} ({_paths(recipient.flows)})" for recipient in concerned[:_LISTED])
    more = f"; and {len(concerned) - _LISTED} more" if len(concerned) > _LISTED else ""
    raise UsageError(
        f"{quantity(len(concerned), 'server')} would get {_and(names)}: {listed}{more}.",
        hint="Run the saved calls of one server at a time, or name one server for all of them.",
    )


def _paths(flows: Sequence[Flow]) -> str:
    listed = ", ".join(safe(flow.display_path, 100) for flow in flows[:3])
    return f"{listed} and {len(flows) - 3} more" if len(flows) > 3 else listed


def _and(names: Iterable[str]) -> str:
    words = list(names)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _origin(target: HttpTarget) -> str:
    """The scheme, host and port of a server, as they are requested."""
    from inspector.transports.http_url import parse_url

    try:
        return parse_url(target.url).origin
    except ValueError:
        return target.describe()


def _is_own(path: Path) -> bool:
    return belongs_to_user(path, Path.cwd(), paths.home_folder())

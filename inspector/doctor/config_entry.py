"""The config entry behind `@NAME`: its file, and its unset variables. Starts and requests nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from inspector.config import servers, trust
from inspector.config.expand import AskInput
from inspector.config.host_files.table import Host
from inspector.config.servers import ServerEntry
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConfigError, TrustNeeded, ValueMissing

MAX_MISSING = 50


@dataclass(frozen=True, slots=True)
class ExaminedEntry:
    """An entry as far as it can be read."""

    entry: ServerEntry
    missing: tuple[str, ...] = ()
    """Environment variables that it needs and that are not set."""
    exposure: trust.Exposure | None = None
    """What it exposes, if its file is not the user's own."""
    problem: ConfigError | TrustNeeded | None = None
    """Another problem. With a problem or a missing variable, `target` may be incomplete or None."""
    target: StdioTarget | HttpTarget | None = None
    host: Host | None = None
    """The host in whose place the entry is started."""

    @property
    def usable(self) -> bool:
        """Whether the target is complete."""
        return self.problem is None and not self.missing


def look_up(
    word: str,
    *,
    config: Path | None = None,
    prompt: AskInput | None = None,
    consent: trust.Consent | None = None,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
    folder: Path | None = None,
) -> ExaminedEntry:
    """Find the entry of `@NAME`. All unset variables are listed, with a placeholder for each value.

    `consent` answers for an entry that is not the user's own; without it such an entry has a problem.

    Raises `TargetError` or `ConfigError` if the entry does not exist.
    """
    environ = os.environ if environ is None else environ
    entry = servers.find_servers(folder, home, environ, config=config).find(word)
    return examined(entry, environ, home, prompt=prompt, consent=consent)


def examined(
    entry: ServerEntry,
    environ: Mapping[str, str],
    home: Path | None = None,
    *,
    prompt: AskInput | None = None,
    consent: trust.Consent | None = None,
) -> ExaminedEntry:
    """Return an entry as far as it can be read, without values that `consent` does not allow."""
    missing: list[str] = []
    problem: ConfigError | TrustNeeded | None = None
    target: StdioTarget | HttpTarget | None = None
    for _ in range(MAX_MISSING):
        lacking = _PlaceholderEnvironment(environ, missing)
        try:
            target = servers.resolve(entry, lacking, prompt, home=home, consent=consent if not missing else None)
            problem = None
            break
        except TrustNeeded as error:
            problem = error
            break
        except ValueMissing as error:
            problem = error
            if error.variable in missing:
                break
            missing.append(error.variable)
        except ConfigError as error:
            problem = error
            break
    return ExaminedEntry(entry, tuple(missing), servers.exposure_of(entry, environ, home), problem, target)


class _PlaceholderEnvironment(Mapping[str, str]):
    """The environment with placeholders for missing variables."""

    def __init__(self, environ: Mapping[str, str], missing: list[str]) -> None:
        self._environ = environ
        self._missing = {name: f"missing-{name.lower()}" for name in missing}

    def __getitem__(self, name: str) -> str:
        if name in self._environ:
            return self._environ[name]
        return self._missing[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._environ

    def __len__(self) -> int:
        return len(self._environ)

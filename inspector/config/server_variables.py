"""The variables that a user gives a server: by value, by name, from a file, or all of this shell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from inspector.config import dotenv, foreign_files, paths, secret_values
from inspector.config.targets import StdioTarget
from inspector.config.text_checks import checked_text, one_line
from inspector.errors import TargetError
from inspector.hints import Hint, Parameter


@dataclass(frozen=True, slots=True)
class ServerVariables:
    """The values of `--env`, `--env-file` and `--inherit-env`.

    A value wins over a file, a later file over an earlier one.
    In `given`, None takes the value from this shell.
    """

    given: Mapping[str, str | None] = field(default_factory=dict)
    files: Sequence[Path] = ()
    inherit: bool = False

    def added_to(self, target: StdioTarget, environ: Mapping[str, str]) -> StdioTarget:
        """Return the target with these variables. Raises `TargetError`, or `ConfigError` for a file.

        A value that was not written on the command line is a secret unless it is clearly harmless.
        """
        kept = {name: value for path in self.files for name, value in _read(path).items()}
        kept |= {name: _of_shell(name, environ) for name, value in self.given.items() if value is None}
        env = kept | {name: value for name, value in self.given.items() if value is not None}
        for name, value in env.items():
            checked_text(name, "a variable's name")
            checked_text(value, f"the value of {name}")
        secrets = [secret for name, value in kept.items() for secret in secret_values.in_variable(name, value)]
        if self.inherit:
            secrets += secret_values.in_environment(environ.items())
        return replace(
            target,
            env={**target.env, **env},
            secrets=(*target.secrets, *secrets),
            inherits=target.inherits or self.inherit,
        )


def _of_shell(name: str, environ: Mapping[str, str]) -> str:
    value = environ.get(name)
    if value is None:
        raise TargetError(
            f"The environment variable {one_line(name[:60])} is not set in this shell",
            hint=Hint("Set and export it, or give its value: ", Parameter.ENV.to(f"{one_line(name[:60])}=VALUE"), "."),
        )
    return value


def _read(path: Path) -> dict[str, str]:
    variables: dict[str, str] = {}
    for number, name, value in dotenv.variables(foreign_files.read_text(path, never=paths.logins_file())):
        if not name:
            raise TargetError(
                f"Line {number} of {one_line(str(path))} does not set a variable",
                hint="Write NAME=value. Close each quotation mark, and start a comment with #.",
            )
        variables[name] = value
    return variables

"""Names of variables that a server did not get from this shell and probably needs, and how to pass them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from inspector.config.secret_values import looks_secret_setting
from inspector.config.targets import StdioTarget, Target
from inspector.hints import NO_HINT, Hint, Parameter
from inspector.lazy_pattern import lazy_pattern
from inspector.transports.child import environment_of

NOT_PASSED = "set in this shell but not passed to the server"
MOST = 3
"""Names in a hint."""
_WORD = lazy_pattern(r"[A-Za-z_]\w{2,}", re.ASCII)
_OF_LOGS = frozenset("CRITICAL DEBUG ERROR FATAL INFO TRACE WARN WARNING".split())


def is_withheld(name: str, passed: Mapping[str, str], environ: Mapping[str, str]) -> bool:
    """Whether a variable of this shell has a value that the server did not get."""
    return bool(environ.get(name)) and passed.get(name) != environ[name]


def withheld_names(
    stderr: Iterable[str], passed: Mapping[str, str], environ: Mapping[str, str] | None = None, *, guess: bool = True
) -> list[str]:
    """Return the withheld variables that the server's log names; with `guess`, else those that look like keys."""
    environ = os.environ if environ is None else environ
    named = dict.fromkeys(word for line in stderr for word in _WORD.findall(line))
    names = [name for name in named if ("_" in name or name.isupper()) and name not in _OF_LOGS]
    names = [name for name in names if is_withheld(name, passed, environ)]
    if names or not guess:
        return names
    keys = (name for name in environ if looks_secret_setting(name) and is_withheld(name, passed, environ))
    return sorted(keys)


def withheld(names: Sequence[str]) -> str:
    """Return the sentence that names withheld variables, without its full stop."""
    more = len(names) - MOST
    listed = [*names[:MOST], *([f"{more} more"] if more > 0 else [])]
    joined = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
    return f"{joined} {'is' if len(names) == 1 else 'are'} {NOT_PASSED}"


def passing_hint(names: Sequence[str]) -> Hint:
    """Return the hint that names withheld variables, and what passes them; empty without names."""
    if not names:
        return NO_HINT
    parts = [part for name in names[:MOST] for part in (" and ", Parameter.ENV_OF_SHELL.to(name))][1:]
    return Hint(f"{withheld(names)}. To pass {'it' if len(names) == 1 else 'them'}: ", *parts, ".")


def variables_hint(target: Target, stderr: Iterable[str] = ()) -> Hint:
    """Return the hint for a server that ended before it answered, or offers no tools: perhaps it needs a key."""
    if not isinstance(target, StdioTarget):
        return NO_HINT
    return passing_hint(withheld_names(stderr, environment_of(target)))

"""The Content Security Policy that a host builds for a page, per directive, with the origin of each source.

Nothing that a page does not declare is allowed (C-APP-07). Without `csp` the restrictive default applies (C-APP-08); it
differs from the policy for an empty `csp` in connect-src.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from inspector.protocol.app_definitions import AppProblem
from inspector.protocol.jsonrpc import excerpt

LISTS = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
PERMISSIONS = ("camera", "microphone", "geolocation", "clipboardWrite")
MAX_COUNT = 200
"""Domains of one list that are used."""
_HOST = re.compile(
    r"(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?"
)
_SCHEMES = ("https", "http", "wss", "ws")
BY_SPECIFICATION = "by the specification"
"""The origin of a source that no page declares."""
_DEFAULT = (
    ("default-src", ("'none'",)),
    ("script-src", ("'self'", "'unsafe-inline'")),
    ("style-src", ("'self'", "'unsafe-inline'")),
    ("img-src", ("'self'", "data:")),
    ("media-src", ("'self'", "data:")),
    ("connect-src", ("'none'",)),
)
"""Stable 2026-01-26, "Restrictive Default": a MUST there, a SHOULD in the draft."""
_BUILT = (
    ("default-src", ("'none'",), "", ""),
    ("script-src", ("'self'", "'unsafe-inline'"), "resourceDomains", ""),
    ("style-src", ("'self'", "'unsafe-inline'"), "resourceDomains", ""),
    ("connect-src", ("'self'",), "connectDomains", ""),
    ("img-src", ("'self'", "data:"), "resourceDomains", ""),
    ("font-src", ("'self'",), "resourceDomains", ""),
    ("media-src", ("'self'", "data:"), "resourceDomains", ""),
    ("frame-src", (), "frameDomains", "'none'"),
    ("object-src", ("'none'",), "", ""),
    ("base-uri", (), "baseUriDomains", "'self'"),
)
"""Stable 2026-01-26, "CSP Construction from Metadata": sources of the rule, the list, and the source if it is empty."""


class PolicySource(NamedTuple):
    """One source of a directive, and why it is there."""

    value: str
    origin: str
    """`by the specification`, or the list of `csp` that declares it."""


class Directive(NamedTuple):
    """One directive of the policy."""

    name: str
    sources: tuple[PolicySource, ...]

    @property
    def text(self) -> str:
        """The directive as in a header."""
        return " ".join((self.name, *(source.value for source in self.sources)))


class PagePolicy(NamedTuple):
    """The policy of a page."""

    directives: tuple[Directive, ...]
    is_default: bool
    """The page declares no `csp`."""
    problems: tuple[AppProblem, ...]

    def sources(self, directive: str) -> tuple[str, ...]:
        """Return the sources of a directive; those of default-src if the policy does not have it."""
        by_name = {known.name: known for known in self.directives}
        chosen = by_name.get(directive) or by_name["default-src"]
        return tuple(source.value for source in chosen.sources)

    def allows(self, directive: str, url: str) -> bool:
        """Whether a directive allows an absolute URL."""
        return any(_matches(source, url) for source in self.sources(directive))

    @property
    def domains(self) -> tuple[str, ...]:
        """The declared domains, each once, in order."""
        declared = (
            source.value
            for directive in self.directives
            for source in directive.sources
            if source.origin.startswith("csp.")
        )
        return tuple(dict.fromkeys(declared))


def page_policy(ui: Any) -> PagePolicy:
    """Return the policy for a page with this `_meta.ui` (None: it has none). Never raises.

    A list or a domain that is not valid counts as not declared.
    """
    csp = ui.get("csp") if isinstance(ui, dict) else None
    if type(csp) is not dict:
        problems = () if csp is None else (AppProblem("APP-08", f"csp is {excerpt(csp, 40)}, not an object."),)
        directives = (
            Directive(name, tuple(PolicySource(value, BY_SPECIFICATION) for value in given)) for name, given in _DEFAULT
        )
        return PagePolicy(tuple(directives), True, problems)
    faults: list[AppProblem] = []
    declared = {key: _domains(key, csp[key], faults) if key in csp else () for key in LISTS}
    return PagePolicy(
        tuple(
            Directive(
                name,
                (
                    *(PolicySource(value, BY_SPECIFICATION) for value in given),
                    *(PolicySource(value, f"csp.{key}") for value in declared.get(key, ())),
                    *((PolicySource(otherwise, BY_SPECIFICATION),) if otherwise and not declared[key] else ()),
                ),
            )
            for name, given, key, otherwise in _BUILT
        ),
        False,
        tuple(faults),
    )


def page_problems(ui: Any) -> Iterator[AppProblem]:
    """Yield what is wrong with `permissions`, `domain` and `prefersBorder` of a page (APP-09)."""
    if not isinstance(ui, dict):
        return
    permissions = ui.get("permissions", {})
    if type(permissions) is not dict:
        yield AppProblem("APP-09", f"permissions is {excerpt(permissions, 40)}, not an object.")
        permissions = {}
    for name, value in list(permissions.items())[:MAX_COUNT]:
        if name not in PERMISSIONS:
            yield AppProblem("APP-09", f"The permission {excerpt(name, 40)} is unknown.")
        elif value != {} or type(value) is not dict:
            yield AppProblem("APP-09", f"The permission {name} is {excerpt(value, 40)}, not {{}}.")
    if "domain" in ui and type(ui["domain"]) is not str:
        yield AppProblem("APP-09", f"domain is {excerpt(ui['domain'], 40)}, not a string.")
    if "prefersBorder" in ui and type(ui["prefersBorder"]) is not bool:
        yield AppProblem("APP-09", f"prefersBorder is {excerpt(ui['prefersBorder'], 40)}, not a boolean.")


def permissions_of(ui: Any) -> tuple[str, ...]:
    """Return the permissions that a page requests, known or not."""
    permissions = ui.get("permissions") if isinstance(ui, dict) else None
    return tuple(permissions)[:MAX_COUNT] if type(permissions) is dict else ()


def origin_problem(value: Any) -> str:
    """Return what is wrong with a declared domain, after "is"; empty for an origin (APP-08)."""
    if type(value) is not str:
        return "not a string"
    if re.search(r"[\s;,'\"]", value) or not value.isprintable():
        return "not one origin: it contains a blank, a quote, a comma or a semicolon"
    scheme, mark, rest = value.partition("://")
    if not mark:
        return "not an origin such as https://api.example.com"
    if scheme.lower() not in _SCHEMES:
        return f"an origin with the scheme {scheme}"
    if "/" in rest or "?" in rest or "#" in rest:
        return "an origin with a path"
    return "" if len(value) <= 300 and _HOST.fullmatch(rest) else "an origin without a valid host"


def _domains(key: str, value: Any, problems: list[AppProblem]) -> tuple[str, ...]:
    if type(value) is not list:
        problems.append(AppProblem("APP-08", f"csp.{key} is {excerpt(value, 60)}, not a list."))
        return ()
    good = []
    for entry in value[:MAX_COUNT]:
        wrong = origin_problem(entry)
        if wrong:
            problems.append(AppProblem("APP-08", f"csp.{key} contains {excerpt(entry, 80)}, which is {wrong}."))
        else:
            good.append(entry)
    if len(value) > MAX_COUNT:
        problems.append(
            AppProblem("APP-08", f"csp.{key} has {len(value):,} entries; {MAX_COUNT} are used.", "doubtful")
        )
    return tuple(dict.fromkeys(good))


def _matches(source: str, url: str) -> bool:
    """Whether a source expression of our policies matches an absolute URL."""
    if source == "data:":
        return url.lower().startswith("data:")
    if source.startswith("'"):
        return False
    try:
        given, requested = urlsplit(source), urlsplit(url)
        host, ports = (requested.hostname or "").lower(), (_port(given), _port(requested))
        named = (given.hostname or "").lower()
    except ValueError:
        return False
    upgrades = {given.scheme, {"http": "https", "ws": "wss"}.get(given.scheme, "")}
    if requested.scheme.lower() not in upgrades or (ports[0] != ports[1] and given.scheme == requested.scheme):
        return False
    return host.endswith(named[1:]) and host != named[2:] if named.startswith("*.") else host == named


def _port(parts: Any) -> int:
    port: int | None = parts.port
    return {"https": 443, "wss": 443}.get(parts.scheme, 80) if port is None else port

"""URLs that a server wants opened: parsed, with warnings, and the decision whether to open them.

A link is shown and opened as it is requested, with its host in ASCII. This module makes no network requests. Sources:
specification, "Elicitation", "URL mode" (C-ELIC-04); RFC 3986; RFC 3490 for `xn--`.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from inspector.addresses import is_loopback, mixed_scripts, requested_url, spelled_host
from inspector.journal.redaction import MARK
from inspector.lazy_pattern import lazy_pattern
from inspector.text import safe
from inspector.tui.widgets import paint

MAX_LENGTH = 8000
"""Characters of a URL that can be opened."""

_FORBIDDEN = lazy_pattern(r"[\x00-\x20\x7f-\xa0\\\"<>`{|}^]")


class Link(NamedTuple):
    """A URL to show before it is opened. `refusal` says why it cannot be opened; empty if it can."""

    url: str
    before: str
    user: str
    host: str
    after: str
    refusal: str
    warnings: tuple[str, ...]

    @property
    def pieces(self) -> list[paint.Piece]:
        """The whole URL, the host bright, a user name before it in the colour of errors."""
        return [(self.before, "muted"), (self.user, "error"), (self.host, "bright bold"), (self.after, "normal")]


def look_at(value: object) -> Link:
    """Parse any URL and collect its warnings."""
    url = value if isinstance(value, str) else safe(value, 200)
    if _FORBIDDEN.search(MARK.sub("", url)):
        return Link(url, "", "", "", url, "It contains characters that are not allowed in a URL.", ())
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 raises where the port is none
    except ValueError:
        return Link(url, "", "", "", url, "It cannot be parsed as a URL.", ())
    try:
        url = requested_url(url) if parts.netloc else url
    except ValueError as error:
        reason = str(error)
        return Link(url, "", "", "", safe(url, ascii=True), f"{reason[0].upper()}{reason[1:]}.", ())
    parts = urlsplit(url)
    host = parts.hostname or ""
    netloc_at = url.find("//") + 2 if parts.netloc else len(url)
    user, at, _ = parts.netloc.rpartition("@")
    host_at = netloc_at + len(user) + len(at)
    end = host_at + len(parts.netloc) - len(user) - len(at)
    host_part = url[host_at:end]
    return Link(
        url,
        url[:netloc_at],
        user + at,
        host_part,
        url[end:],
        _refusal(url, parts.scheme, parts.netloc, host),
        tuple(_warnings(host, user)),
    )


def _refusal(url: str, scheme: str, netloc: str, host: str) -> str:
    if len(url) > MAX_LENGTH:
        return f"It is longer than {MAX_LENGTH:,} characters."
    if not netloc or not host:
        return "It has no host."
    if scheme == "https" or (scheme == "http" and is_loopback(host)):
        return ""
    return (
        f"Only https: URLs can be opened (http: only for this machine); the scheme is {safe(scheme, 40) or 'missing'}:."
    )


def _warnings(host: str, user: str) -> list[str]:
    notes = []
    if user:
        notes.append("The part before @ is a user name; the host is after it.")
    labels = [label for label in host.split(".") if label.startswith("xn--")]
    if labels:
        notes.append(f"The host is written in punycode: {safe(host, 100)} displays as {safe(spelled_host(host), 100)}.")
    scripts = mixed_scripts(host)
    if scripts:
        notes.append(f"The host mixes {scripts} letters, which may look the same.")
    return notes


def open_in_browser(link: Link) -> str:
    """Open a URL in the user's browser. Returns the error, or an empty text. Blocks for a few seconds at most."""
    from inspector.auth.browser import launch

    problem = link.refusal or launch(link.url)
    return f"{problem} Copy the URL and open it elsewhere." if problem and not link.refusal else problem

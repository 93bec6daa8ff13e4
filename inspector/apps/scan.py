"""The source of a page, read and never run: the URLs that it loads, and its text. Linear in the size of the page.

The scan is a hint, not a proof: a script can put a URL together at run time.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

from inspector.apps.policy import PagePolicy

MAX_URLS = 20_000
"""URLs of one page that are examined."""
MAX_FOUND = 500
"""Different loaded URLs that are listed."""
MAX_TAGS = 200_000
"""Tags that the text of a page is read from."""
MAX_LENGTH = 2_000
"""Characters of a URL."""
_BEFORE = 400
"""Characters before a URL that tell what it is for."""
_URL = re.compile(r"(?:(?:https?|wss?)://|(?<=[\"'(=\s])//(?=[A-Za-z0-9]))[^\s\"'<>`)\\]{1,2000}", re.IGNORECASE)
_BUILT = re.compile(r"\A(?:[a-z]+:)?//[^/]*[$\[({]", re.IGNORECASE)
"""A script puts the host of the URL together: `https://${host}/`."""
_NAME = re.compile(r"[A-Za-z-]{1,30}\Z")
_TAG = re.compile(r"<([A-Za-z][A-Za-z0-9-]{0,30})[\s/]")
_CALLS = re.compile(
    r"(?:(?P<connect>\bfetch\s?\(|\bnew\s(?:WebSocket|EventSource)\s?\(|\.open\s?\(\s?[\"'`][A-Za-z]{3,7}[\"'`]\s?,"
    r"|\bsendBeacon\s?\()|(?P<script>\bimport\s?\(?|\bfrom|\bimportScripts\s?\(|\bnew\s(?:Shared)?Worker\s?\()"
    r"|(?P<style>@import(?:\surl\s?\()?)|(?P<image>(?-i:(?<![\w.])(?<!new )url\s?\()))\Z",
    re.IGNORECASE,
)
"""The call before a URL; runs of blanks are one blank."""
_QUOTES = ("'", '"', "`")
_BY_TAG = {
    ("script", "src"): "script-src",
    ("link", "href"): "style-src",
    ("img", "src"): "img-src",
    ("image", "href"): "img-src",
    ("iframe", "src"): "frame-src",
    ("frame", "src"): "frame-src",
    ("embed", "src"): "object-src",
    ("object", "data"): "object-src",
    ("audio", "src"): "media-src",
    ("video", "src"): "media-src",
    ("video", "poster"): "img-src",
    ("source", "src"): "media-src",
    ("track", "src"): "media-src",
    ("input", "src"): "img-src",
    ("base", "href"): "base-uri",
}
_BY_CALL = {"connect": "connect-src", "script": "script-src", "style": "style-src", "image": "img-src"}
_RAW_TEXT = ("script", "style", "template", "noscript", "svg", "head")
_BLOCKS = frozenset(
    """
    p div br li ul ol tr table h1 h2 h3 h4 h5 h6 section article header footer main nav form fieldset pre blockquote dt
    dd dl button label option hr title select textarea
    """.split()
)


class LoadedUrl(NamedTuple):
    """A URL that the source of a page loads."""

    url: str
    directive: str
    """The directive that applies: `script-src`."""
    allowed: bool
    times: int


class PageUrls(NamedTuple):
    """The URLs of a page."""

    loaded: tuple[LoadedUrl, ...]
    """Loaded URLs, those that the policy does not allow first."""
    mentioned: int
    """Absolute URLs that are only named: links, text, namespaces; and those whose host a script puts together."""
    is_whole: bool
    """Whether the whole page was examined, and every loaded URL is here."""

    @property
    def forbidden(self) -> tuple[LoadedUrl, ...]:
        """Those that the policy does not allow."""
        return tuple(url for url in self.loaded if not url.allowed)


def scan(source: str, policy: PagePolicy) -> PageUrls:
    """Return the URLs that a page loads, each with its directive and whether the policy allows it."""
    counts: dict[tuple[str, str], int] = {}
    mentioned = examined = 0
    dropped = False
    for match in _URL.finditer(source):
        examined += 1
        if examined > MAX_URLS:
            break
        directive = _directive(source[max(0, match.start() - _BEFORE) : match.start()])
        if not directive or _BUILT.search(match[0]):
            mentioned += 1
            continue
        url = html.unescape(match[0])
        key = (f"https:{url}" if url.startswith("//") else url, directive)
        if key in counts or len(counts) < MAX_FOUND:
            counts[key] = counts.get(key, 0) + 1
        else:
            dropped = True
    loaded = [LoadedUrl(url, name, policy.allows(name, url), times) for (url, name), times in counts.items()]
    loaded.sort(key=lambda each: each.allowed)
    return PageUrls(tuple(loaded), mentioned, examined <= MAX_URLS and not dropped)


def _directive(before: str) -> str:
    """The directive for a URL after this text; empty if the page only names it."""
    near = " ".join(before[-80:].split())
    near = (near[:-1] if near[-1:] in _QUOTES else near).rstrip()
    call = _CALLS.search(near)
    if call is not None and call.lastgroup:
        return _BY_CALL[call.lastgroup]
    at = before.rfind("<")
    tag = _TAG.match(before, at) if at >= 0 and ">" not in before[at:] else None
    if tag is None:
        return ""
    if near.endswith("="):
        name = _NAME.search(near[:-1].rstrip()[-30:])
        return _BY_TAG.get((tag[1].lower(), name[0].lower()), "") if name is not None else ""
    return "img-src" if "srcset" in before[at:].rpartition("=")[0][-20:].lower() else ""


def is_html_document(source: str) -> bool:
    """Whether a page begins like an HTML5 document and has content: a doctype or an html element, and more (APP-07)."""
    start = source[:20_000].lstrip("\ufeff \t\r\n\f")
    while start.startswith("<!--"):
        _, end, start = start.partition("-->")
        if not end:
            return False
        start = start.lstrip(" \t\r\n\f")
    begins = re.match(r"<!doctype\s+html\b[^>]*>|<html[\s>]", start, re.IGNORECASE)
    return begins is not None and re.search(r"<[A-Za-z]", start[1:]) is not None


class PageText(NamedTuple):
    """The text of a page. Still text of the server."""

    text: str
    is_whole: bool
    """Whether no tag was left unread."""


def visible_text(source: str) -> PageText:
    """Return the text of a page as a person would read it, without scripts and styles."""
    out: list[str] = []
    at = tags = 0
    while tags < MAX_TAGS:
        start = source.find("<", at)
        if start < 0:
            out.append(source[at:])
            break
        out.append(source[at:start])
        tags += 1
        if source.startswith("<!--", start):
            end = source.find("-->", start + 4)
            at = len(source) if end < 0 else end + 3
            continue
        if not source[start + 1 : start + 2].isalpha() and source[start + 1 : start + 2] not in ("/", "!", "?"):
            out.append("<")
            at = start + 1
            continue
        end = _end_of_tag(source, start)
        if end < 0:
            break
        name = re.split(r"[\s/>]", source[start + 1 : start + 60].lstrip("/"), maxsplit=1)[0].lower()
        at = end + 1
        if name in _BLOCKS:
            out.append("\n")
        if name in _RAW_TEXT and source[start + 1] != "/" and source[end - 1] != "/":
            closing = re.compile(rf"</{name}\b[^>]{{0,200}}>", re.IGNORECASE).search(source, at)
            at = len(source) if closing is None else closing.end()
    text = html.unescape("".join(out))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return PageText("\n".join(line for line in lines if line), tags < MAX_TAGS)


def title_of(source: str) -> str:
    """Return the title of a page; empty without one."""
    found = re.search(r"<title[^>]{0,200}>([^<]{1,500})", source[:200_000], re.IGNORECASE)
    return " ".join(html.unescape(found[1]).split()) if found else ""


def _end_of_tag(source: str, start: int) -> int:
    """The end of a tag. A `>` inside quotes does not end it, within reason."""
    end = source.find(">", start)
    for _ in range(8):
        inside = source[start : min(end, start + 4096)]
        if end < 0 or (inside.count('"') % 2 == 0 and inside.count("'") % 2 == 0):
            break
        later = source.find(">", end + 1)
        if later < 0 or later - start > 4096:
            break
        end = later
    return end

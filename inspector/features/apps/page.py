"""A page as the server returned it: its source, policy, URLs, text and problems. Nothing is run."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from inspector.features.apps.policy import PagePolicy, page_policy, page_problems, permissions_of
from inspector.protocol.app_definitions import OLD_MIME_TYPE, SCHEME, AppProblem, is_app_type, ui_of
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.views import decode_base64

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
    loaded.sort(key=lambda loaded_url: loaded_url.allowed)
    return PageUrls(tuple(loaded), mentioned, examined <= MAX_URLS and not dropped)


def _directive(before: str) -> str:
    """Return the directive for a URL after this text; empty if the page only names it."""
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
    match = re.search(r"<title[^>]{0,200}>([^<]{1,500})", source[:200_000], re.IGNORECASE)
    return " ".join(html.unescape(match[1]).split()) if match else ""


def _end_of_tag(source: str, start: int) -> int:
    """Return the end of a tag. A `>` inside quotes does not end it, within reason."""
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


@dataclass(frozen=True)
class AppPage:
    """A page. All of it is text of the server: show it only through `inspector.text.safe`."""

    uri: str
    """The URI that was asked for."""
    mime_type: str
    source: str
    """The HTML; empty if the answer has none."""
    data: bytes
    """The bytes of the source: those of `blob`, or `text` in UTF-8."""
    member: str
    """`text` or `blob`; empty if the answer has none of them, or both."""
    ui: Mapping[str, Any] | None
    """The `_meta.ui` that applies: that of the content, or else of the list entry (C-APP-09, draft)."""
    ui_place: str
    """`content`, `list entry`, or empty."""
    problems: tuple[AppProblem, ...]
    """What is wrong with the answer, without the policy and the scan."""

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def policy(self) -> PagePolicy:
        """The Content Security Policy that a host would build."""
        return page_policy(self.ui)

    @cached_property
    def scan(self) -> PageUrls:
        """The URLs that the source loads. Up to a second for 20 MB: call it in a thread."""
        return scan(self.source, self.policy)

    @cached_property
    def text(self) -> PageText:
        """The visible text. Up to a second for 20 MB: call it in a thread."""
        return visible_text(self.source)

    @property
    def title(self) -> str:
        """The title of the page."""
        return title_of(self.source)

    @property
    def permissions(self) -> tuple[str, ...]:
        """The permissions that it requests."""
        return permissions_of(self.ui)

    @property
    def domain(self) -> str:
        """The dedicated domain that it requests; its form depends on the host."""
        value = (self.ui or {}).get("domain")
        return value if isinstance(value, str) else ""

    @property
    def border(self) -> bool | None:
        """Whether it wants a border; None leaves it to the host."""
        value = (self.ui or {}).get("prefersBorder")
        return value if isinstance(value, bool) else None

    @cached_property
    def all_problems(self) -> tuple[AppProblem, ...]:
        """All problems, with those of the policy and of the scan."""
        forbidden = (
            AppProblem("APP-13", f"{excerpt(url.url, 120)} is not allowed by {url.directive}.")
            for url in self.scan.forbidden
        )
        return (*self.problems, *self.policy.problems, *page_problems(self.ui), *forbidden)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for a person before a host shows the page (C-APP-12)."""
        warnings = []
        if self.policy.domains:
            warnings.append(f"It may contact {', '.join(self.policy.domains[:20])}.")
        if self.permissions:
            warnings.append(f"It requests {', '.join(self.permissions[:20])}.")
        return tuple(warnings)

    def as_json(self, *, source: bool = False) -> dict[str, Any]:
        """Return the facts as JSON values; the source only if asked for."""
        return {
            "uri": self.uri,
            "mime_type": self.mime_type,
            "title": self.title,
            "bytes": len(self.data),
            "sha256": self.sha256,
            "member": self.member or None,
            "ui_place": self.ui_place or None,
            "policy": {
                "default": self.policy.is_default,
                "directives": [
                    {"name": directive.name, "sources": [source._asdict() for source in directive.sources]}
                    for directive in self.policy.directives
                ],
            },
            "permissions": list(self.permissions),
            "domain": self.domain or None,
            "prefers_border": self.border,
            "loaded": [url._asdict() for url in self.scan.loaded],
            "mentioned": self.scan.mentioned,
            "scanned_whole": self.scan.is_whole,
            "problems": [problem._asdict() for problem in self.all_problems],
        } | ({"text": self.text.text, "text_whole": self.text.is_whole, "source": self.source} if source else {})


def read_page(uri: str, result: Any, listed: Any = None) -> AppPage:
    """Return the page in a result of `resources/read` for `uri`. Never raises.

    `listed` is the entry of `resources/list` for it, if there is one.
    """
    contents = result.get("contents") if type(result) is dict else None
    contents = contents if type(contents) is list else []
    first = contents[0] if contents else None
    problems: list[AppProblem] = []
    if type(first) is not dict:
        problems.append(AppProblem("APP-06", f"The answer for {excerpt(uri, 80)} has no content."))
        first = {}
    elif len(contents) > 1:
        text = f"The answer for {excerpt(uri, 80)} has {len(contents):,} contents; the first is used."
        problems.append(AppProblem("APP-06", text, "doubtful"))
    mime_type = first.get("mimeType")
    if first:
        problems += _identity(uri, first, mime_type)
    source, data, member = _source(first, problems)
    if data and not is_html_document(source):
        problems.append(AppProblem("APP-07", "The page does not begin like an HTML5 document."))
    elif first and member and not data.strip():
        problems.append(AppProblem("APP-07", "The page is empty."))
    own, others = ui_of(first), ui_of(listed)
    if own is not None and others is not None and own != others:
        different = sorted(key for key in {*own, *others} if own.get(key) != others.get(key))
        text = f"_meta.ui of the content and of the list entry differ in {excerpt(', '.join(different), 100)}."
        problems.append(AppProblem("APP-12", f"{text} The content wins (draft).", "doubtful"))
    ui, place = (own, "content") if own is not None else (others, "list entry" if others is not None else "")
    return AppPage(
        uri, mime_type if isinstance(mime_type, str) else "", source, data, member, ui, place, tuple(problems)
    )


def _identity(uri: str, content: dict[str, Any], mime_type: Any) -> list[AppProblem]:
    problems = []
    if not is_app_type(mime_type):
        old = isinstance(mime_type, str) and mime_type.strip().lower() == OLD_MIME_TYPE
        more = ", the type of older drafts" if old else ""
        text = f"The MIME type is {excerpt(mime_type, 80)}{more}, not text/html;profile=mcp-app."
        problems.append(AppProblem("APP-05", text))
    if content.get("uri") != uri:
        problems.append(AppProblem("APP-06", f"The content has the URI {excerpt(content.get('uri'), 80)}."))
    if not uri.startswith(SCHEME):
        problems.append(AppProblem("APP-01", f"The page {excerpt(uri, 80)} is not a ui:// URI."))
    return problems


def _source(content: dict[str, Any], problems: list[AppProblem]) -> tuple[str, bytes, str]:
    """Source, bytes and member of a content."""
    given = [key for key in ("text", "blob") if key in content]
    if len(given) != 1:
        if content:
            text = "The content has both text and blob." if given else "The content has neither text nor blob."
            problems.append(AppProblem("APP-06", text))
        if not given:
            return "", b"", ""
    value = content[given[0]]
    if type(value) is not str:
        problems.append(AppProblem("APP-06", f"{given[0]} is {excerpt(value, 40)}, not a string."))
        return "", b"", ""
    member = given[0] if len(given) == 1 else ""
    if given[0] == "text":
        return value, value.encode("utf-8", "surrogatepass"), member
    data = decode_base64(value)
    if data is None:
        problems.append(AppProblem("APP-06", "blob is not base64."))
        return "", b"", ""
    try:
        source = data.decode("utf-8")
    except UnicodeDecodeError:
        problems.append(AppProblem("APP-07", "The page is not UTF-8."))
        source = data.decode("utf-8", "replace")
    return source, data, member

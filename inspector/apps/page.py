"""A page as the server returned it: its source, size, hash, policy, permissions, and what is wrong with it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from inspector.apps.definitions import OLD_MIME_TYPE, SCHEME, AppProblem, is_app_type, ui_of
from inspector.apps.policy import PagePolicy, page_policy, page_problems, permissions_of
from inspector.apps.scan import PageText, PageUrls, is_html_document, scan, title_of, visible_text
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.views import decode_base64


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
        found = []
        if self.policy.domains:
            found.append(f"It may contact {', '.join(self.policy.domains[:20])}.")
        if self.permissions:
            found.append(f"It requests {', '.join(self.permissions[:20])}.")
        return tuple(found)

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
                    {"name": each.name, "sources": [source._asdict() for source in each.sources]}
                    for each in self.policy.directives
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
    found = []
    if not is_app_type(mime_type):
        old = isinstance(mime_type, str) and mime_type.strip().lower() == OLD_MIME_TYPE
        more = ", the type of older drafts" if old else ""
        text = f"The MIME type is {excerpt(mime_type, 80)}{more}, not text/html;profile=mcp-app."
        found.append(AppProblem("APP-05", text))
    if content.get("uri") != uri:
        found.append(AppProblem("APP-06", f"The content has the URI {excerpt(content.get('uri'), 80)}."))
    if not uri.startswith(SCHEME):
        found.append(AppProblem("APP-01", f"The page {excerpt(uri, 80)} is not a ui:// URI."))
    return found


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

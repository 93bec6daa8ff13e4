"""Web pages that Inspector writes: only their own style and script can load or run."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser

from inspector.html_page import page_head
from tests.sources import PACKAGE, sources


class Inert(HTMLParser):
    """Check that a page starts with our policy, and that nothing in it needs another one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.policy = ""
        self.feed(page)
        self.close()
        assert self.tags[:4] == ["html", "head", "meta", "meta"], "nothing is read before the policy"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        assert not given.keys() & {"src", "href", "style", "action", "srcdoc"}, given
        assert not [name for name in given if name.startswith("on")], given

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "style" and data.strip():
            assert f"style-src {hash_of(data)};" in self.policy, "the page has its own style"
        assert self.tags[-1:] != ["script"], "no script"


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_names_style_and_script_and_forbids_the_rest() -> None:
    page = page_head("<b>A & B</b>", "p{margin:0}", "run()")
    policy = dict(part.strip().split(" ", 1) for part in Inert(page).policy.split(";"))
    assert policy == {
        "default-src": "'none'", "script-src": hash_of("run()"), "style-src": hash_of("p{margin:0}"),
        "base-uri": "'none'", "form-action": "'none'", "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }  # fmt: skip
    assert "<title>&lt;b&gt;A &amp; B&lt;/b&gt;</title>" in page
    assert "script-src 'none'" in Inert(page_head("x", "p{}")).policy


def test_every_page_begins_with_it() -> None:
    elsewhere = {
        path.relative_to(PACKAGE).as_posix()
        for path, text in sources().items()
        if "<html" in text.replace('b"<html', "") or "http-equiv" in text or "<style" in text
    }
    ours = {name for name in elsewhere if not name.startswith(("demo/", "features/apps/", "check/checks/apps"))}
    assert ours == {"html_page.py"}

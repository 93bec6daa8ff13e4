"""HTML: one page, one script, and nothing of a server in it but text. A real browser opens it in tests/interop."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any

import pytest

from inspector.errors import UsageError
from inspector.formats import html
from inspector.journal.findings import Finding
from inspector.journal.journal import Journal
from tests.formats.journals import NASTY, SESSION, exported, hostile, live, opened


class Page(HTMLParser):
    """The elements of a page, its scripts and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.blocks: dict[str, list[Any]] = {"facts": [], "rows": [], "bodies": []}
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.policy = ""
        self._inside: dict[str, str | None] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._inside = {"tag": tag, **dict(attrs)}
        if tag == "meta" and self._inside.get("http-equiv") == "Content-Security-Policy":
            self.policy = str(self._inside["content"])

    def handle_data(self, data: str) -> None:
        if self._inside.get("tag") == "style":
            self.styles.append(data)
        elif self._inside.get("tag") == "script":
            if self._inside.get("type") == "application/json":
                name = str(self._inside.get("id") or self._inside.get("class"))
                self.blocks[name] += json.loads(data) if name != "facts" else [json.loads(data)]
            else:
                self.scripts.append(data)
        self._inside = {}


def page(journal: Journal, numbers: Iterable[int] | None = None) -> Page:
    return Page(exported(journal, "html", numbers))


def hash_of(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def test_only_our_own_script_and_style_may_do_anything() -> None:
    parsed = page(hostile())
    (script,), (style,) = parsed.scripts, parsed.styles
    policy = dict(part.strip().split(" ", 1) for part in parsed.policy.split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": hash_of(script),
        "style-src": hash_of(style),
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "Function(",
        "fetch(",
        "http:",
        "https:",
    ):
        assert word not in script + style
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name in ("src", "href", "style")]


@pytest.mark.parametrize("http", [False, True])
def test_a_hostile_recording_adds_no_element(http: bool) -> None:
    plain, worst = page(live(b'{"method":"x"}')), page(hostile(http=http))
    extra = ["script"] * 2 * (len(worst.blocks["rows"]) // html.BLOCK)
    assert worst.tags == plain.tags + extra


def test_blocks_of_data_hold_nothing_that_could_end_them() -> None:
    text = exported(hostile(), "html")
    for block in re.findall(r'<script type="application/json"[^>]*>(.*)</script>\n', text):
        assert "<" not in block
        assert block.isascii()


def test_every_event_is_a_row_with_its_body() -> None:
    journal = opened(SESSION)
    parsed = page(journal)
    assert [row[0] for row in parsed.blocks["rows"]] == list(range(1, len(journal) + 1))
    for (text, fields, _), event in zip(parsed.blocks["bodies"], journal.events(), strict=True):
        assert text == (event.text if event.raw is not None or event.data is not None else None)
        assert fields == (event.fields or None)
    request = parsed.blocks["rows"][5]
    assert request[2:9] == ["send", "rpc", "request", "done", "tools/list", "", "1"]
    assert request[9] == 7
    assert request[12] == 12_345


def test_only_what_is_chosen_stands_in_it() -> None:
    parsed = page(opened(SESSION), [6, 7])
    assert [row[0] for row in parsed.blocks["rows"]] == [6, 7]
    assert ["events", "2 of 20"] in parsed.blocks["facts"][0]["head"]


def test_many_events_stand_in_several_blocks() -> None:
    journal = live(*(b'{"method":"x"}' for _ in range(html.BLOCK + 1)))
    text = exported(journal, "html")
    assert text.count('class="rows"') == text.count('class="bodies"') == 2
    assert len(Page(text).blocks["rows"]) == html.BLOCK + 1


def test_findings_stand_with_their_events() -> None:
    journal = live(b'{"jsonrpc":"2.0","id":1,"result":{}}')
    journal.findings.add(Finding(1, "BASE-02", "must", "an <answer>", ("x",), "basic"))
    parsed = page(journal)
    assert parsed.blocks["rows"][0][13] == 1
    assert parsed.blocks["facts"][0]["findings"][0]["message"] == "an <answer>"


def test_a_long_message_is_shown_by_its_beginning() -> None:
    journal = live(b'{"method":"x","params":"%b"}' % (b"a" * 600_000), b"\xff")
    (long, _, note), (_, _, bytes_note) = page(journal).blocks["bodies"]
    assert len(long) == html.MAX_LENGTH
    assert note == "The first 524,288 of 600,026 characters."
    assert bytes_note == "Not UTF-8: 1 B."


def test_a_page_too_large_for_a_browser_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = live(*(b'{"method":"x"}' for _ in range(10)))
    monkeypatch.setattr(html, "MAX_COUNT", 9)
    with pytest.raises(UsageError) as caught:
        exported(journal, "html")
    assert "10 events" in caught.value.message
    assert "--filter" in caught.value.hint.command_line
    assert exported(journal, "html", range(1, 10))
    monkeypatch.setattr(html, "MAX_SIZE", 20)
    with pytest.raises(UsageError):
        exported(journal, "html", [1, 2])


def test_the_title_is_text() -> None:
    journal = Journal.unnamed({"label": NASTY[0]})
    assert "<h1>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;</h1>" in exported(journal, "html")

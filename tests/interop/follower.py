"""A browser for tests: follows redirects and submits forms until there are no more.

`follower.py URL`: keeps cookies, follows redirects, sends the first form of a page with a name and a password in it.
Redirects, forms, and an error at the end are written as lines to the file in FOLLOWER_LOG. Standard library only.
"""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from urllib.parse import urlencode, urljoin, urlsplit

MAX_COUNT = 10
"""Forms that a login may have."""
PATIENCE = 20
_TYPED = {"text": "alice", "email": "alice@example.org", "password": "secret"}


class Form(HTMLParser):
    """The first form of a page: where it goes, how, and what is filled in. It is sent by its first button."""

    def __init__(self) -> None:
        super().__init__()
        self.action: str | None = None
        self.method = "get"
        self.values: dict[str, str] = {}
        self._over = False
        self._pressed = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A form begins, or a field of it."""
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        if tag == "form" and self.action is None:
            self.action, self.method = given.get("action", ""), given.get("method", "get").lower()
        elif self.action is None or self._over or not name:
            return
        elif tag == "input":
            self.values[name] = given.get("value") or _TYPED.get(given.get("type", "text"), "")
        elif tag == "button" and not self._pressed:
            self._pressed = True
            self.values[name] = given.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        """The form ends."""
        self._over = self._over or (tag == "form" and self.action is not None)


def note(line: str) -> None:
    """Write a line of the log."""
    with open(os.environ["FOLLOWER_LOG"], "a", encoding="utf-8") as log:
        log.write(f"{line}\n")


def go(url: str) -> None:
    """Follow an address to where it leads."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    data: bytes | None = None
    note(f"opened {urlsplit(url).path}")
    for _ in range(MAX_COUNT):
        with browser.open(url, data, timeout=PATIENCE) as answer:
            page = answer.read().decode("utf-8", "replace")
            here = answer.geturl()
        form = Form()
        form.feed(page)
        if form.action is None:
            return
        note(f"form at {urlsplit(here).path}")
        asked = urlencode(form.values)
        url = urljoin(here, form.action or here)
        data = asked.encode() if form.method == "post" else None
        if data is None:
            url = f"{url.partition('?')[0]}?{asked}"


def main() -> None:
    """Follow the address that is given. An error page is a page too."""
    try:
        go(sys.argv[1])
    except urllib.error.HTTPError as error:
        note(f"status {error.code}")


if __name__ == "__main__":
    main()

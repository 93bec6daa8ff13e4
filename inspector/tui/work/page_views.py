"""The views of a page in a result, which features bring."""

from __future__ import annotations

from typing import Any, NamedTuple

from inspector.client.session_state import SessionState
from inspector.tui import feature_verbs
from inspector.tui.widgets.fact_rows import Row


class PageInResult(NamedTuple):
    """The rows and the text for the views of a page, without its source."""

    rows: list[Row]
    text: str


def page_in(session: SessionState, request: int, result: Any) -> PageInResult | None:
    """Return the page in a result of request `request`; None if it did not read one. Call it in a thread."""
    for feature, keys in feature_verbs.all_keys():
        page: PageInResult | None = feature.load(keys.page)(session, request, result) if keys.page else None
        if page is not None:
            return page
    return None

"""The views of a page in a result, which features bring."""

from __future__ import annotations

from typing import Any, NamedTuple

from inspector.client.session_state import SessionState
from inspector.config.logfile import skip_failed
from inspector.tui import feature_verbs
from inspector.tui.widgets.fact_rows import Row


class PageInResult(NamedTuple):
    """The rows and the text for the views of a page, without its source."""

    rows: list[Row]
    text: str


def page_in(session: SessionState, request: int, result: Any) -> PageInResult | None:
    """Return the page in a result of request `request`; None if it did not read one. Call it in a thread."""
    for feature, keys in feature_verbs.all_keys():
        try:
            page: PageInResult | None = feature.load(keys.page)(session, request, result) if keys.page else None
        except Exception as error:  # noqa: BLE001 - a feature of another package; another error is raised again
            skip_failed(error)
            continue
        if page is not None:
            return page
    return None

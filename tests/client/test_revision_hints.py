"""Which failures come from the revision in use, as far as that can be told."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.client.revision_hints import revision_hint
from inspector.errors import InspectorError, RequestTimeout, ServerError
from inspector.protocol.revisions import R2, R3, R4, R5


def failed(text: Any) -> dict[str, Any]:
    return {"isError": True, "content": [{"type": "text", "text": text}]}


@pytest.mark.parametrize(
    ("revision", "error", "value", "ending"),
    [
        (R3, ServerError(-32042, "visit"), None, "Revision 2025-06-18 does not support that; 2025-11-25 does."),
        (R4, ServerError(-32042, "visit"), None, ""),
        (R5, ServerError(-32601, "Method not found"), None, "in the modern era. Try 2025-11-25."),
        (R4, ServerError(-32601, "Method not found"), None, "in the legacy era. Try 2026-07-28."),
        (R5, ServerError(-32022, "no"), None, "does not support revision 2026-07-28. Try 2025-11-25."),
        (R5, ServerError(-32022, "no", {"supported": [R2, R3]}), None, "revision 2026-07-28. Try 2025-06-18."),
        (R5, ServerError(-32022, "no", {"supported": [R5]}), None, ""),
        (R5, ServerError(-32022, "no", {"supported": ["2099-01-01"]}), None, ""),
        (R4, ServerError(-32602, "elicitation"), None, ""),
        (R5, ServerError(-32600, "Cannot send 'elicitation/create': no back-channel"), None, "Try 2025-11-25."),
        (R4, ServerError(-32600, "Cannot send 'elicitation/create': no back-channel"), None, ""),
        (R5, ServerError(-32602, "sampling must be a number"), None, ""),
        (R5, None, failed("Client does not support Elicitation"), "Try 2025-11-25."),
        (R2, None, failed("elicitation was not declared"), "2025-03-26 does not support that; 2025-11-25 does."),
        (R4, None, failed("elicitation was not declared"), ""),
        (R5, None, failed("no such city"), ""),
        (R5, None, failed(7), ""),
        (R5, None, {"isError": True, "content": "sampling"}, ""),
        (R5, None, {"content": [{"type": "text", "text": "about sampling"}]}, ""),
        (R5, RequestTimeout("late"), None, ""),
    ],
)
def test_a_failure_that_comes_from_the_revision_says_which_one_to_try(
    revision: str, error: InspectorError | None, value: Any, ending: str
) -> None:
    hint = revision_hint(revision, error, value)
    assert (hint is not None) == bool(ending)
    if hint is not None:
        assert hint.text.endswith(ending)
        assert hint.revision in ending

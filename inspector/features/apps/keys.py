"""The verb of a tool with a page, and the view of the page."""

from __future__ import annotations

from inspector.tui.feature_verbs import FeatureVerb, Keys

KEYS = Keys(
    verbs=(
        FeatureVerb(
            "catalog.page",
            "page",
            "u",
            "Read the page of the tool (MCP Apps) and show its policy, text and source.",
            "page_view:start",
            needs="page",
            after="model",
            is_offered=True,
        ),
    ),
    page="page_view:page_in",
)

"""The model view and its keys."""

from __future__ import annotations

from inspector.tui.feature_verbs import FeatureContext, FeatureVerb, Keys

_MODEL = (
    ("sort", "sort", "o", "Sort the tools by cost, by name, or in the server's order."),
    ("filter", "filter", "slash", "Show only the tools that match."),
    ("all", "all", "escape", "Clear the filter; without one, return to the session."),
    ("budget", "budget", "b", "Choose a number of tokens that the tools should not exceed."),
    ("hosts", "hosts", "h", "Choose the hosts whose limits are shown."),
    ("copy", "copy", "c", "Copy the text of the tool as a model gets it."),
    ("save", "write file", "w", "Write the report to a file, as JSON."),
)
KEYS = Keys(
    contexts=(
        FeatureContext("model", "list", "Model view", _MODEL, after="history", way="catalog.model", is_screen=True),
    ),
    verbs=(
        FeatureVerb(
            "catalog.model",
            "model view",
            "v",
            "Show what the tools cost a model, and which limits of hosts they exceed.",
            "screen:start",
            needs="tool",
            after="sort",
        ),
        FeatureVerb(
            "form.model",
            "model view",
            "alt+v",
            "Show the tool as a model gets it: its cost, its text, the limits of hosts.",
            "screen:start",
            needs="tool",
            after="saved-calls",
        ),
    ),
)

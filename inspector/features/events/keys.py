"""The keys of the screen of events."""

from __future__ import annotations

from inspector.tui.feature_verbs import FeatureContext, FeatureVerb, Keys

_EVENTS = (
    ("follow", "send", "ctrl+r", "Follow the event type with these arguments: by a stream, or by polls."),
    ("poll", "poll once", "f5", "Poll the event type once, from the last cursor."),
    ("again", "read again", "f2", "Read the list of event types again."),
    ("leave", "leave", "escape", "Stop following; then go back to the session."),
)
KEYS = Keys(
    contexts=(FeatureContext("events", "list", "Events", _EVENTS, after="history", way="app.events", is_screen=True),),
    verbs=(
        FeatureVerb(
            "app.events",
            "events",
            "f6",
            "List, poll and follow the events of the server (draft extension).",
            "screen:start",
            after="check",
        ),
    ),
)

"""Events of a server (`io.modelcontextprotocol/events`, SEP-3415, draft of 2026-10-05).

`protocol` has names, event types and errors, `subscription` keeps what one subscription delivers, without I/O. `feed`
sends the requests of lists, polls and streams through a session and reads their notifications from its journal.
`webhook` makes the requests and verifies the signatures of webhooks, `webhook_receiver` listens for their deliveries.

Nothing here subscribes by itself: each poll, stream and webhook is an act of the user (C-EVENT-27).
"""

from inspector.feature import CommandVerb, Feature

FEATURE = Feature(
    "events",
    verbs=(CommandVerb("events", "Call", "List, poll and follow events of a server (draft extension)", "verb:EVENTS"),),
    options={"check": "options:CHECK"},
    keys="keys:KEYS",
    checks="checks:CHECKS",
    demo="demo:DEMO",
)

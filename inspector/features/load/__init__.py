"""Measures a server under load: latency from the planned start, at a constant arrival of calls."""

from inspector.feature import CommandVerb, Feature

FEATURE = Feature(
    "load",
    verbs=(CommandVerb("load", "Verify", "Call a tool at a constant rate and measure the latency", "verb:LOAD"),),
    keys="keys:KEYS",
    names=dict.fromkeys(("LoadClient", "LoadReport", "PlannedCall", "load"), "library"),
)

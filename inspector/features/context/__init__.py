"""Context: how much of a model's context a server's tools and results fill. Characters are exact, tokens estimated."""

from inspector.feature import CommandVerb, Feature

FEATURE = Feature(
    "context",
    verbs=(
        CommandVerb(
            "context",
            "Verify",
            "Show what tools cost a model and which limits of hosts they exceed",
            "verb:CONTEXT",
            after="check",
        ),
    ),
    keys="keys:KEYS",
)

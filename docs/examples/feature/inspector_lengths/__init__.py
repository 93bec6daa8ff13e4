"""The lengths of the descriptions of a server's tools: a verb, a check and a tab."""

from inspector.feature import CommandVerb, Feature

# Strings, so that nothing is imported before it is used.
FEATURE = Feature(
    "lengths",
    verbs=(CommandVerb("lengths", "Verify", "List the lengths of descriptions", "verb:LENGTHS"),),
    checks="checks:CHECKS",
    keys="keys:KEYS",
)

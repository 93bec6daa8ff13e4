"""Skills (SEP-2640): entries of a server, read when asked for, verified, saved. Nothing of a skill is executed."""

from inspector.feature import CommandVerb, Feature

FEATURE = Feature(
    "skills",
    verbs=(CommandVerb("skills", "Explore", "List, verify and save skills", "verb:SKILLS", after="prompts"),),
    options={"check": "options:CHECK"},
    keys="keys:KEYS",
    checks="checks:CHECKS",
    judge="judge:RULES",
    demo="demo:DEMO",
)

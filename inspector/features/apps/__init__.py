"""MCP Apps (`io.modelcontextprotocol/ui`): tools with a page, the page, and its policy. Nothing is rendered or run.

Source: ext-apps, specification/2026-01-26/apps.mdx (stable, SEP-1865). What only its draft has is marked "draft".
"""

from inspector.feature import CommandVerb, Feature

FEATURE = Feature(
    "apps",
    verbs=(
        CommandVerb(
            "apps", "Explore", "List tools with a page (MCP Apps); look at a page", "verb:APPS", after="skills"
        ),
    ),
    keys="keys:KEYS",
    checks="checks:CHECKS",
    judge="judge:RULES",
)

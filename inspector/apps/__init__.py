"""MCP Apps (`io.modelcontextprotocol/ui`): tools with a page, the page, and its policy. Nothing is rendered or run.

Source: ext-apps, specification/2026-01-26/apps.mdx (stable, SEP-1865). What only its draft has is marked "draft".
"""

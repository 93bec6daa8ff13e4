"""A bundled MCP server that shows every feature. Over stdio it imports nothing else of Inspector: it starts fast."""

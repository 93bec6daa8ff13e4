"""A bundled MCP server that shows every feature. It uses the standard library only, nothing else of Inspector."""

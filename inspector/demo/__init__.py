"""A bundled MCP server that shows every feature. It stands alone: standard library only, nothing else of Inspector."""

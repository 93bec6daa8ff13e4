"""Reads and writes the files of other recorders: mcp-cassette, mcp-recorder, mcporter, mcpsnoop."""

from inspector.feature import Feature

FEATURE = Feature("recorders", formats="formats:FORMATS")

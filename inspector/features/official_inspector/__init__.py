"""Reads the exports of the official MCP Inspector."""

from inspector.feature import Feature

FEATURE = Feature("official_inspector", formats="formats:FORMATS")

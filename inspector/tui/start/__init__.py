"""The start list."""

"""The message log: its rows, filter and detail, and messages composed by hand."""

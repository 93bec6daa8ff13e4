"""The message log: rows, filter, detail, and messages written by hand."""

"""The Server tab, the steps of a connection, and why one failed."""

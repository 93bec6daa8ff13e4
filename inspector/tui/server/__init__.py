"""The Server tab, the steps of a connection, and the pane of a failed connection."""

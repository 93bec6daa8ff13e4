"""Two sessions side by side: one form, both called with one key, the answers compared."""

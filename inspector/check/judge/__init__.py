"""The judge: reads a journal and attaches findings to its events. Its rules, by what they judge."""

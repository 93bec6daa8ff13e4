"""The events of a server: its types, a form, and the events as they arrive."""

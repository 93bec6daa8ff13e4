"""The widgets of the interface: each draws one thing, depends on no session or journal, and posts messages."""

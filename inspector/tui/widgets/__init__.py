"""The widgets of the interface: each draws one thing, knows no session and no journal, and posts messages."""

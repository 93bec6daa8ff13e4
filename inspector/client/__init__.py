"""Layer 4: the session. `from inspector.client.session import Session` is the public entry."""

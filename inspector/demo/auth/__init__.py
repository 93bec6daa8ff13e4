"""An authorization server for the demo server, and the gate that asks for its tokens: in this process, no network."""

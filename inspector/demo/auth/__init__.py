"""An authorization server for the demo server, and the gate that requires its tokens: in this process, no network."""

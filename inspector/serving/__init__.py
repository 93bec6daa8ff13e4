"""Ends at which clients talk to us: our own stdin and stdout, and an HTTP endpoint."""

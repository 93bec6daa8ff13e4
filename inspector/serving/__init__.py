"""Ends that clients connect to: our own stdin and stdout, and an HTTP endpoint."""

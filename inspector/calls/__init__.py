"""Saved calls: the files. Models, reading, variables; no session and no network."""

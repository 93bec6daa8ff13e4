"""Plays a recording, compares it with a live server, serves it."""

"""Reductions of frames to a server's offers and a session's state, live and recorded alike."""

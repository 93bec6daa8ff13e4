"""Logging in: the dialog, and the steps of a login."""

"""Addons: the user's Python files, whose functions see each message and may change it, refuse it or answer it.

They are named on the command line or in the user's settings. Nothing here is imported without one.
"""

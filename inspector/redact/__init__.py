"""Secrets in recordings: finds, shows and removes them."""

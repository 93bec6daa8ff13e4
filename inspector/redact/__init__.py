"""Secrets in recordings: found, shown, taken out."""

"""The Check tab: running the checks, their rows, and a finding."""

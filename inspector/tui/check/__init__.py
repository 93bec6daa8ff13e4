"""The Check tab: runs the checks, lists them, shows a finding."""

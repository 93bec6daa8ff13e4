"""Hosts and their config files: where each keeps its servers, and what it does with an entry.

`hosts.json` has the facts, each with its source and date. `table` finds the files, `reading` says why a host does not
start an entry, `environment` gives what it starts an entry with.
"""

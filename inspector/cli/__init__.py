"""The command line: words become one call of a lower floor, and what comes back becomes text or JSON."""

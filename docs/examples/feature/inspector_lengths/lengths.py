"""The rule itself. It knows no command line, no check and no screen."""

SHORTEST = 20


def lengths(tools):
    """Return name and length of the description of each tool, the shortest first."""
    return sorted(((tool["name"], len(tool.get("description", ""))) for tool in tools), key=lambda row: row[1])

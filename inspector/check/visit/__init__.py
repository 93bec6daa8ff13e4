"""A visit of a server in one revision, and what checks use in it: connections, requests, calls of tools."""

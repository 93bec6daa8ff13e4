"""Bytes to and from a server. Each transport has a sink that records what it sends and receives."""

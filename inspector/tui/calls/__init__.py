"""Saved calls in the interface: the tab of flows, saving a call, expectations from a result, runs after a restart."""

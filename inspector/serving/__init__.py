"""Servers for clients: on the stdin and stdout of this process, and over HTTP."""

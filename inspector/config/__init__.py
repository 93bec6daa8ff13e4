"""What Inspector connects to and how it is set: targets, the config files of MCP clients, settings, folders, memory.

Nothing is imported here: each module is loaded by whoever needs it, so that a plain command loads no config readers.
"""

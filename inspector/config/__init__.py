"""Configuration: targets, the config files of MCP clients, settings, folders, stored data.

This package imports nothing here: each module is loaded only when it is used, so that a plain command loads no config
readers.
"""

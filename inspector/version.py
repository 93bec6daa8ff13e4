"""The version, for every package."""

__version__ = "0.2.0"

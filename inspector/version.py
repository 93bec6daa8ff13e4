"""The version, for every package."""

__version__ = "0.1.0"

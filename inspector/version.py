"""The version, where every floor may read it."""

__version__ = "0.1.0"

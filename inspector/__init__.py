"""Inspector: the terminal tool for Model Context Protocol servers."""

__version__ = "0.1.0"

"""The command line: parses arguments, calls the lower layers, and prints text or JSON."""

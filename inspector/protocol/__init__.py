"""The rules of the Model Context Protocol, as data and pure functions without I/O."""

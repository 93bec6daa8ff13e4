"""Floor 1: what the Model Context Protocol says, as data and pure functions. Nothing here does I/O."""

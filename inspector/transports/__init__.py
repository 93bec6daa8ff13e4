"""Floor 3: bytes to and from a server. Each transport is given a sink that records what it reads and says."""

"""The parts with effects: the connection, its requests in flight, and the two eras."""

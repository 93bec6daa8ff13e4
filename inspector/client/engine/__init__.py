"""Effects: the connection, its requests in flight, and the two eras."""

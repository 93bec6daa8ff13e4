"""Search everywhere: the server's items, the messages of the session, saved calls, earlier recordings."""

"""The server's questions: the inbox, a question, and the form of its answer."""

"""The interface: reads the journal and the state of the session, acts through the session, draws."""

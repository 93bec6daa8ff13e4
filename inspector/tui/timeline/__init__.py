"""The timeline of a session: lanes over time, figures by method, requests in flight."""

"""A recording played back, compared with a live server, or served."""

"""A load test of a tool: its plan, and the screen that shows its run."""

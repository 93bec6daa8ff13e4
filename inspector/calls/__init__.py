"""Saved calls: the files, running them on a session, judging what came back, and the reports of a run."""

"""Uses of a recording: play it in time, answer from it, send it again."""

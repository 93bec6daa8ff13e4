"""Authorization: flows that decide what to ask whom, without doing it, and the hands that do it."""

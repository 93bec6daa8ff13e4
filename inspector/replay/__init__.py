"""What a recording is good for: played in time, answered from, sent again."""

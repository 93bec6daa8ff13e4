"""Why a connection fails: its steps looked at one by one, the cause in one sentence, and what mends it."""

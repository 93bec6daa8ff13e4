"""Skills (SEP-2640): entries of a server, read when asked for, verified, saved. Nothing of a skill is executed."""

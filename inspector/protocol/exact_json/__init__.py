"""JSON as text, exactly as written: tokens, changes, problems for other parsers, any depth."""

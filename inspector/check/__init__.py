"""Floor 5: the judge. It watches a journal and says what was wrong with which message, by which rule."""

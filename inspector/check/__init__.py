"""Floor 5: the judge. It watches a journal, says what was wrong with which message and by which rule, and hides nothing."""

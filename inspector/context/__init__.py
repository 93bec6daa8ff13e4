"""Context: how much of a model's context a server's tools and results fill. Characters are exact, tokens estimated."""

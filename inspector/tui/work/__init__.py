"""The lists of what a server offers, the form of an item, its call, and the result."""

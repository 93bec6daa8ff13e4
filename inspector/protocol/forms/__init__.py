"""Forms without a screen: fields from a JSON Schema, their values, and the texts about them."""

"""Files of other recorders, made into recordings: one module per format."""

"""The checks, one module for each group of them. `inspector.check.registry` names the modules."""

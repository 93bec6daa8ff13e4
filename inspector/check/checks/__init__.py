"""The checks, one module for each group. `inspector.check.registry` names the modules."""

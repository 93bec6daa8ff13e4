"""The model view: tools as a model gets them, their cost, and the limits of hosts."""

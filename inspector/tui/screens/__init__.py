"""The screens: main, start, help, and the few dialogs for what must be decided before anything else."""

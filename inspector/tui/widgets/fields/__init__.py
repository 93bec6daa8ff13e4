"""A small widget for each kind of form field; `base.py` draws the frame of all."""

"""One small widget for each kind of field of a form; `base.py` draws what surrounds them all."""

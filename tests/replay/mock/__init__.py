"""Tests of `inspector/replay/mock`."""

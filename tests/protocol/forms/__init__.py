"""Tests of `inspector/protocol/forms`."""

"""Tests of `inspector/protocol/exact_json`."""

"""Hypothesis judges what is found, not how fast: a busy machine must not fail a test."""

from hypothesis import HealthCheck, settings

settings.register_profile("steady", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

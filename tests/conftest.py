"""What holds for every test.

Hypothesis judges what is found, not how fast: a busy machine must not fail a test. And compiled modules are kept, or
else every server and every `inspector` that a test starts would compile its own anew.
"""

import os
import sys

from hypothesis import HealthCheck, settings

settings.register_profile("steady", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

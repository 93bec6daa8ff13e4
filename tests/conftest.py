"""What holds for every test.

Hypothesis judges what is found, not how fast: a busy machine must not fail a test. Compiled modules are kept, or else
every server and every `inspector` that a test starts would compile its own anew. And cyclic garbage is looked for less
often: in a process that holds all tests and a hypothesis, looking took a fifth of the time.
"""

import gc
import os
import sys

from hypothesis import HealthCheck, settings

settings.register_profile("steady", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

gc.set_threshold(50_000, 20, 20)

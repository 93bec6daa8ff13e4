"""Tests in Chromium. `tests/browser/run` names one, and runs them; without it there are none."""

from __future__ import annotations

import os

if "INSPECTOR_CHROMIUM" not in os.environ:
    collect_ignore = ["test_web.py"]

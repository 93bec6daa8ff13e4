"""Measures a server under load: latency from the intended start, at a constant arrival of calls."""

from __future__ import annotations

from inspector.callable_package import make_callable

make_callable(__name__)

"""The fixtures of the command line and the demo, for features; each test has a home of its own."""

from tests.check.conftest import tables
from tests.cli.conftest import demo, home, run, script
from tests.demo.conftest import connect, modern

__all__ = ["connect", "demo", "home", "modern", "run", "script", "tables"]

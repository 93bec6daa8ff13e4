"""Settings of all tests.

Hypothesis judges what is found, not how fast, and tries the same examples every time: neither a busy machine nor chance
may fail a test. Three profiles, chosen with HYPOTHESIS_PROFILE: `dev` (the default) tries 15 examples of a property, `ci`
(`make coverage`) 40, `fuzz` (`make fuzz`) 400 that differ in each run. A test that needs more than others multiplies the number of the profile. Compiled modules are kept, because every server and every `inspector`
that a test starts would compile its own again. Cyclic garbage is collected less often: in a process that holds all tests
and hypothesis, the collection took a fifth of the time.

`make test` leaves out the tests with the mark `slow`: those that start processes, or take more than a quarter of a
second. A test that starts a process and does not have the mark fails.
"""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

SLOW = [HealthCheck.too_slow]
settings.register_profile("dev", deadline=None, max_examples=15, suppress_health_check=SLOW, derandomize=True)
settings.register_profile("ci", deadline=None, max_examples=40, suppress_health_check=SLOW, derandomize=True)
settings.register_profile("fuzz", deadline=None, max_examples=400, suppress_health_check=SLOW, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So it is in a job that a shell started in the background; tests that interrupt would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """On Windows, leave out what cannot run there."""
    if sys.platform == "win32":
        config.pluginmanager.import_plugin("tests.windows.left_out")


def pytest_collection_finish() -> None:
    """Exclude the objects of the collection from later garbage collections: they live until the end."""
    gc.collect()
    gc.freeze()


_STARTS = frozenset(("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"))
_LINKERS = frozenset(("ldconfig", "gcc", "cc", "ld", "objdump"))
_started = 0


def _count_processes(event: str, args: tuple[Any, ...]) -> None:
    global _started
    if event in _STARTS and (event != "subprocess.Popen" or args[0] is None or _exists(os.fsdecode(args[0]))):
        _started += 1


def _exists(program: str) -> bool:
    """Whether there is such a program. `ctypes` asks those of `_LINKERS` where a library is."""
    return os.path.basename(program) not in _LINKERS and shutil.which(program) is not None


sys.addaudithook(_count_processes)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
    """Fail a test without the mark `slow` whose own fixture starts a process.

    A fixture of a wider scope counts for none of the tests that share it.
    """
    before = _started
    value = yield
    if request.scope == "function":
        _guard(request.node, before)
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a test without the mark `slow` that starts a process."""
    before = _started
    value = yield
    _guard(item, before)
    return value


def _guard(item: pytest.Item, before: int) -> None:
    if _started > before and item.get_closest_marker("slow") is None and item.path.parent.name != "interop":
        pytest.fail("This test starts a process: give it the mark, @pytest.mark.slow.")

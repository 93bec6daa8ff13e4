"""A tap that streams spans, and a client that does not wait for them."""

import signal
import subprocess

import pytest

from tests.formats.collector import Collector
from tests.tap.running_tap import Tapped

pytestmark = pytest.mark.slow


@pytest.fixture
def slow_collector():
    collector = Collector()
    collector.delay = 0.7
    yield collector
    collector.server.shutdown()
    collector.server.server_close()


def tap_that_sends_its_last_spans(folder, collector):
    """Return a tap whose server has ended, and whose collector has not answered yet."""
    tap = Tapped(folder, ["sh", "-c", "cat; exit 3"], options=["--otlp", collector.url])
    tap.stdin.close()
    assert collector.asked.wait(20)
    return tap


def test_a_signal_does_not_stop_the_last_spans(tmp_path, slow_collector):
    tap = tap_that_sends_its_last_spans(tmp_path, slow_collector)
    tap.process.send_signal(signal.SIGTERM)
    assert tap.process.wait(20) == 3
    assert slow_collector.names == ["MCP session"]
    assert tap.stderr.read() == b""


def test_a_second_signal_ends_the_tap_before_its_last_spans(tmp_path, slow_collector):
    slow_collector.delay = 4
    tap = tap_that_sends_its_last_spans(tmp_path, slow_collector)
    tap.process.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        tap.process.wait(0.5)
    tap.process.send_signal(signal.SIGTERM)
    assert tap.process.wait(2) == -signal.SIGTERM

"""Spans of live sessions for an OpenTelemetry collector, where the user asked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.cli.output import Output
    from inspector.formats.otlp_stream import OtlpStream
    from inspector.journal.journal import Journal


class Telemetry:
    """Streams the spans of journals to a collector; without a URL it does nothing."""

    def __init__(self, out: Output, url: str) -> None:
        """Raises `UsageError` if `url` is not the URL of a collector."""
        self._out = out
        self._url = ""
        self._streams: list[OtlpStream] = []
        if url:
            from inspector.formats.otlp_stream import endpoint

            self._url = endpoint(url)

    def follow(self, journal: Journal) -> None:
        """Stream the spans of a journal from now on."""
        if self._url:
            from inspector.formats.otlp_stream import OtlpStream, headers_from_environment

            self._streams.append(OtlpStream(journal, self._url, headers_from_environment()))

    def finish(self) -> None:
        """Send what is left, after the journals were closed, and say what was lost."""
        for stream in self._streams:
            lost = stream.finish().lost
            if lost:
                self._out.warn(f"warning: {lost}")
        self._streams.clear()

"""mcp-recorder's own command line, which listens on this machine only: `mcp_recorder_here.py record|replay …`."""

from __future__ import annotations

import signal
from typing import Any

import uvicorn
from mcp_recorder.cli import main

serve = uvicorn.run


def serve_here(app: Any, **given: Any) -> None:
    """It would listen on every interface."""
    serve(app, **(given | {"host": "127.0.0.1"}))


uvicorn.run = serve_here
# It writes its cassette when it is interrupted, and only then.
signal.signal(signal.SIGTERM, signal.default_int_handler)
main()

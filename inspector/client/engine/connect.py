"""The transport for a target."""

from __future__ import annotations

from collections.abc import Callable

from inspector.client.options import Options
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.errors import UsageError
from inspector.transports.base import Sink, Transport

Connect = Callable[[Target, Sink, Options], Transport]
"""Creates the transport for a target; it is not started yet."""


def transport_for(target: Target, sink: Sink, options: Options) -> Transport:
    """Return the transport for a target, not started."""
    if options.filter is not None:
        return options.filter.transport(sink, lambda inner: _transport_for(target, inner, options))
    return _transport_for(target, sink, options)


def _transport_for(target: Target, sink: Sink, options: Options) -> Transport:
    if isinstance(target, StdioTarget):
        from inspector.transports.stdio import MAX_LINE, StdioTransport

        limit = options.http.max_body or MAX_LINE
        environ = None if target.starter is None else target.starter.environ
        return StdioTransport(
            target.command,
            sink,
            env=target.env,
            inherits=target.inherits,
            environ=environ,
            cwd=target.cwd,
            limit=limit,
        )
    if isinstance(target, HttpTarget):
        from inspector.transports.http import HttpTransport

        http = options.http._replace(
            headers=target.headers, proxy=target.proxy, verify=target.verify, network=target.network
        )
        if options.authorize is not None:
            http = http._replace(credential=options.authorize.credential(target, sink))
        if target.transport == "sse":
            from inspector.transports.sse import SseTransport

            return SseTransport(target.url, sink, http)
        return HttpTransport(target.url, sink, http)
    raise UsageError(f"{target.describe()} is a recording.", hint="Open recordings with `inspector replay FILE`.")

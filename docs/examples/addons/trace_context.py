"""Put a trace context into `_meta` of each request (SEP-414), if the client sends none.

inspector tap --addon trace_context.py -- python shop.py
"""

import secrets

TRACE = secrets.token_hex(16)


def on_request(message, ctx):
    meta = message.setdefault("params", {}).setdefault("_meta", {})
    meta.setdefault("traceparent", f"00-{TRACE}-{secrets.token_hex(8)}-01")
    return message

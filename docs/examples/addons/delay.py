"""Deliver each result of a tool half a second late. Other messages do not wait for it.

inspector tap --addon delay.py -- python shop.py
"""


def on_response(message, ctx):
    if ctx.request is not None and ctx.request["method"] == "tools/call":
        ctx.delay(0.5)

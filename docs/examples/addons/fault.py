"""Let each third call of a tool fail, as a server under load might.

inspector tap --addon fault.py -- python shop.py
"""


def on_connect(ctx):
    ctx.state["calls"] = 0


def on_response(message, ctx):
    if ctx.request is None or ctx.request["method"] != "tools/call":
        return
    ctx.state["calls"] += 1
    if ctx.state["calls"] % 3 == 0:
        ctx.refuse(-32603, "overloaded, try again")

"""Refuse the calls of a tool: the client gets an error, and the server gets nothing.

inspector tap --addon refuse_call.py -- python shop.py
"""

FORBIDDEN = {"delete_order", "refund"}


def on_request(message, ctx):
    if message["method"] == "tools/call" and message["params"]["name"] in FORBIDDEN:
        ctx.refuse(-32000, f"{message['params']['name']} is not allowed here")

"""Count the calls of each tool, and show the numbers when the connection ends.

inspector tap --addon count.py -- python shop.py
"""

from collections import Counter


def on_connect(ctx):
    ctx.state["calls"] = Counter()


def on_request(message, ctx):
    if message["method"] == "tools/call":
        ctx.state["calls"][message["params"]["name"]] += 1


def on_end(ctx):
    for name, number in ctx.state["calls"].most_common():
        ctx.note(f"{number} × {name}")

"""Send an HTTP header with each call of a tool.

inspector call price article=apple --addon add_header.py https://mcp.example.com/mcp
"""


def on_request(message, ctx):
    if message["method"] == "tools/call":
        ctx.header("X-Tenant", "acme")

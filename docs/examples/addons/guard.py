"""Refuse calls whose arguments name a file outside the project, and show what was refused.

inspector tap --addon guard.py -- python files_server.py
"""

from pathlib import Path

PROJECT = Path.cwd()


def on_request(message, ctx):
    if message["method"] != "tools/call":
        return
    for name, value in message["params"].get("arguments", {}).items():
        if name == "path" and not (PROJECT / value).resolve().is_relative_to(PROJECT):
            ctx.note(f"refused {message['params']['name']} on {value}")
            ctx.refuse(-32000, f"{value} is outside {PROJECT.name}")

"""Replace mail addresses in results before the client gets them.

inspector tap --addon redact.py -- python shop.py
"""

import re

MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")


def on_response(message, ctx):
    for block in message.get("result", {}).get("content", []):
        if isinstance(block, dict) and "text" in block:
            block["text"] = MAIL.sub("(mail address)", block["text"])
    return message

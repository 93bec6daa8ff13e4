"""Answer the calls of a tool with a fixed result, without the server.

inspector --addon replace_answer.py -- python shop.py
"""

ANSWERS = {"weather": {"content": [{"type": "text", "text": "21 °C, sunny"}]}}


def on_request(message, ctx):
    if message["method"] == "tools/call" and message["params"]["name"] in ANSWERS:
        ctx.answer(ANSWERS[message["params"]["name"]])

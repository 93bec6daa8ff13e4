"""Answer sampling requests with a program of your own: here it repeats the last message.

inspector call summarize --sampling 'run:python local_model.py' -- python shop.py

It reads {"method": "sampling/createMessage", "params": {…}} and prints the text, or a whole result.
"""

import json
import sys

question = json.load(sys.stdin)
content = question["params"]["messages"][-1]["content"]
print(json.dumps(f"You said: {content.get('text', 'nothing')}"))

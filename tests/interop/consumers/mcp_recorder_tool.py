"""mcp-recorder on cassettes: `mcp_recorder_tool.py FILE…` prints how many interactions it reads in each."""

import json
import sys
from pathlib import Path

from mcp_recorder._utils import load_cassette

print(json.dumps([len(load_cassette(Path(file)).interactions) for file in sys.argv[1:]]))

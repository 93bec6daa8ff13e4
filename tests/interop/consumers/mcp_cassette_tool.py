"""Runs mcp-cassette on a cassette.

`mcp_cassette_tool.py FOLDER load FILE…` prints how many messages it reads in each,
`mcp_cassette_tool.py FOLDER serve FILE` is its mock server over stdio, `mcp_cassette_tool.py FOLDER save FILE` has it
write a cassette again, in its own way.

FOLDER is where it is unpacked. Its packages' own `__init__` modules import what needs Python 3.12, and are skipped.
"""

import json
import sys
import types

folder, what, *files = sys.argv[1:]
for name in ("mcp_cassette", "mcp_cassette.record"):
    package = types.ModuleType(name)
    package.__path__ = [f"{folder}/{name.replace('.', '/')}"]
    sys.modules[name] = package

from mcp_cassette.cassette import Cassette  # noqa: E402
from mcp_cassette.replay.server import ReplayServer  # noqa: E402

if what == "load":
    print(json.dumps([len(Cassette.load(file).messages) for file in files]))
elif what == "save":
    Cassette.load(files[0]).save(files[0])
else:
    sys.exit(ReplayServer(Cassette.load(files[0])).run())

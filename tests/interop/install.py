"""Installs the servers of the corpus: `python -m tests.interop.install CACHE UV NPM…`. Standard library only.

Leaves `CACHE/python/NAME` for each environment and `CACHE/npm` for the npm project. What is there already, made from
the same data, is kept. A package that cannot be installed is an error.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.interop.corpus import NPM, NPM_OF_THIS_MACHINE, PYTHON

SCRIPTS = Path(__file__).parent / "servers"


def is_there(folder: Path, wanted: str) -> bool:
    """Whether a folder holds what was made from `wanted`."""
    stamp = folder / ".installed-from"
    return stamp.is_file() and stamp.read_text() == wanted


def run(words: Sequence[str], folder: Path) -> None:
    """Runs a command in a folder; what it wrote is shown if it fails."""
    ran = subprocess.run(
        words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if ran.returncode:
        sys.exit(f"interop: {' '.join(words)} failed:\n{ran.stdout.decode(errors='replace')}")


def made(folder: Path, wanted: str, make: Callable[[], None]) -> str:
    """Makes a folder anew unless it is there; says what was done."""
    if is_there(folder, wanted):
        return ""
    begun = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make()
    (folder / ".installed-from").write_text(wanted)
    return f"interop: installed {folder.name} in {time.monotonic() - begun:.1f} s"


def environment(folder: Path, uv: str, requirements: Sequence[str]) -> str:
    """A Python environment with these packages."""

    def make() -> None:
        run([uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)], folder)
        run([uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(folder), *requirements], folder)

    return made(folder, "\n".join((sys.version, *requirements)), make)


def project(folder: Path, npm: Sequence[str]) -> str:
    """The npm project, and our scripts that import from it."""
    described = json.dumps(
        {"private": True, "dependencies": dict(NPM), "optionalDependencies": dict(NPM_OF_THIS_MACHINE)}, indent=2
    )

    def make() -> None:
        (folder / "package.json").write_text(described)
        run([*npm, "install", "--no-audit", "--no-fund", "--loglevel=error"], folder)

    said = made(folder, described, make)
    for script in SCRIPTS.glob("*.mjs"):
        shutil.copy(script, folder)
    return said


def main() -> None:
    """Installs all of them, one environment after the other beside the npm project."""
    cache, uv, npm = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with ThreadPoolExecutor(2) as pool:
        installing = [pool.submit(project, cache / "npm", npm)]
        installing += [
            pool.submit(environment, cache / "python" / name, uv, requirements) for name, requirements in PYTHON.items()
        ]
        for each in installing:
            if said := each.result():
                print(said, flush=True)


if __name__ == "__main__":
    main()

"""Installs the servers of the corpus and the consumers of our exports: `python -m tests.interop.install CACHE UV NPM…`.

Standard library only. Leaves `CACHE/python/NAME` for each environment, `CACHE/npm` for the npm project of the servers,
`CACHE/consumers` for that of the consumers, and `CACHE/unpacked` for Python packages that no environment takes. What is there already, made from
the same data, is kept. A package that cannot be installed is an error.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.interop.consumers import wanted as consumers
from tests.interop.corpus import NPM, NPM_OF_THIS_MACHINE, PYTHON

SCRIPTS = Path(__file__).parent / "servers"
CONSUMERS = Path(__file__).parent / "consumers"


def is_there(folder: Path, source: str) -> bool:
    """Whether a folder was made from `source`."""
    stamp = folder / ".installed-from"
    return stamp.is_file() and stamp.read_text() == source


def run(words: Sequence[str], folder: Path) -> None:
    """Run a command in a folder; its output is printed if it fails."""
    ran = subprocess.run(
        words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if ran.returncode:
        sys.exit(f"interop: {' '.join(words)} failed:\n{ran.stdout.decode(errors='replace')}")


def made(folder: Path, source: str, make: Callable[[], None]) -> str:
    """Create a folder unless it was made from `source`. Returns a line about it."""
    if is_there(folder, source):
        return ""
    begun = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make()
    (folder / ".installed-from").write_text(source)
    return f"interop: installed {folder.name} in {time.monotonic() - begun:.1f} s"


def environment(folder: Path, uv: str, requirements: Sequence[str]) -> str:
    """A Python environment with these packages."""

    def make() -> None:
        run([uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)], folder)
        run([uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(folder), *requirements], folder)

    return made(folder, "\n".join((sys.version, *requirements)), make)


def unpacked(folder: Path, uv: str, requirements: Sequence[str]) -> str:
    """Python packages alone, for a Python that is newer than the one there is."""

    def make() -> None:
        words = ["--quiet", "--no-deps", "--python-version", "3.12", "--target", str(folder)]
        run([uv, "pip", "install", *words, *requirements], folder)

    return made(folder, "\n".join(requirements), make)


def project(
    folder: Path,
    npm: Sequence[str],
    dependencies: Mapping[str, str] = NPM,
    of_this_machine: Mapping[str, str] = NPM_OF_THIS_MACHINE,
    scripts: Path = SCRIPTS,
) -> str:
    """An npm project, and our scripts that import from it."""
    described = json.dumps(
        {"private": True, "dependencies": dict(dependencies), "optionalDependencies": dict(of_this_machine)}, indent=2
    )

    def make() -> None:
        (folder / "package.json").write_text(described)
        run([*npm, "install", "--no-audit", "--no-fund", "--loglevel=error"], folder)

    report = made(folder, described, make)
    for script in scripts.glob("*.mjs"):
        shutil.copy(script, folder)
    return report


def main() -> None:
    """Installs all of them, one environment after the other beside the npm projects."""
    cache, uv, npm = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with ThreadPoolExecutor(2) as pool:
        installing = [pool.submit(project, cache / "npm", npm)]
        installing += [
            pool.submit(environment, cache / "python" / name, uv, requirements) for name, requirements in PYTHON.items()
        ]
        installing.append(pool.submit(environment, cache / "python" / "consumers", uv, consumers.PYTHON))
        installing.append(pool.submit(unpacked, cache / "unpacked", uv, consumers.UNPACKED))
        of_machine = consumers.NPM_OF_THIS_MACHINE
        installing.append(pool.submit(project, cache / "consumers", npm, consumers.NPM, of_machine, CONSUMERS))
        for installation in installing:
            if report := installation.result():
                print(report, flush=True)


if __name__ == "__main__":
    main()

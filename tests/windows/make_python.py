"""Makes a Python for Windows that Wine runs, from packages alone: `python3.11 make_python.py FOLDER`.

No package has a whole Python for Windows, but all its parts are in some:

- `python311.dll` and the extension modules are in the wheel of Panda3D, which packs them into other programs;
- the modules in Python are those of the Python 3.11 that runs this script;
- `python.exe` only calls `Py_Main`, and `python3.dll` only hands on to `python311.dll`: mingw-w64 makes both.

`FOLDER/python` is the command. It has the dependencies of this project and of its tests, and imports the project from
this checkout.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = "wine wine64 gcc-mingw-w64-x86-64 mingw-w64-tools"
"""Those of Debian."""
PARTS = "panda3d==1.10.16"
TESTS = ("pytest", "pytest-asyncio", "hypothesis", "trio")
"""What the tests import."""
LEFT_OUT = "site-packages __pycache__ lib-dynload test tests config-* idlelib tkinter *.so _sysconfigdata*".split()
COMPILER = "x86_64-w64-mingw32-gcc"

MAIN = """
#include <windows.h>
int Py_Main(int, wchar_t **);
int wmain(int count, wchar_t **arguments) { return Py_Main(count, arguments); }
"""
EMPTY = "int __stdcall DllMainCRTStartup(void *module, int reason, void *more) { return 1; }\n"
RANDOM = """
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T size) { return SystemFunction036(bytes, (ULONG)size); }
"""
"""The one function of `bcryptprimitives.dll`, which Wine 8 does not have and modules in Rust need."""

COMMAND = """#!/bin/sh
# The standard streams must be pipes or a terminal: Wine knows nothing about a file that is only open to write.
export WINEPREFIX='{folder}/prefix' WINEDEBUG=-all WINEARCH=win64 WINEDLLOVERRIDES='mscoree,mshtml='
export PYTHONDONTWRITEBYTECODE=1
exec wine '{folder}/python-for-windows/python.exe' "$@"
"""


def run(*command: str | Path, folder: Path | None = None, **variables: str) -> None:
    """Run a command. Its output is shown only if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **variables},
        check=False,
    )
    if done.returncode:
        sys.stdout.buffer.write(done.stdout)
        raise SystemExit(f"{command[0]} ended with exit code {done.returncode}")


def install_programs() -> None:
    """Install Wine and the compiler, which only root can."""
    if not all(shutil.which(name) for name in ("wine", COMPILER, "gendef")):
        # A source of packages that cannot be reached is not a reason to stop: the next command fails if it is needed.
        subprocess.run(("apt-get", "update", "--quiet"), stdout=subprocess.DEVNULL, check=False)
        run("apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *PACKAGES.split())


def make_interpreter(made: Path, work: Path) -> None:
    """Make `made/python.exe` with all that it needs."""
    run(
        PROJECT / ".venv/bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps",
        "--platform", "win_amd64", "--python-version", "3.11", "--only-binary", ":all:", "--dest", work, PARTS,
    )  # fmt: skip
    [wheel] = work.glob("*.whl")
    (made / "DLLs").mkdir(parents=True)
    with zipfile.ZipFile(wheel) as file:
        for name in file.namelist():
            folder, _, last = name.rpartition("/")
            if folder == "deploy_libs" and last.endswith((".dll", ".pyd")) and not last.startswith("_tkinter"):
                beside = last.lower().startswith(("python3", "vcruntime"))
                (made / last if beside else made / "DLLs" / last).write_bytes(file.read(name))
    library = work / "python311.def"
    exports = subprocess.run(["gendef", "-", made / "python311.dll"], capture_output=True, text=True, check=True).stdout
    library.write_text(exports)
    names = [line.split() for line in exports.splitlines() if line.startswith(("Py", "_Py"))]
    forwards = "".join(f"{name} = python311.{name} {' '.join(rest)}\n" for name, *rest in names)
    (work / "python3.def").write_text(f"LIBRARY python3.dll\nEXPORTS\n{forwards}")
    for name, text in (("main.c", MAIN), ("empty.c", EMPTY), ("random.c", RANDOM)):
        (work / name).write_text(text)
    run("x86_64-w64-mingw32-dlltool", "-d", library, "-l", work / "libpython311.a")
    run(COMPILER, "-municode", "-O2", work / "main.c", "-o", made / "python.exe", f"-L{work}", "-lpython311")
    run(
        COMPILER, "-shared", "-nostdlib", "-Wl,-eDllMainCRTStartup", "-o", made / "python3.dll", work / "empty.c",
        work / "python3.def",
    )  # fmt: skip
    run(COMPILER, "-shared", "-O2", "-o", made / "bcryptprimitives.dll", work / "random.c", "-ladvapi32")
    standard = sysconfig.get_paths()["stdlib"]
    shutil.copytree(standard, made / "Lib", ignore=shutil.ignore_patterns(*LEFT_OUT))


def install(site: Path, *packages: str) -> None:
    """Install packages as they are for Windows and Python 3.11. pip would decide by this system what they depend on."""
    run(
        PROJECT / "tests/uv", "pip", "install", "--quiet", "--python-platform", "x86_64-pc-windows-msvc", "--python-version",
        "3.11", "--only-binary", ":all:", "--constraint", PROJECT / "tests/versions/tested.txt", "--target", site, *packages,
    )  # fmt: skip


def main() -> None:
    """Make the parts that are missing or have other packages."""
    if sys.version_info[:2] != (3, 11):
        raise SystemExit("Run it with Python 3.11: its modules are copied.")
    folder = Path(sys.argv[1]).absolute()
    made, work = folder / "python-for-windows", folder / "work"
    site = made / "Lib" / "site-packages"
    command, installed = folder / "python", folder / "packages"
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    packages = [*project["dependencies"], *project["optional-dependencies"]["web"], *TESTS]
    install_programs()
    if not installed.exists() or installed.read_text().splitlines() != packages:
        shutil.rmtree(folder, ignore_errors=True)
        work.mkdir(parents=True)
        make_interpreter(made, work)
        install(site, *packages)
        shutil.rmtree(work)
        (site / "project.pth").write_text(f"Z:{PROJECT}\n")
        run("wineboot", "--init", WINEPREFIX=str(folder / "prefix"), WINEDEBUG="-all", WINEARCH="win64",
            WINEDLLOVERRIDES="mscoree,mshtml=")  # fmt: skip
        command.write_text(COMMAND.format(folder=folder))
        command.chmod(0o755)
        installed.write_text("\n".join(packages))


main()

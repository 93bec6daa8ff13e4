"""A server in Python: its packages, modules that it does not find, and how they are installed."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from glob import glob
from itertools import islice

from inspector import command_words
from inspector.doctor import programs
from inspector.doctor.diagnosis import Fix
from inspector.doctor.server_facts import ServerFacts, StderrCause, started_with
from inspector.hints import Hint, Parameter
from inspector.transports.withheld import NOT_PASSED

PYTHON = re.compile(r"(?:python|pypy)[\d.]*w?")
_SITE = re.compile(r"(?:File \"|\()([^\"()]{1,400}?[/\\](?:site|dist)-packages)[/\\]")
_FRAME = re.compile(r"File \"([^\"<>]{1,400})\", line \d+")
_PACKAGES = {
    "bs4": "beautifulsoup4", "cv2": "opencv-python", "Crypto": "pycryptodome", "dateutil": "python-dateutil",
    "discord": "discord.py", "docx": "python-docx", "dotenv": "python-dotenv", "fitz": "PyMuPDF", "git": "GitPython",
    "jwt": "PyJWT", "mcp_types": "mcp>=2", "MySQLdb": "mysqlclient", "OpenSSL": "pyOpenSSL", "PIL": "pillow",
    "pptx": "python-pptx", "psycopg2": "psycopg2-binary", "pythoncom": "pywin32", "serial": "pyserial",
    "sklearn": "scikit-learn", "slugify": "python-slugify", "telegram": "python-telegram-bot", "win32api": "pywin32",
    "yaml": "pyyaml",
}  # fmt: skip
"""Python packages whose name differs from their module's."""
_ADDS = {"poetry": "poetry add {}", "pdm": "pdm add {}", "rye": "rye add {}", "hatch": "hatch run pip install {}"}
"""The command of a project's tool that adds a package."""
_TAKES_WITH = {("uvx",): 1, ("uv", "run"): 2, ("uv", "tool", "run"): 3, ("uv", "x"): 2, ("pipx", "run"): 2}
"""Commands that take `--with PACKAGE`, and the position of their options."""
_SOURCES = ("", "src", "lib", "python", "packages/*", "packages/*/src", "libs/*", "apps/*")
"""Where a project has its own packages."""
_WRONG_PACKAGE = Fix("Install another version of that package, or tell its author.")
_CONTAINERS = ("docker", "podman", "nerdctl")
_APART = (*_CONTAINERS, "uvx", "pipx")
"""Programs that start a server away from the files of the project."""


def missing_module(match: re.Match[str], server: ServerFacts) -> StderrCause:
    """Return the cause for a module that Python does not find."""
    name = match[1].strip("'\"")
    module = name.split(".")[0]
    words = server.words
    started = words[words.index("-m") + 1].split(".")[0] if "-m" in words[:-1] else ""
    if module in sys.stdlib_module_names:
        return StderrCause(
            f"It imports the module {name} of Python's standard library, which its version of Python does not have.",
            Fix("Start it with the version of Python that it was written for."),
        )
    folder = _folder_on_path(module, server)
    if folder:
        return StderrCause(
            f"It does not find the module {module}, which is in {folder}: PYTHONPATH is {NOT_PASSED}.",
            server.passing("PYTHONPATH"),
        )
    # Where Python finds no part of a package, it does not search in this folder: the version does not matter.
    if name != module and site_packages(server) and _has(site_packages(server), module):
        version = installed(server, _PACKAGES.get(module, module))
        return StderrCause(
            f"It was written for another version of the package {module}: {version or 'the installed one'} has no "
            f"{name}.",
            Fix("Install the version that it was written for."),
        )
    python = _python_that_has(module, server) if PYTHON.fullmatch(server.program) else ""
    if python:
        return StderrCause(
            f"It cannot import the module {module}, which is installed for {python}, but the server is started with "
            f"another Python, {words[0]}.",
            started_with("Start it with that Python.", [python, *words[1:]], server.target, server.line),
        )
    own = _own_folder(module, server) if server.program not in _APART else ""
    if own:
        cause = f"Python does not find the server's own package, {module}, which is in {own}."
        return StderrCause(cause, _own(own, server))
    if module == started:
        return StderrCause(
            f"Python does not find the server's own package, {module}.",
            Fix(Hint("Install the project that contains it, or start it in its folder (", Parameter.CWD, ").")),
        )
    incomplete = incomplete_package(f"the module {module}", server)
    if incomplete is not None:
        return incomplete
    script = _importing_file(server)
    if script and _has(os.path.dirname(script), module):
        file = "/".join(re.split(r"[/\\]", script)[-2:])
        return StderrCause(
            f"{file} imports {module}, which is in the same folder, but Python does not search there.",
            _WRONG_PACKAGE
            if _SITE.search(f'File "{script}')
            else Fix(f"Import it as a part of its package: from . import {module}"),
        )
    return StderrCause(
        f"It cannot import the Python module {module}, which is not installed in its environment.",
        install(_PACKAGES.get(module, module), server),
    )


def not_runnable(match: re.Match[str], server: ServerFacts) -> StderrCause:
    """Return the cause for a package that `python -m` does not run."""
    return StderrCause(
        f"{match[1]} is a package that Python cannot run: it has no __main__.py.",
        Fix(f"Name its module that starts the server, such as -m {match[1]}.server."),
    )


def incomplete_package(missing: str, server: ServerFacts) -> StderrCause | None:
    """Return the cause if an installed command does not find what it imports, which only its own package can have."""
    script = _importing_file(server)
    if not _is_installed_command(script):
        return None
    return StderrCause(
        f"The package that installed the command {os.path.basename(script)} does not contain {missing}, which the "
        "command imports.",
        _WRONG_PACKAGE,
    )


def _importing_file(server: ServerFacts) -> str:
    """Return the file of the last frame of a traceback; of a command on Windows, its program. Empty without a frame."""
    file = next((frames[-1] for line in reversed(server.log) if (frames := _FRAME.findall(line))), "")
    return re.sub(r"(?<=\.exe)[/\\]__main__\.py$", "", file)


def _is_installed_command(path: str) -> bool:
    """Whether a package installed this program, as pip and uv write it."""
    folder = os.path.dirname(path)
    inside = ("lib/python3*/site-packages", "Lib/site-packages")
    return os.path.basename(folder) in ("bin", "Scripts") and any(
        glob(os.path.join(glob_escaped(os.path.dirname(folder)), *site.split("/"))) for site in inside
    )


# Installing a package


def install(requirement: str, server: ServerFacts, *, upgrade: bool = False, text: str = "") -> Fix:
    """Return how a package is installed where the server looks for it."""
    words, quoted = server.words, command_words.quote(requirement)
    for start, position in _TAKES_WITH.items():
        if (server.program, *words[1 : len(start)]) == start and not (start == ("uv", "run") and _is_project(server)):
            changed = [*words[:position], "--with", requirement, *words[position:]]
            return started_with(text or "Start it with that package.", changed, server.target, server.line)
    if server.program == "uv":
        return Fix(text, f"uv add {quoted}", _project(server))
    if server.program in _ADDS:
        return Fix(text, _ADDS[server.program].format(quoted), server.folder)
    if server.program in _CONTAINERS:
        return Fix(f"Install it in the image: RUN pip install {command_words.quote(requirement, 'posix')}")
    site = site_packages(server).replace("\\", "/")
    tool = re.search(r"/(pipx/venvs|uv/tools)/([^/]+)/", site)
    if tool is not None:
        command = f"pipx runpip {tool[2]} install {quoted}"
        return Fix(text, command if tool[1] == "pipx/venvs" else f"uv tool install --with {quoted} {tool[2]}")
    if re.search(r"/uv/\w+-v\d+/", site):
        return Fix(text, f"uvx --with {quoted} …")
    if not interpreter(server):
        where = f"{text} Use the Python that {server.program} starts.".lstrip()
        return Fix(where, f"python -m pip install{' -U' * upgrade} {quoted}")
    python = command_words.quote(interpreter(server))
    folder = "" if os.path.isabs(python) else server.folder
    if _is_managed(interpreter(server), server):
        return Fix(
            "The system manages its Python: install it in an environment, and start the server with that Python.",
            f"{python} -m venv .venv && .venv/bin/python -m pip install {quoted}",
            server.folder,
        )
    if _made_by_uv(site):
        return Fix(text, f"uv pip install{' -U' * upgrade} --python {python} {quoted}", folder)
    return Fix(text, f"{python} -m pip install{' -U' * upgrade} {quoted}", folder)


def _is_project(server: ServerFacts) -> bool:
    """Whether `uv run` uses a project, which keeps its packages in a file."""
    if {"--with", "--no-project", "--isolated", "--script"} & set(server.words):
        return False
    folder = _project(server)
    return not os.path.isdir(folder) or any(
        os.path.exists(os.path.join(parent, "pyproject.toml")) for parent in (folder, *_parents(folder, 8))
    )


def _project(server: ServerFacts) -> str:
    for option in ("--directory", "--project"):
        if option in server.words[:-1]:
            return server.in_folder(server.words[server.words.index(option) + 1])
    return server.folder


def _is_managed(python: str, server: ServerFacts) -> bool:
    """Whether the system refuses to install packages for this Python (PEP 668)."""
    path = programs.find(python, server.environ.get("PATH"), server.folder)
    if path is None or os.path.exists(os.path.join(os.path.dirname(os.path.dirname(path)), "pyvenv.cfg")):
        return False
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(path)))
    return bool(glob(os.path.join(glob_escaped(prefix), "lib", "python3*", "EXTERNALLY-MANAGED")))


def _made_by_uv(site: str) -> bool:
    try:
        with open(os.path.join(_prefix(site), "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            return any(line.startswith("uv ") for line in islice(file, 20))
    except OSError:
        return False


# What is installed


def interpreter(server: ServerFacts) -> str:
    """Return the Python of the server, as typed or as a path; empty if it is not known."""
    if PYTHON.fullmatch(server.program):
        return server.words[0]
    site = site_packages(server)
    inside = [os.path.join(_prefix(site), where) for where in ("bin/python", "Scripts/python.exe")] if site else []
    return next((path for path in (*inside, _interpreter_of_script(server)) if path and os.path.exists(path)), "")


def _interpreter_of_script(server: ServerFacts) -> str:
    """Return the Python in the first line of an installed program."""
    program = programs.find(server.words[0], server.environ.get("PATH"), server.folder)
    needed = programs.needs(program, server.environ) if program is not None else []
    return next((path for path in needed[1:] if PYTHON.fullmatch(os.path.basename(path))), "")


def site_packages(server: ServerFacts) -> str:
    """Return the folder of the server's packages: that of its traceback, else of its interpreter; empty if unknown."""
    for line in server.log:
        match = _SITE.search(line)
        if match:
            return match[1]
    python = server.words[0] if PYTHON.fullmatch(server.program) else _interpreter_of_script(server)
    if not os.path.dirname(python):
        return ""
    prefix = os.path.dirname(os.path.dirname(server.in_folder(python)))
    return next(iter(glob(os.path.join(glob_escaped(prefix), "lib", "python3*", "site-packages"))), "")


def glob_escaped(path: str) -> str:
    """Return a path in which no character is a wildcard."""
    return re.sub(r"([*?[])", r"[\1]", path)


def _prefix(site: str) -> str:
    """Return the environment of a folder of packages."""
    return re.sub(r"[/\\](?:lib[/\\]python[^/\\]*|Lib)[/\\](?:site|dist)-packages$", "", site)


def installed(server: ServerFacts, package: str) -> str:
    """Return the version of a package in the server's environment; empty if it is not known."""
    name = re.sub(r"[-_.]+", "_", package).lower()
    try:
        entries = os.listdir(site_packages(server) or os.devnull)
    except OSError:
        return ""
    for entry in entries:
        distribution, _, version = entry.removesuffix(".dist-info").rpartition("-")
        if entry.endswith(".dist-info") and re.sub(r"[-_.]+", "_", distribution).lower() == name:
            return version
    return ""


def _has(folder: str, module: str) -> bool:
    """Whether a folder has a module, or a package with Python files."""
    path = os.path.join(folder, module)
    return os.path.isfile(f"{path}.py") or bool(module and next(iter(glob(f"{glob_escaped(path)}/*.py")), None))


# The user's own modules


def _folder_on_path(module: str, server: ServerFacts) -> str:
    """Return the folder of this shell's PYTHONPATH that has a module, if the server does not get PYTHONPATH."""
    if not server.not_passed(["PYTHONPATH"]):
        return ""
    folders = server.environ["PYTHONPATH"].split(os.pathsep)
    return next((folder for folder in folders if _has(os.path.abspath(folder), module)), "")


def _python_that_has(module: str, server: ServerFacts) -> str:
    """Return the Python of its own, an active or a nearby environment that has a module; empty if none does."""
    script = next((word for word in server.words[1:] if not word.startswith("-")), "")
    own = os.path.dirname(os.path.dirname(os.path.normpath(server.in_folder(script))))
    active = [server.environ[name] for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if server.environ.get(name)]
    nearby = [os.path.join(folder, name) for folder in _near(server) for name in (".venv", "venv", "env")]
    imported = _prefix(server.in_folder(site_packages(server) or own))
    for prefix in (own, imported, *active, *nearby):
        python = os.path.join(prefix, "bin", "python")
        sites = glob(os.path.join(glob_escaped(prefix), "lib", "python3*", "site-packages"))
        if os.path.exists(python) and any(_has(site, module) for site in sites):
            return python
    return ""


def _own_folder(module: str, server: ServerFacts) -> str:
    """Return the folder of the user's project that has a module; empty if none does."""
    for folder in _near(server):
        for source in _SOURCES:
            for where in sorted(glob(os.path.join(glob_escaped(folder), source)))[:100]:
                if _has(where, module):
                    return os.path.normpath(where)
    return ""


def _own(folder: str, server: ServerFacts) -> Fix:
    """Return how Python finds the user's own package, without asking a registry for its name."""
    for project in (folder, *_parents(folder, 2)):
        if os.path.exists(os.path.join(project, "pyproject.toml")):
            python = command_words.quote(interpreter(server) or "python")
            return Fix("Install the project itself.", f"{python} -m pip install -e {command_words.quote(project)}")
    return Fix("Tell Python the folder.", str(server.line.setting("PYTHONPATH", folder)))


def _near(server: ServerFacts) -> Iterator[str]:
    """Yield the folder of the server, that of its script, and their parents below the home folder."""
    script = next((word for word in server.words[1:20] if word.endswith(".py")), "")
    starts = dict.fromkeys((server.folder, os.path.dirname(server.in_folder(script))))
    home = os.path.expanduser("~")
    for start in starts:
        yield start
        for folder in _parents(start, 2):
            if folder == home or os.path.dirname(folder) == folder:
                break
            yield folder


def _parents(folder: str, count: int) -> list[str]:
    parents = []
    for _ in range(count):
        folder = os.path.dirname(folder)
        parents.append(folder)
    return parents

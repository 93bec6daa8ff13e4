"""Differences between systems stand in `inspector/system`, with the same interface for each of them."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "inspector"
SYSTEM = PACKAGE / "system"

MODULES = frozenset(
    "_winapi ctypes fcntl grp msvcrt posix pty pwd resource select selectors termios tty winreg".split()
)
"""Modules that only some systems have, or whose functions differ."""
ATTRIBUTES = {
    "sys": frozenset("platform getwindowsversion".split()),
    "platform": frozenset(["win32_ver", "mac_ver"]),
    "signal": frozenset("SIGKILL SIGTERM SIGHUP SIGBREAK SIGUSR1 SIGCHLD CTRL_BREAK_EVENT pidfd_send_signal".split()),
    "subprocess": frozenset("STARTUPINFO CREATE_NO_WINDOW CREATE_NEW_PROCESS_GROUP".split()),
    "os": frozenset(
        """
        name uname kill killpg fork getpgid setpgid setsid getuid geteuid getgid pread pwrite preadv pwritev readv
        writev fchmod chown lchown statvfs fstatvfs posix_fallocate set_blocking get_blocking pidfd_open memfd_create
        waitid waitpid sysconf getloadavg startfile umask mkfifo O_CLOEXEC O_NONBLOCK O_NOFOLLOW O_NOCTTY O_BINARY
        """.split()
    ),
}
"""By module, what only some systems have, or what tells them apart."""
ARGUMENTS = frozenset("start_new_session process_group creationflags preexec_fn".split())
METHODS = frozenset("add_reader add_writer add_signal_handler connect_read_pipe connect_write_pipe madvise".split())
ALLOWED = {
    ("cli/login_prompts.py", "add_reader"): "waits for a terminal, and uses a thread where the loop cannot",
    ("features/web/program.py", "start_new_session"): "has no effect on Windows",
    ("auth/browser.py", "start_new_session"): "has no effect on Windows, where the system's function opens the browser",
}


ANY = re.compile(
    rf"\b(?:{'|'.join((*MODULES, *ARGUMENTS, *METHODS, *set().union(*ATTRIBUTES.values()), '[gh][ea][ts]attr'))})\b"
)


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        text = "" if path.is_relative_to(SYSTEM) else path.read_text()
        if ANY.search(text):
            yield path.relative_to(PACKAGE).as_posix(), ast.parse(text)


def differences(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names if name.name.partition(".")[0] in MODULES)
            case ast.ImportFrom(module=str(module), names=names):
                yield from [module] if module.partition(".")[0] in MODULES else []
                yield from (name.name for name in names if name.name in ATTRIBUTES.get(module, ()))
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in ATTRIBUTES.get(module, ()):
                yield f"{module}.{name}"
            case ast.Attribute(attr=name) if name in METHODS:
                yield name
            case ast.Call(func=ast.Name(id="hasattr" | "getattr"), args=[ast.Name(id=module), *_]) if (
                module in ATTRIBUTES
            ):
                yield f"hasattr of {module}"
            case ast.keyword(arg=str(name)) if name in ARGUMENTS:
                yield name


@pytest.mark.slow
def test_nothing_else_in_the_program_differs_between_systems() -> None:
    places = {(path, name) for path, tree in sources() for name in differences(tree)}
    assert places == set(ALLOWED)


@pytest.mark.parametrize("text", [
    "import fcntl", "from select import poll", "from sys import platform", "os.killpg(1, 2)", "x = sys.platform",
    "hasattr(os, 'x')", "loop.add_reader(1, f)", "Popen([], start_new_session=True)", "signal.SIGKILL",
])  # fmt: skip
def test_each_kind_of_difference_is_found(text: str) -> None:
    assert list(differences(ast.parse(text)))


def shape(path: Path) -> dict[str, list[str]]:
    """The public names of a module, with the parameters of functions and the public members of classes."""
    members: dict[str, list[str]] = {}
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
                members[name] = [item.arg for item in (*args.args, *args.kwonlyargs)]
            case ast.ClassDef(name=name, body=body):
                members[name] = sorted(
                    f"{item.name}({', '.join(a.arg for a in (*item.args.args, *item.args.kwonlyargs))})"
                    for item in body
                    if isinstance(item, ast.FunctionDef) and (item.name == "__init__" or not item.name.startswith("_"))
                )
    return {name: shape for name, shape in members.items() if not name.startswith("_")}


@pytest.mark.parametrize("name", ["alarm", "files", "processes", "streams", "terminal"])
def test_both_families_have_the_same_interface(name: str) -> None:
    assert shape(SYSTEM / "posix" / f"{name}.py") == shape(SYSTEM / "windows" / f"{name}.py")


MACOS = """
import asyncio, importlib, os, pkgutil, resource, select, selectors, socket, sys, sysconfig
import cryptography.x509, httpx, jsonschema_rs, keyring, pydantic, textual.app, watchfiles  # they are built for a system
sysconfig.get_config_vars()
sys.platform = "darwin"
for module, names in {
    os: "pidfd_open memfd_create posix_fallocate waitid P_PID WNOWAIT sched_getaffinity prlimit eventfd splice",
    resource: "prlimit RLIMIT_RTTIME RLIMIT_NICE",
    select: "epoll EPOLLIN POLLRDHUP",
    selectors: "EpollSelector",
    socket: "SO_PEERCRED",
}.items():
    for name in names.split():
        vars(module).pop(name, None)
selectors.DefaultSelector = selectors.PollSelector  # as it is without epoll
import inspector
for found in pkgutil.walk_packages(inspector.__path__, "inspector."):
    if not found.name.endswith("__main__") and not found.name.startswith("inspector.system.windows."):
        importlib.import_module(found.name)
from inspector.system import NAME, files, processes, streams
assert NAME == "darwin"
async def run():
    tree = processes.ProcessTree(["sh", "-c", "cat; exit 4"], "/bin/sh", dict(os.environ), None)
    ended, said = asyncio.Event(), bytearray()
    reader = streams.open_reader(streams.take_pipe(tree.popen.stdout), said.extend)
    reader.resume()
    writer = streams.Writer(streams.take_pipe(tree.popen.stdin), lambda: None, lambda: None)
    stop = tree.when_ended(ended.set)
    writer.write(b"hello")
    assert writer.waiting() is None
    writer.close()
    await asyncio.wait_for(ended.wait(), 30)
    reader.drain(asyncio.get_running_loop().time() + 1)
    stop()
    assert tree.status == 4 and bytes(said) == b"hello", (tree.status, said)
    tree.end()
    reader.close()
asyncio.run(run())
descriptor = files.open_temporary()
files.reserve(descriptor, 0, 100)
assert os.fstat(descriptor).st_size == 100 and files.try_lock(descriptor)
files.return_freed_memory()
loop = streams.exact_loop()
loop.close()
print("fine")
"""


@pytest.mark.slow
def test_everything_imports_and_a_process_runs_without_what_macos_lacks(tmp_path: Path) -> None:
    environment = os.environ | {"INSPECTOR_STATE_HOME": str(tmp_path), "INSPECTOR_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", MACOS], capture_output=True, text=True, timeout=120, cwd=ROOT, env=environment
    )
    assert done.stdout == "fine\n", done.stderr

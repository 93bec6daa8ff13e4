"""A server in Node: a missing or unfitting package, and how one is installed where the server looks for it."""

from __future__ import annotations

import json
import os
import re
from glob import glob
from typing import Any

from inspector import command_words
from inspector.doctor.diagnosis import Fix, Weight
from inspector.doctor.python_packages import glob_escaped
from inspector.doctor.server_facts import ServerFacts, StderrCause
from inspector.file_uris import to_path
from inspector.transports.withheld import NOT_PASSED

_SDK = "@modelcontextprotocol/sdk"
_INSIDE = re.compile(r"^(.*[/\\]node_modules)[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)[/\\](.+)$")
"""A file of an installed package: the folder of packages, the package, the rest."""
_IMPORTER = re.compile(r"(?: imported from |^[ \t]{0,20}- )(\S.{0,1000})")
"""The file that imports what Node does not find: in the same line, or the first of a "Require stack"."""
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$|[/\\]\.bin[/\\]")
_LOWER_BOUND = re.compile(r"(?<![<\d.])(?<!<=)(?<!< )(?<!<= )(\d{1,5}(?:\.(?:\d{1,5}|[xX*])){0,2})")
_PACKAGE_PATH = re.compile(r"^[^/\\]*?((?:[A-Za-z]:)?[/\\].*[/\\]node_modules)[/\\]((?:@[^/\\]+[/\\])?[^/\\)\s]+)")
"""The folder of packages and the package, in a line up to a quote or a bracket."""
_LOADERS = ("bindings", "node-gyp-build", "prebuild-install", "@mapbox/node-pre-gyp")
"""Packages that load the native part of another one."""
_BUILT = ("/dist/", "/build/", "/out/", "/lib/")
_LOCAL = re.compile(r"workspace:|file:|link:|portal:|\.{0,2}/")
_NEEDS = {"zod": "zod@^3.25", _SDK: f"{_SDK}@latest"}


def missing_module(match: re.Match[str], server: ServerFacts) -> StderrCause:
    """Return the cause for a module or a file that Node does not find."""
    name = to_path(match[1]) or match[1]
    inside = _INSIDE.match(name)
    is_script = any(os.path.normpath(server.in_folder(word)) == name for word in server.words[1:20])
    if inside is not None and not is_script:
        return _incomplete(inside, server)
    if name.startswith((".", "/")) or re.match(r"[A-Za-z]:\\", name):
        return StderrCause(f"Node does not find the file {name}.", build_or_path(name))
    parts = name.split("/")
    package = "/".join(parts[:2]) if name.startswith("@") else parts[0]
    if name.startswith(("@/", "~", "#", "src/")):
        return StderrCause(
            f"Node does not find {name}: it is an alias of tsconfig.json, which Node does not know.",
            Fix("Build the server with a tool that replaces aliases, or start it with tsx."),
        )
    folder = _folder_on_path(package, server)
    if folder:
        return StderrCause(
            f"Node does not find the package {package}, which is in {folder}: NODE_PATH is {NOT_PASSED}.",
            server.passing("NODE_PATH"),
        )
    importer = _importer(match, server)
    if importer is not None:
        return _missing_of_package(package, importer)
    project = project_of(server)
    own = _own(package, project)
    if own:
        return StderrCause(
            f"Node does not find the server's own package, {package}, which is in {own}.",
            Fix("Install the packages of the project.", "npm install", project),
        )
    if package in _dependencies(project):
        return StderrCause(
            f"Node does not find the package {package}: the packages of the project are not installed.",
            Fix("", "npm install", project),
        )
    return StderrCause(
        f"Node does not find the package {package}, which is not installed in its environment.",
        Fix("", f"npm install {command_words.quote(package)}", project),
    )


def not_built(match: re.Match[str], server: ServerFacts) -> StderrCause | None:
    """Return the cause for the native part of a package: it was not built, or for another version of Node."""
    at = server.log.index(match.string)
    parts = (part for line in server.log[max(at - 1, 0) :] for part in re.split("['\"(]", line))
    paths = map(_PACKAGE_PATH.match, parts)
    package = next((path for path in paths if path is not None and path[2].replace("\\", "/") not in _LOADERS), None)
    if package is None:
        return None
    name = package[2].replace("\\", "/")
    other = match[0].startswith("compiled")
    part = "was built for another version of Node" if other else "is missing: its install script did not run"
    root, pnpm, _ = os.path.dirname(os.path.normpath(package[1])).partition(f"{os.sep}node_modules{os.sep}.pnpm")
    if pnpm and not other:
        return StderrCause(f"The native part of {name} {part}.", Fix("Let it run.", "pnpm approve-builds", root))
    command = f"{'pnpm' if pnpm else 'npm'} rebuild {command_words.quote(name)}"
    return StderrCause(f"The native part of {name} {part}.", Fix("Build it.", command, root))


def not_exported(match: re.Match[str], server: ServerFacts) -> StderrCause:
    """Return the cause for a part of a package that its installed version does not have."""
    inside = _INSIDE.match(f"{match[2]}/package.json")
    package = inside[2] if inside is not None else match[2]
    if match[1] is None:
        return StderrCause(f"Its import of {package} names no part of it.", Fix(f"Import a part: {package}/…"))
    return _other_version(package, match[1], _root(inside), server)


def no_such_name(match: re.Match[str], server: ServerFacts) -> StderrCause:
    """Return the cause for a name that a module does not export."""
    module, name = match[1], match[2]
    if module.startswith((".", "/", "node:")):
        return StderrCause(f"Its file {module} does not export {name}.", Fix("Build the server again."), Weight.LIKELY)
    parts = module.split("/")
    package = "/".join(parts[:2]) if module.startswith("@") else parts[0]
    return _other_version(package, name, project_of(server), server)


def no_such_method(match: re.Match[str], server: ServerFacts) -> StderrCause | None:
    """Return the cause for a method of the SDK that the installed version does not have."""
    method, project = match[1], project_of(server)
    if method.startswith("register"):
        return _other_version(_SDK, method, project, server)
    if _version("@modelcontextprotocol/server", project):
        new = f"register{method.capitalize()}"
        return StderrCause(
            f"It was written for version 1 of the TypeScript SDK ({_SDK}): {method} does not exist in version 2.",
            Fix(f"Call {new} instead, or use the package {_SDK}."),
        )
    return None


def _other_version(package: str, missing: str, project: str, server: ServerFacts) -> StderrCause:
    version = _version(package, project)
    needed = _NEEDS.get(package)
    fix = Fix("Install the version that it was written for, or change the import.")
    return StderrCause(
        f"It needs another version of the package {package}: the installed {version or 'one'} has no {missing}.",
        Fix("Install that version.", f"npm install {command_words.quote(needed)}", project) if needed else fix,
    )


def _importer(match: re.Match[str], server: ServerFacts) -> re.Match[str] | None:
    """Return the importing file, if an installed package has it."""
    at = server.log.index(match.string)
    for line in (match.string, *server.log[at + 1 : at + 3]):
        named = _IMPORTER.search(line)
        if named is not None:
            return _INSIDE.match(os.path.normpath(to_path(named[1]) or named[1]))
    return None


def _missing_of_package(package: str, importer: re.Match[str]) -> StderrCause:
    owner = importer[2].replace("\\", "/")
    root, _, _ = importer[1].partition(f"{os.sep}node_modules{os.sep}")
    root = root.removesuffix(f"{os.sep}node_modules")
    if "/_npx/" in f"{root}/":
        return _broken_copy(owner, root)
    needs = package in _dependencies(os.path.join(importer[1], importer[2]))
    command = "npm install" if needs else f"npm install {command_words.quote(package)}"
    if not os.path.exists(os.path.join(root, "package.json")):
        command, root = f"npm install -g {command_words.quote(owner)}", ""
    return StderrCause(
        f"Node does not find the package {package}, which {owner} needs.", Fix("Install it again.", command, root)
    )


def _broken_copy(package: str, root: str) -> StderrCause:
    return StderrCause(
        f"The copy of {package} in the cache of npx is not complete.",
        Fix("Delete it, so that npx installs it again.", f"rm -r {command_words.quote(root)}"),
    )


def _incomplete(inside: re.Match[str], server: ServerFacts) -> StderrCause:
    """Return the cause for a file that an installed package does not have."""
    root, package, rest = os.path.dirname(inside[1]), inside[2].replace("\\", "/"), inside[3]
    if "/_npx/" in f"{root}/":
        return _broken_copy(package, root)
    if os.path.exists(os.path.join(inside[1], inside[2], f"{rest}.js")):
        return StderrCause(
            f"Its import of {package} has no file extension.", Fix(f"Write {os.path.basename(rest)}.js in the import.")
        )
    return _other_version(package, rest, root, server)


def _root(inside: re.Match[str] | None) -> str:
    return os.path.dirname(inside[1]) if inside is not None else ""


def _folder_on_path(package: str, server: ServerFacts) -> str:
    if not server.not_passed(["NODE_PATH"]):
        return ""
    folders = server.environ["NODE_PATH"].split(os.pathsep)
    return next((folder for folder in folders if folder and os.path.isdir(os.path.join(folder, package))), "")


def unmet_engine(script: str, number: str) -> tuple[str, str, str] | None:
    """Return the package of a script, or its SDK, that needs a newer Node than `number`.

    With the range that it requires, and the oldest version in it.
    """
    folder = _folder_with_package(os.path.dirname(os.path.realpath(script))) if script else ""
    folders, above = [folder], folder
    for _ in range(4):
        folders += (os.path.join(above, "node_modules", sdk) for sdk in (_SDK, "@modelcontextprotocol/server"))
        above = os.path.dirname(above)
    for package in folders if folder else ():
        body = _read(package)
        engines = body.get("engines")
        required = engines.get("node") if type(engines) is dict else None
        if type(required) is str and (least := _least(required)) > _parts(number):
            name = body.get("name")
            return name if type(name) is str else package, required, ".".join(map(str, least))
    return None


def _least(required: str) -> list[int]:
    """Return the oldest version that a range of npm allows; a comparison with "<" sets no lower bound."""
    bounds = (
        max((_parts(match[1]) for match in _LOWER_BOUND.finditer(part.partition(" - ")[0])), default=[0])
        for part in required.split("||")
    )
    return min(bounds)


def _parts(number: str) -> list[int]:
    return [int(part) for part in number.split(".") if part.isdecimal()][:3]


def build_or_path(file: str) -> Fix:
    """Return the fix for a file that does not exist: build the project around it if that writes it.

    A folder that has such files was built, and so was an installed package.
    """
    folder, ending = os.path.dirname(file), os.path.splitext(file)[1]
    beside = sorted(os.path.basename(name) for name in glob(os.path.join(glob_escaped(folder), f"*{ending}")))
    if beside:
        return Fix(f"Check the path: its folder has {', '.join(beside[:3])}.")
    project = _folder_with_package(folder)
    if built := _built_file(os.path.basename(file), project):
        return Fix(f"Check the path: its package has {built}.")
    if "node_modules" in folder:
        return Fix("Check the path.")
    is_built = any(part in file.replace("\\", "/") for part in _BUILT) and "build" in (
        _read(project).get("scripts") or {}
    )
    return Fix("Build the server first.", "npm run build", project) if is_built else Fix("Check the path.")


def _built_file(name: str, project: str) -> str:
    """Return the built file of a package with this name, or what its package.json starts; empty if neither exists."""
    package = _read(project) if project else {}
    bins = package.get("bin")
    starts = [package.get("main"), *(bins.values() if type(bins) is dict else [bins])]
    files = [f"{part[1:]}{name}" for part in _BUILT] + [start for start in starts if type(start) is str]
    files = [os.path.normpath(file) for file in files]
    return next((file for file in files if project and os.path.isfile(os.path.join(project, file))), "")


def project_of(server: ServerFacts) -> str:
    """Return the folder of the server's package.json; else its own folder."""
    script = next((word for word in server.words[1:20] if _SCRIPT.search(word)), "")
    folder = os.path.dirname(os.path.normpath(server.in_folder(script))) if script else server.folder
    return _folder_with_package(folder) or server.folder


def _folder_with_package(folder: str) -> str:
    """Return the first of a folder and those around it that has a package.json; empty without one."""
    for _ in range(6):
        if os.path.exists(os.path.join(folder, "package.json")):
            return folder
        folder = os.path.dirname(folder)
    return ""


def _own(package: str, project: str) -> str:
    """Return the folder of a package of this project itself; empty if a registry has it."""
    if _read(project).get("name") == package:
        return project
    local = _dependencies(project).get(package)
    if isinstance(local, str) and _LOCAL.match(local):
        return project
    folder = project
    for _ in range(4):
        if "workspaces" in _read(folder) or os.path.exists(os.path.join(folder, "pnpm-workspace.yaml")):
            for pattern in ("*", "*/*"):
                for path in glob(os.path.join(glob_escaped(folder), pattern, "package.json"))[:500]:
                    if _read(os.path.dirname(path)).get("name") == package:
                        return os.path.dirname(path)
        folder = os.path.dirname(folder)
    return ""


def _dependencies(project: str) -> dict[str, Any]:
    body = _read(project)
    dependencies: dict[str, Any] = {}
    for kind in ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies"):
        dependencies |= part if type(part := body.get(kind)) is dict else {}
    return dependencies


def _version(package: str, project: str) -> str:
    version = _read(os.path.join(project, "node_modules", package)).get("version")
    return version if isinstance(version, str) else ""


def _read(folder: str) -> dict[str, Any]:
    """Return the package.json of a folder; empty without a valid one."""
    try:
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
            body = json.loads(file.read(1 << 20))
    except (OSError, ValueError, RecursionError):
        return {}
    return body if type(body) is dict else {}

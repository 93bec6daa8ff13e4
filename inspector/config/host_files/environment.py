"""The variables, the PATH and the folder that a host starts a server with."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from inspector.config import secret_values
from inspector.config.host_files.table import Host, Machine, passed_variables
from inspector.config.targets import Starter, StdioTarget


def as_started_by(host: Host, target: StdioTarget, machine: Machine, workspace: Path) -> StdioTarget:
    """Return the target as this host starts it. What is not known of the host stays as it is here."""
    passed, search = passed_variables(host, machine), host.rule("path", {}).get(machine.platform)
    env = dict(target.env)
    for name in host.rule("appends", ()):
        if passed and name in env and passed.get(name):
            env[name] = f"{passed[name]}{os.pathsep}{env[name]}"
    folders = {"/": os.path.abspath(os.sep), "workspace": str(workspace)}
    starter, secrets = None, target.secrets
    if passed is not None or search is not None:
        variables = dict(machine.environ) if passed is None else passed
        secrets += tuple(secret_values.in_environment(variables.items()))
        starter = Starter(host.name, variables | {"PATH": search} if search else variables)
    return replace(
        target, env=env, cwd=target.cwd or folders.get(host.rule("folder", "")), starter=starter, secrets=secrets
    )

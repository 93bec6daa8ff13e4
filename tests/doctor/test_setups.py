"""Set-ups that do not work, from public reports: the cause is named first, and nothing on the disk changes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from inspector.config.targets import StdioTarget
from inspector.doctor.config_entry import look_up
from tests.doctor.conftest import SHORT, Examine, executable, left_running

pytestmark = pytest.mark.slow

SITE = f"env-of-server/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
PYTHON = "{python}"
"""Stands for the Python of the set-up: an environment with its packages, or ours."""


@dataclass(frozen=True)
class Setup:
    """A server that does not start, and what the doctor has to say about it.

    `{home}` and `{python}` in texts are filled in.
    """

    cause: str
    """The beginning of the first sentence."""
    fix: tuple[str, ...]
    """Parts of the fix, in text or command."""
    words: tuple[str, ...] = (PYTHON, "server.py")
    files: Mapping[str, str] = field(default_factory=dict)
    prints: str = ""
    """The text that `server.py` writes to stderr before it exits with status 1."""
    packages: Mapping[str, str] | None = None
    """Files in the packages of an environment of its own."""
    environment: str = "env-of-server"
    """The folder of that environment."""
    shell: Mapping[str, str] = field(default_factory=dict)
    """Variables of this shell."""
    entry: Mapping[str, str] | None = None
    """More members of the entry of a config file that starts the server; None: it is started without one."""
    never: tuple[str, ...] = ("pip install mysrv", "npm install @acme/")
    """What the report must not say."""


SDK_2 = {
    "mcp/__init__.py": "",
    "mcp/server/__init__.py": "class Server:\n    def __init__(self, name, **handlers): pass\n",
    "mcp/shared/__init__.py": "",
    "mcp/shared/exceptions.py": "class MCPError(Exception): pass\n",
    "mcp/server/fastmcp.py": (
        "raise ModuleNotFoundError(\"No module named 'mcp.server.fastmcp'. This is mcp 2.x: see the server guide at \"\n"
        "    \"https://py.example/v2/migration or pin 'mcp<2'.\", name=__name__)\n"
    ),
    "mcp-2.3.0.dist-info/METADATA": "",
}
DECORATOR = "from mcp.server import Server\nserver = Server('w')\n@server.list_tools()\nasync def tools(): ...\n"
NODE = (
    "node:internal/modules/esm/resolve:283\n    throw new ERR_MODULE_NOT_FOUND(\n\nError [ERR_MODULE_NOT_FOUND]: "
    "{}\n    at finalizeResolution (node:internal/modules/esm/resolve:283:11)\n\nNode.js v20.20.2\n"
)
OLD_NODE = (
    '#!/bin/sh\nif [ "$1" = --version ]; then echo v16.20.2; exit; fi\n'
    "echo 'ReferenceError: Response is not defined' >&2; exit 1\n"
)
SETUPS = {
    # The SDK
    "Python SDK 2 for a server of SDK 1, its FastMCP": Setup(
        "It was written for version 1 of the MCP Python SDK, but mcp 2.3.0 is installed, which has no mcp.server.fastmcp.",
        ("{python} -m pip install 'mcp<2'",),
        files={"server.py": "from mcp.server.fastmcp import FastMCP\n"},
        packages=SDK_2,
    ),
    "Python SDK 2 for a server of SDK 1, its decorators, through an installed program": Setup(
        "It was written for version 1 of the MCP Python SDK, but mcp 2.3.0 is installed, which has no list_tools.",
        ("{python} -m pip install 'mcp<2'",),
        words=("./env-of-server/bin/weather",),
        files={"env-of-server/bin/weather": "#!{python}\nimport weather\n"},
        packages=SDK_2 | {"weather.py": DECORATOR},
    ),
    "Python SDK 2 for a server of SDK 1, installed with pipx": Setup(
        "It was written for version 1 of the MCP Python SDK, but mcp 2.3.0 is installed, which has no McpError.",
        ("pipx runpip weather install 'mcp<2'",),
        words=("./pipx/venvs/weather/bin/weather",),
        files={"pipx/venvs/weather/bin/weather": "#!{python}\nimport weather\n"},
        packages=SDK_2 | {"weather.py": "from mcp.shared.exceptions import McpError\n"},
        environment="pipx/venvs/weather",
    ),
    "Python SDK 1 for a server of SDK 2": Setup(
        "It was written for version 2 of the MCP Python SDK, but mcp 1.30.0 is installed, which has no",
        ("-m pip install 'mcp>=2'",),
        files={"server.py": "from mcp.server.mcpserver import MCPServer\n"},
        packages={"mcp/__init__.py": "", "mcp/server/__init__.py": "", "mcp-1.30.0.dist-info/METADATA": ""},
    ),
    "FastMCP 3 for a server of FastMCP 2": Setup(
        "It was written for version 2 of FastMCP, but fastmcp 3.2.4 is installed, which does not accept log_level.",
        ("-m pip install 'fastmcp<3'",),
        files={"server.py": "from fastmcp import FastMCP\nFastMCP('w', log_level='DEBUG')\n"},
        packages={
            "fastmcp/__init__.py": (
                "class FastMCP:\n    def __init__(self, name, **more):\n        raise TypeError("
                "'FastMCP() no longer accepts `log_level`. Pass `log_level` to `run_http_async()`.')\n"
            ),
            "fastmcp-3.2.4.dist-info/METADATA": "",
        },
    ),
    "an old SDK with a new pydantic": Setup(
        "The installed versions of mcp and pydantic do not fit: mcp 1.20.0 needs eval_type_backport of pydantic.inside,",
        ("-m pip install -U 'mcp<2'",),
        files={"server.py": "import mcp\n"},
        packages={
            "mcp/__init__.py": "from pydantic.inside import eval_type_backport\n",
            "mcp-1.20.0.dist-info/METADATA": "",
            "pydantic/__init__.py": "",
            "pydantic/inside.py": "",
            "pydantic-2.14.4.dist-info/METADATA": "",
        },
    ),
    "a file of the server hides the SDK": Setup(
        "Its file mcp.py hides the package mcp.",
        ("Give that file another name.",),
        files={"server.py": "from mcp.server import Server\n", "mcp.py": ""},
        packages=SDK_2,
    ),
    "zod without the part that the TypeScript SDK needs": Setup(
        "It needs another version of the package zod: the installed 3.24.4 has no ./v4.",
        ("npm install 'zod@^3.25'",),
        words=(PYTHON, "server.py", "index.js"),
        prints=(
            "Error [ERR_PACKAGE_PATH_NOT_EXPORTED]: Package subpath './v4' is not defined by \"exports\" in "
            "{home}/node_modules/zod/package.json imported from {home}/node_modules/@modelcontextprotocol/sdk/x.js\n"
        ),
        files={"node_modules/zod/package.json": '{"version": "3.24.4"}'},
    ),
    "a script of an installed package that does not exist": Setup(
        "Node does not find the file {home}/node_modules/shop-mcp/dist/indx.js.",
        ("Check the path: its folder has index.js.",),
        words=(PYTHON, "server.py", "node_modules/shop-mcp/dist/indx.js"),
        prints=NODE.format("Cannot find module '{home}/node_modules/shop-mcp/dist/indx.js'"),
        files={"node_modules/shop-mcp/dist/index.js": ""},
        never=("npm run build", "another version"),
    ),
    "a Node that is older than the package of the server requires": Setup(
        "node 16.20.2 is older than shop-mcp requires (^20.10 || >=22).",
        ("Install Node 20.10 or newer.",),
        words=("./bin/node", "shop/dist/index.js"),
        files={
            "bin/node": OLD_NODE,
            "shop/dist/index.js": "",
            "shop/package.json": '{"name": "shop-mcp", "engines": {"node": "^20.10 || >=22"}}',
        },
    ),
    "a Node that is older than the SDK of the server requires": Setup(
        "node 16.20.2 is older than @modelcontextprotocol/sdk requires (>=18).",
        ("Install Node 18 or newer.",),
        words=("./bin/node", "node_modules/shop-mcp/index.js"),
        files={
            "bin/node": OLD_NODE,
            "node_modules/shop-mcp/index.js": "",
            "node_modules/shop-mcp/package.json": '{"engines": {"node": "<21"}}',
            "node_modules/@modelcontextprotocol/sdk/package.json": (
                '{"name": "@modelcontextprotocol/sdk", "engines": {"node": ">=18"}}'
            ),
        },
    ),
    "text in the line of a message, beside a Node that is older than the server requires": Setup(
        'It prints “loading fonts {"jsonrpc":"2.0","id":0,"result":{}}” to stdout, which must contain only messages.',
        ("Print to stderr instead",),
        words=("./bin/node", "shop/dist/index.js"),
        files={
            "bin/node": (
                "#!/bin/sh\n[ \"$1\" = --version ] && echo v16.20.2 && exit\n"
                "printf 'loading fonts '\necho '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}'\nexec cat >/dev/null\n"
            ),
            "shop/dist/index.js": "",
            "shop/package.json": '{"name": "shop-mcp", "engines": {"node": ">=22"}}',
        },
    ),
    "an old Node that its packages allow": Setup(
        "It fails with ReferenceError: Response is not defined.",
        (),
        words=("./bin/node", "index.js"),
        files={"bin/node": OLD_NODE, "index.js": "", "package.json": '{"engines": {"node": "14 - 18"}}'},
        never=("requires (",),
    ),
    "a script that is built by a project in another folder": Setup(
        "Node does not find the file {home}/shop/dist/index.js.",
        ("Build the server first.", "npm run build in {home}/shop"),
        words=(PYTHON, "server.py", "shop/dist/index.js"),
        prints=NODE.format("Cannot find module '{home}/shop/dist/index.js'"),
        files={"shop/package.json": '{"scripts": {"build": "tsc"}}', "package.json": "{}"},
    ),
    "a script in a folder that no project builds": Setup(
        "Node does not find the file {home}/shop/build/index.js.",
        ("Check the path.",),
        words=(PYTHON, "server.py", "shop/build/index.js"),
        prints=NODE.format("Cannot find module '{home}/shop/build/index.js'"),
        files={"shop/package.json": '{"dependencies": {"shop-mcp": "1"}}'},
        never=("npm run build",),
    ),
    "a package that an installed package needs": Setup(
        "Node does not find the package @acme/sdk, which shop-mcp needs.",
        ("Install it again.", "npm install in {home}/shop"),
        words=(PYTHON, "server.py", "shop/node_modules/.bin/shop-mcp"),
        prints=NODE.format(
            "Cannot find package '@acme/sdk' imported from {home}/shop/node_modules/shop-mcp/dist/index.js"
        ),
        files={
            "shop/package.json": '{"dependencies": {"shop-mcp": "1"}}',
            "shop/node_modules/shop-mcp/package.json": '{"dependencies": {"@acme/sdk": "1"}}',
        },
    ),
    "a package that a package installed for all needs, required by a file of it": Setup(
        "Node does not find the package zod, which shop-mcp needs.",
        ("npm install -g shop-mcp",),
        words=(PYTHON, "server.py"),
        prints="Error: Cannot find module 'zod'\nRequire stack:\n- {home}/lib/node_modules/shop-mcp/index.js\n",
        files={"lib/node_modules/shop-mcp/package.json": "{}"},
    ),
    "a copy of npx without a package that it needs": Setup(
        "The copy of shop-mcp in the cache of npx is not complete.",
        ("rm -r {home}/_npx/12ab",),
        words=(PYTHON, "server.py"),
        prints=NODE.format("Cannot find package 'zod' imported from {home}/_npx/12ab/node_modules/shop-mcp/x.js"),
    ),
    "an import of the TypeScript SDK without its extension": Setup(
        "Its import of @modelcontextprotocol/sdk has no file extension.",
        ("Write mcp.js in the import.",),
        words=(PYTHON, "server.py", "index.js"),
        prints=NODE.format(
            "Cannot find module '{home}/node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp' imported from /x.mjs"
        ),
        files={"node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp.js": ""},
        never=("npm run build",),
    ),
    # The environment
    "the server's own package is on PYTHONPATH of the shell": Setup(
        "It does not find the module mysrv, which is in src: PYTHONPATH is set in this shell but not passed to the server.",
        ('inspector doctor --env PYTHONPATH -- {python} -m mysrv',),
        words=(PYTHON, "-m", "mysrv"),
        files={"src/mysrv/__init__.py": ""},
        shell={"PYTHONPATH": "src"},
    ),
    "a package that has no __main__": Setup(
        "weather is a package that Python cannot run: it has no __main__.py.",
        ("such as -m weather.server",),
        words=(PYTHON, "-m", "weather"),
        files={"weather/__init__.py": ""},
        never=("does not find", "pip install"),
    ),
    "the server's own package is in another folder": Setup(
        "Python does not find the server's own package, mysrv, which is in {home}/src.",
        ("--env PYTHONPATH={home}/src -- ",),
        files={"server.py": "import mysrv.tools\n", "src/mysrv/__init__.py": ""},
    ),
    "the server's own package is a project": Setup(
        "Python does not find the server's own package, mysrv, which is in {home}/src.",
        ("-m pip install -e {home}",),
        words=(PYTHON, "-m", "mysrv"),
        files={"src/mysrv/__init__.py": "", "pyproject.toml": '[project]\nname = "mysrv"\n'},
    ),
    "a module is in the environment beside the server": Setup(
        "It cannot import the module weather_sdk, which is installed for {home}/.venv/bin/python, but the server is started",
        ("inspector doctor -- {home}/.venv/bin/python server.py",),
        words=(sys.executable, "server.py"),
        files={"server.py": "import weather_sdk\n"},
        packages={"weather_sdk/__init__.py": ""},
        environment=".venv",
        never=("pip install",),
    ),
    "a command of an environment is started with another Python": Setup(
        "It cannot import the module weather_mcp, which is installed for {home}/env-of-server/bin/python, but the server",
        ("inspector doctor -- {home}/env-of-server/bin/python ./env-of-server/bin/weather",),
        words=(sys.executable, "./env-of-server/bin/weather"),
        files={"env-of-server/bin/weather": "#!{python}\nfrom weather_mcp import main\n"},
        packages={"weather_mcp/__init__.py": ""},
        never=("author", "pip install"),
    ),
    "a package of an environment is started by its folder with another Python": Setup(
        "It cannot import the module weather_mcp, which is installed for {home}/env-of-server/bin/python, but the server",
        (f"inspector doctor -- {{home}}/env-of-server/bin/python {SITE}/weather_mcp",),
        words=(sys.executable, f"{SITE}/weather_mcp"),
        packages={
            "weather_mcp/__init__.py": "",
            "weather_mcp/__main__.py": "from weather_mcp import main\n",
            "weather_mcp-0.2.1.dist-info/METADATA": "",
        },
        never=("another version", "pip install"),
    ),
    "a command whose package was built without its module": Setup(
        "The package that installed the command weather does not contain the module weather_mcp, which the command imports.",
        ("Install another version of that package, or tell its author.",),
        words=("./env-of-server/bin/weather",),
        files={"env-of-server/bin/weather": "#!{python}\nimport sys\nfrom weather_mcp import main\nsys.exit(main())\n"},
        packages={},
        never=("pip install",),
    ),
    "a command of Windows whose package was built without its module": Setup(
        "The package that installed the command weather.exe does not contain the module weather_mcp, which the command",
        ("Install another version of that package, or tell its author.",),
        prints=(
            'Traceback (most recent call last):\n  File "<frozen runpy>", line 198, in _run_module_as_main\n'
            '  File "{home}/env/Scripts/weather.exe/__main__.py", line 4, in <module>\n    from weather_mcp import main\n'
            "ModuleNotFoundError: No module named 'weather_mcp'\n"
        ),
        files={"env/Lib/site-packages/other.py": ""},
        never=("pip install",),
    ),
    "a command whose package has no such function": Setup(
        "The package that installed the command weather does not contain weather.main, which the command imports.",
        ("Install another version of that package, or tell its author.",),
        words=("./env-of-server/bin/weather",),
        files={"env-of-server/bin/weather": "#!{python}\nfrom weather import main\n"},
        packages={"weather/__init__.py": ""},
        never=("pip install",),
    ),
    "a command without an argument that click needs": Setup(
        "It needs the argument INPUT_FILE, which its command does not have.",
        ("Its usage: weather [OPTIONS] INPUT_FILE",),
        prints="Usage: weather [OPTIONS] INPUT_FILE\nTry 'weather --help' for help.\n\nError: Missing argument 'INPUT_FILE'.\n",
        never=("environment variable", "--env"),
    ),
    "a command without an option that argparse needs": Setup(
        "It needs the argument --spec, which its command does not have.",
        ("Its usage: weather [-h] --spec SPEC",),
        prints="usage: weather [-h] --spec SPEC\nweather: error: the following arguments are required: --spec\n",
    ),
    "a command that prints its usage to stdout, with its commands": Setup(
        "It prints its usage: its command lacks arguments.",
        ("Add one of its commands: init, serve",),
        files={
            "server.py": (
                'import sys\nprint("""\n Usage: weather [OPTIONS] COMMAND [ARGS]...\n\n'
                "╭─ Options ──────────────╮\n│ --help  <bool>  Help.  │\n╰────────────────────────╯\n"
                "╭─ Commands (in order) ──╮\n│ init   Create a first  │\n│        profile.        │\n"
                '│ serve  Serve it.       │\n╰────────────────────────╯""")\nsys.exit(2)\n'
            )
        },
        never=("file=sys.stderr",),
    ),
    "a command that typer refuses": Setup(
        "The server ends with the error “Invalid value: Config file not found: mcp.json”.",
        (),
        prints=(
            "Usage: weather [OPTIONS]\nTry 'weather --help' for help.\n╭─ Error ───────────────────────────────────╮\n"
            "│ Invalid value: Config file not found: mcp.json     │\n╰───────────────────────────────────────────╯\n"
        ),
    ),
    "a server that says to stdout why it ends": Setup(
        "The server ended with exit code 1 before it responded. It printed “Nicht gefunden: daten” to stdout.",
        (),
        files={"server.py": "print('Nicht gefunden: daten')\nraise SystemExit(1)\n"},
    ),
    "settings that pydantic refuses": Setup(
        "It fails with pydantic_core.ValidationError: 1 validation error for Settings: api_key: Field required in "
        "server.py, line 3.",
        ("Look at line 3 of server.py.",),
        prints=(
            'Traceback (most recent call last):\n  File "server.py", line 3, in <module>\n    Settings()\n'
            "pydantic_core.ValidationError: 1 validation error for Settings\napi_key\n"
            "  Field required [type=missing, input_value={}, input_type=dict]\n    For further information visit x\n"
        ),
    ),
    "a part that the server can do without": Setup(
        "It fails with FileNotFoundError: no data in server.py, line 4.",
        ("Look at line 4 of {home}/server.py.",),
        files={
            "server.py": "try:\n    import weather.data\nexcept ImportError:\n    raise FileNotFoundError('no data')\n",
            "weather/__init__.py": "",
        },
        never=("another version",),
    ),
    "a server whose last words say why it ends": Setup(
        "The server ended with exit code 1 before it responded. Its last words are “audit: nothing to look at here”.",
        (),
        prints="audit: nothing to look at here\n",
    ),
    "a usage of several lines": Setup(
        "It needs the argument command, which its command does not have.",
        ("Its usage: memex [-h] {init,serve} ...",),
        prints="usage: memex [-h]\n             {init,serve}\n             ...\nmemex: error: the following arguments are required: command\n",
    ),
    "variables that are in the next lines": Setup(
        "It needs the environment variable SHOP_EU_TENANT, which is not set.",
        ("--env SHOP_EU_TENANT=…",),
        prints="RuntimeError: Missing SHOP_EU environment variables:\n    SHOP_EU_TENANT,\n    or SHOP_EU_PAT\n",
    ),
    "a package that imports its own part as if it were in the path": Setup(
        "weather/server.py imports tools, which is in the same folder, but Python does not search there.",
        ("Install another version of that package, or tell its author.",),
        words=(PYTHON, "-m", "weather"),
        packages={"weather/__init__.py": "", "weather/__main__.py": "import weather.server\n", "weather/server.py": "import tools\n", "weather/tools.py": ""},
        never=("pip install",),
    ),
    "a package of the same workspace": Setup(
        "Node does not find the server's own package, @acme/shop, which is in {home}/packages/shop.",
        ("npm install",),
        words=(PYTHON, "server.py", "index.js"),
        prints=NODE.format("Cannot find package '@acme/shop' imported from {home}/index.js"),
        files={"package.json": '{"workspaces": ["packages/*"]}', "packages/shop/package.json": '{"name": "@acme/shop"}'},
    ),
    "Docker at another address": Setup(
        "It does not reach Docker: DOCKER_HOST is set in this shell but not passed to the server.",
        ('--env DOCKER_HOST -- ',),
        prints="Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n",
        shell={"DOCKER_HOST": "unix:///run/user/1000/docker.sock"},
        never=("Docker is not running",),
    ),
    "Kubernetes with a config elsewhere": Setup(
        "It does not find the Kubernetes cluster: KUBECONFIG is set in this shell but not passed to the server.",
        ('--env KUBECONFIG -- ',),
        prints="error: The connection to the server localhost:8080 was refused - did you specify the right host or port?\n",
        shell={"KUBECONFIG": "/home/ada/cluster.yaml"},
    ),
    "a proxy with a password": Setup(
        "It cannot use the proxy: HTTPS_PROXY is set in this shell but without its user and password.",
        ('--env HTTPS_PROXY -- ',),
        prints="urllib3: Tunnel connection failed: 407 Proxy Authentication Required\n",
        shell={"HTTPS_PROXY": "http://ada:secretpassword@proxy.example:3128"},
        never=("secretpassword",),
    ),
    "a key in a JSON log line": Setup(
        "It needs the environment variable SHOP_API_KEY, which is set in this shell but not passed to the server.",
        ('inspector doctor --env SHOP_API_KEY -- ',),
        prints='{"level":60,"time":1,"pid":1,"msg":"startup","err":{"type":"Error","message":"SHOP_API_KEY is not set","stack":"Error: x"}}\n',
        shell={"SHOP_API_KEY": "a-value-of-the-shell"},
    ),
    "a key in an error without a known cause": Setup(
        "It fails with RuntimeError: no SHOP_KEY in s.py, line 9. SHOP_KEY is set in this shell but not passed to the server.",
        ('inspector doctor --env SHOP_KEY -- ',),
        prints='''Traceback (most recent call last):\n  File "s.py", line 9, in <module>\nRuntimeError: no SHOP_KEY\n''',
        shell={"SHOP_KEY": "a-value-of-the-shell"},
    ),
    "a key in the last error of a log": Setup(
        "The server ends with the error “Unable to read ACME_KEY”. ACME_KEY is set in this shell but not passed to the server.",
        ('inspector doctor --env ACME_KEY -- ',),
        prints="Error: Unable to read ACME_KEY\n",
        shell={"ACME_KEY": "a-value-of-the-shell"},
    ),
    "a program that only the PATH of the shell has": Setup(
        "The command “weather-tool” is at {home}/tools/weather-tool, which is on the PATH of this shell, but not on the PATH",
        ('"command": "{home}/tools/weather-tool"',),
        words=("weather-tool",),
        files={"tools/weather-tool": "#!/bin/sh\n"},
        shell={"PATH": "{home}/tools:/usr/bin:/bin"},
        entry={"PATH": "/usr/bin:/bin"},
    ),
    "a program of the environment beside the server": Setup(
        "The command “weather-tool” is at {home}/.venv/bin/weather-tool, which is not on the PATH.",
        ("inspector doctor -- {home}/.venv/bin/weather-tool --port 3",),
        words=("weather-tool", "--port", "3"),
        files={".venv/bin/weather-tool": "#!/bin/sh\n"},
    ),
    # The command
    "a whole command line with a scoped package": Setup(
        "The command is the single word “npx -y @acme/server-weather”: “npx” is the program, the rest are its arguments.",
        ('"command": "npx", "args": ["-y", "@acme/server-weather"]',),
        words=("npx -y @acme/server-weather",),
        entry={},
    ),
    "a whole command line with paths": Setup(
        "The command is the single word “{python} ./server.py --port 3”: “{python}” is the program",
        ("inspector doctor -- {python} ./server.py --port 3",),
        words=("{python} ./server.py --port 3",),
    ),
    "a line for a shell": Setup(
        "The command “cd src && python3 server.py” is a line for a shell, and no shell starts the server.",
        ("sh -c 'cd src && python3 server.py'",),
        words=("cd src && python3 server.py",),
    ),
    "a variable in the command": Setup(
        "The command begins with “SHOP_KEY=”: a variable is not set in the command.",
        ("--env, or in the config entry", "inspector doctor -- node server.js"),
        words=("SHOP_KEY=1234 node", "server.js"),
    ),
    "a home folder that no shell expands": Setup(
        "The file ~/server.py, which {python} should run, is not in {home}: no shell starts the server, so “~” and",
        ("inspector doctor -- {python} {home}/server.py",),
        words=(PYTHON, "~/server.py"),
        files={"server.py": ""},
    ),
    "a variable in the path of the program": Setup(
        "No program exists at $HOME/bin/weather: no shell starts the server, so “~” and variables are not expanded.",
        ("inspector doctor -- {home}/bin/weather",),
        words=("$HOME/bin/weather",),
        files={"bin/weather": "#!/bin/sh\n"},
    ),
    "a path with a space that is two arguments": Setup(
        "The path “{home}/My Project/server.py” is split at its spaces, into 2 arguments.",
        ("Write it as one.", "inspector doctor -- {python} '{home}/My Project/server.py' --port 3"),
        words=(PYTHON, "{home}/My", "Project/server.py", "--port", "3"),
        files={"My Project/server.py": ""},
    ),
    "a program in a path with a space that is two words": Setup(
        "The path “{home}/My Project/bin/weather” is split at its spaces, into 2 arguments.",
        ("'{home}/My Project/bin/weather'",),
        words=("{home}/My", "Project/bin/weather"),
        files={"My Project/bin/weather": "#!/bin/sh\n"},
    ),
    "an option and its value in one argument": Setup(
        "The argument “--root /srv/data” is a single word with a space in it.",
        ("inspector doctor -- {python} server.py --root /srv/data",),
        words=(PYTHON, "server.py", "--root /srv/data"),
        prints="usage: server.py [-h] [--root ROOT]\nserver.py: error: unrecognized arguments: --root /srv/data\n",
    ),
    # Its output
    "a coloured traceback": Setup(
        "It cannot import the Python module no_such_sdk, which is not installed in its environment.",
        ("-m pip install no_such_sdk",),
        prints="\x1b[35mTraceback\x1b[0m\n\x1b[1;35mModuleNotFoundError\x1b[0m: \x1b[35mNo module named 'no_such_sdk'\x1b[0m\n",
    ),
    "a link in a log is not a listening address": Setup(
        "The server runs, but does not respond to what it reads.",
        (),
        files={
            "server.py": "import sys\nprint('Server ready. Running? Guide: https://docs.example/server', file=sys.stderr, "
            "flush=True)\nfor line in sys.stdin: pass\n"
        },
        never=("listens at",),
    ),
    "an HTTP server that names its URL on stdout": Setup(
        "It is a server at a URL, http://localhost:3033/mcp, and does not use stdin and stdout.",
        ("inspector doctor http://localhost:3033/mcp",),
        files={
            "server.py": "import sys\nprint('Streamable HTTP server running on http://localhost:3033/mcp', flush=True)\n"
            "for line in sys.stdin: pass\n"
        },
    ),
    "an HTTP server whose banner wraps before the path of its URL": Setup(
        "It is a server at a URL, http://0.0.0.0:8000/sse, and does not use stdin and stdout.",
        ("inspector doctor http://127.0.0.1:8000/sse",),
        files={
            "server.py": "import sys\nprint('INFO  Starting with transport sse on\\n      http://0.0.0.0:8000/sse\\nINFO: '"
            "\n'Uvicorn running on http://0.0.0.0:8000', file=sys.stderr, flush=True)\nfor line in sys.stdin: pass\n"
        },
        never=("--timeout",),
    ),
    "an HTTP server that names its port only": Setup(
        "It is a server at a URL, http://127.0.0.1:8123, and does not use stdin and stdout.",
        ("inspector doctor http://127.0.0.1:8123",),
        files={
            "server.py": "import sys\nprint('\\x1b[32mServer listening on port 8123\\x1b[0m', file=sys.stderr, flush=True)\n"
            "for line in sys.stdin: pass\n"
        },
    ),
}  # fmt: skip


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """The files of a folder, with size and time."""
    return {
        str(path.relative_to(folder)): (status.st_size, status.st_mtime_ns)
        for path in folder.rglob("*")
        if not path.is_symlink() and path.is_file() and (status := path.stat()) and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("name", SETUPS)
async def test_the_cause_is_named_first(
    name: str, home: Path, examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = SETUPS[name]
    python = sys.executable
    if setup.packages is not None:
        venv.create(home / setup.environment, with_pip=False, symlinks=True)
        python = str(home / setup.environment / "bin" / "python")
        (site,) = (home / setup.environment).glob("lib/python*/site-packages")
        for path, content in setup.packages.items():
            _write(site / path, content)

    def filled(text: str) -> str:
        return text.replace("{home}", str(home)).replace("{python}", python)

    printed = filled(setup.prints)
    files = {"server.py": f"import sys\nsys.stderr.write({printed!r})\nsys.exit(1)\n"} if printed else {}
    for path, content in (files | dict(setup.files)).items():
        _write(home / path, filled(content))
    for variable in ("PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "NODE_PATH"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in setup.shell.items():
        monkeypatch.setenv(variable, filled(value))
    words = tuple(map(filled, setup.words))
    entry = None
    target = StdioTarget(words)
    if setup.entry is not None:
        server = {"command": words[0], "args": list(words[1:]), "env": dict(setup.entry)}
        (home / "inspector.json").write_text(json.dumps({"servers": {"shop": server}}))
        entry = look_up("@shop", folder=home, home=home, environ=dict(os.environ))
        assert isinstance(entry.target, StdioTarget)
        target = entry.target
    before = tree(home)

    diagnosis = await examine(target, entry=entry, limits=replace(SHORT, framing=0.1, answer=2.0))

    def public(text: str) -> str:
        return filled(text).replace(str(home), "~")

    report = json.dumps(diagnosis.as_json(), ensure_ascii=False)
    fix = f"{diagnosis.fix.hint.command_line} {diagnosis.fix.command} in {diagnosis.fix.folder}"
    assert diagnosis.cause.startswith(public(setup.cause)), diagnosis.cause
    for part in setup.fix:
        assert public(part) in fix, fix
    for part in setup.never:
        assert part not in report
    assert (diagnosis.outcome, diagnosis.exit_code) == ("fails", 4)
    assert {path: facts for path, facts in tree(home).items() if not path.startswith("recordings")} == before
    assert left_running(examine) == []


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.parent.name in ("bin", "tools"):
        executable(path, content)
    else:
        path.write_text(content)


@pytest.mark.parametrize("stream", ["stderr", "stdout"])
async def test_a_server_at_a_url_is_not_waited_for_until_the_timeout(examine: Examine, stream: str) -> None:
    code = (
        "import sys, time; "
        f"print('Uvicorn running on http://0.0.0.0:8000', file=sys.{stream}, flush=True); time.sleep(99)"
    )
    async with asyncio.timeout(50):
        diagnosis = await examine(
            StdioTarget((sys.executable, "-S", "-c", code)), limits=replace(SHORT, answer=90.0), max_timeout=90.0
        )
    assert diagnosis.cause.startswith("It is a server at a URL, http://0.0.0.0:8000,")
    assert diagnosis.fix.command == "inspector doctor http://127.0.0.1:8000"

"""The parts of an examination: noise, last stderr lines, programs, privacy, with any output of a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.auth.credential import Authorizer
from inspector.auth.options import AuthOptions
from inspector.auth.person import NoPerson
from inspector.client.fetching import EndpointSender
from inspector.client.listening_address import listening_address
from inspector.client.options import Options
from inspector.config.command_lines import line_of
from inspector.config.targets import StdioTarget
from inspector.doctor import programs
from inspector.doctor.diagnosis import Diagnosis, Fix
from inspector.doctor.node_packages import build_or_path
from inspector.doctor.privacy import Privacy
from inspector.doctor.report import lines
from inspector.doctor.server_facts import ServerFacts
from inspector.doctor.session_options import without_person
from inspector.doctor.stderr_causes import stderr_cause
from inspector.doctor.stdout_noise import noise
from inspector.errors import AuthorizationNeeded
from tests.doctor.conftest import executable
from tests.typed import typed

SERVER = ServerFacts(StdioTarget(("uv", "run", "weather"), name="weather"), "/src/weather", {"SHELL_ONLY_KEY": "1"})


@pytest.mark.parametrize(
    ("line", "cause", "command"),
    [
        ("ModuleNotFoundError: No module named 'httpx'", "It cannot import the Python module httpx,", "uv add httpx"),
        ("ModuleNotFoundError: No module named 'yaml.x'", "It cannot import the Python module yaml,", "uv add pyyaml"),
        ("Error: Cannot find module 'express'", "Node does not find the package express,", "npm install express"),
        ("Cannot find package '@a/b' imported from /x.js", "Node does not find the package @a/b,", "npm install @a/b"),
        ("Error: Cannot find module '/src/dist/index.js'", "Node does not find the file /src/dist/", None),
        ("Error: listen EADDRINUSE: address already in use :::3000", "It needs port 3000,", "lsof -i :3000"),
        (
            "Error: OPENAI_API_KEY is required",
            "It needs the environment variable OPENAI_API_KEY, which is not set",
            None,
        ),
        ("Please set the GITHUB_TOKEN environment variable", "It needs the environment variable GITHUB_TOKEN,", None),
        (
            "SHELL_ONLY_KEY not set",
            "It needs the environment variable SHELL_ONLY_KEY, which is set in this shell",
            None,
        ),
        ("sh: 1: weatherd: not found", "It starts the program weatherd, which is not on its PATH.", None),
        ("env: ‘node’: No such file or directory", "It starts the program node, which is not on its PATH.", None),
        ("Error: ENOENT: no such file or directory, open 'conf.json'", "It does not find the file conf.json.", None),
        ("PermissionError: [Errno 13] Permission denied: '/etc/x'", "The system denies it access to /etc/x.", None),
        ("npm error 404  'no-such-pkg@*' is not in this registry.", "The package no-such-pkg is not in the", None),
        (
            "npm error 404  The requested resource '@a/no-such@*' could not be found or you do not have permission",
            "The package @a/no-such is not in the registry.",
            None,
        ),
        (
            "Fatal error: Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite",
            "It needs the built-in module node:sqlite, which its Node does not have.",
            None,
        ),
        ("Error: no folder was given.", "The server ends with the error “no folder was given”.", None),
        (
            "prog: error: unrecognized arguments: --x",
            "The server ends with the error “unrecognized arguments: --x”",
            None,
        ),
        ("Because no-such was not found in the package registry", "The package no-such is not in the registry.", None),
        ("  SyntaxError: invalid syntax", "Its program has a syntax error", None),
        ("connect ECONNREFUSED 127.0.0.1:5432", "It cannot connect to 127.0.0.1:5432,", None),
        ("ValueError: no good", "It fails with ValueError: no good.", None),
    ],
)
def test_common_last_words_are_understood(line: str, cause: str, command: str | None) -> None:
    known_cause = stderr_cause(["before", line, "after"], SERVER)
    assert known_cause is not None
    assert known_cause.cause.startswith(cause), known_cause.cause
    assert command is None or known_cause.fix.command == typed(command)


CRASHES = [
    ("panic: the config has no server\n\ngoroutine 1 [running]:\nmain.main()", "“the config has no server”."),
    ("panic: first [recovered]\n\tpanic: the second\n\ngoroutine 7 [running]:", "“the second”."),
    ("panic: open a.yaml: no such file or directory\n\ngoroutine 1 [running]:", "does not find the file a.yaml."),
    ("2026/11/29 10:00:00 dial tcp 10.0.0.1:5432: connect: connection refused", "cannot connect to 10.0.0.1:5432,"),
    ("2026/11/29 10:00:00 listen tcp :8080: bind: address already in use", "needs port 8080,"),
    (
        "thread 'main' (12) panicked at src/main.rs:2:5:\nno config was given\nnote: run with …",
        "“no config was given”.",
    ),
    (
        """thread 'main' panicked at 'an `Err` value: Os { message: "No such file or directory" }', src/main.rs:4:37""",
        """“an `Err` value: Os { message: "No such file or directory" }”.""",
    ),
    ("Error: cannot start\n\nCaused by:\n    0: reading\n    1: no such table", "“cannot start: 1: no such table”."),
    (
        'Exception in thread "main" a.b.StartException: x\n\tat a.b.Main.main(Main.java:5)\nCaused by: a.SQLException: y',
        "It fails with a.SQLException: y.",
    ),
    ("Unhandled exception. System.IO.IOException: No file.\n   at Program.Main()", "System.IO.IOException: No file."),
    ("Web server failed to start. Port 8080 was already in use.", "needs port 8080,"),
    ("OSError: [WinError 10048] Only one usage of each socket address is permitted", "needs a port that another"),
    ("App: /a\nFramework: 'Microsoft.NETCore.App', version '9.0.0' (x64)", "needs Microsoft.NETCore.App 9.0.0,"),
    ("SyntaxError: Cannot use import statement outside a module\n\nNode.js v22", "Node reads its file as CommonJS."),
    (
        '    triggerUncaughtException(err, true);\n[The promise rejected with the reason "no base".] {',
        "The server ends with the error “no base”.",
    ),
    ("Traceback (most recent call last):\n  File …\n__main__.NoConfig: give one", "It fails with NoConfig: give one."),
    (
        "  + Exception Group Traceback (most recent call last):\n    | ValueError: no config\n    +--",
        "ValueError: no config.",
    ),
    (
        "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
        "shared library libGL.so.1.",
    ),
    ("/bin/sh: 1: ./weather: Exec format error", "The program ./weather was built for another system or processor."),
    ("./w: /lib/libc.so.6: version `GLIBC_2.38' not found (required by ./w)", "It was built for a newer system:"),
    ('error: Uncaught NotCapable: Requires env access to "API_KEY", run again …', "Deno does not give it env access."),
    ('npm ERR! Missing script: "start"\nnpm ERR! \nnpm ERR!   npm run', '“Missing script: "start"”.'),
    ("npm error code ETARGET\nnpm error notarget No matching version of a.", "“No matching version of a”."),
    (
        "npm ERR! code E1\nnpm ERR! engine Unsupported engine\nnpm ERR! engine Not for this Node: a",
        "“Not for this Node: a”.",
    ),
    ("server.rb:3:in `<main>': no config (RuntimeError)", "“no config (RuntimeError)”."),
    ("terminate called after throwing an instance of 'E'\n  what():  no config", "“no config”."),
    ("docker: Error response from daemon: manifest unknown.", "“manifest unknown”."),
    (
        "error: the following required arguments were not provided:\n  --api-key <API_KEY>\n  --url <URL>\n\nUsage: w",
        "“the following required arguments were not provided: --api-key <API_KEY>, --url <URL>”.",
    ),
    (
        "Failed to start server: Configuration file not found: /home/me/a.json",
        "does not find the file /home/me/a.json.",
    ),
    ("w: path does not exist or is not a directory: /srv/docs", "does not find the path /srv/docs."),
    ("error failed to load the configuration: no server", "“failed to load the configuration: no server”."),
    (
        '{"level":"error","msg":"failed to load it","error":"line 1: bad"}\n{"level":"info","msg":"bye"}',
        "“failed to load it",
    ),
    ("w: cannot start without a folder", "“cannot start without a folder”."),
]


def test_a_required_option_may_have_a_variable_of_this_shell() -> None:
    log = ["error: the following required arguments were not provided:", "  --api-key <API_KEY>", "  --url <URL>"]
    target = StdioTarget(("/opt/weather-server",))
    cause = stderr_cause(log, ServerFacts(target, "/srv", {"WEATHER_API_KEY": "x", "OTHER_URL": "y"}))
    assert cause is not None
    assert cause.cause.startswith("It needs the option --api-key, or a variable: WEATHER_API_KEY is ")
    other = stderr_cause(log, ServerFacts(target, "/srv", {"OTHER_URL": "y"}))
    assert other is not None
    assert "--api-key <API_KEY>, --url <URL>" in other.cause


@pytest.mark.parametrize(("line", "address"), [
    ('{"level":"info","msg":"HTTP Server listening","addr":"localhost:4699","tls":false}', "http://127.0.0.1:4699"),
    ("2026/11/29 10:00:00 listening on :8080", "http://127.0.0.1:8080"),
    ("INFO Listening at http://127.0.0.1:8000/mcp", "http://127.0.0.1:8000/mcp"),
    ("Listening since 10:20:30", ""),
    ("Listens to events of db.example:5432", ""),
    ("ready: connected to localhost:5432", ""),
])  # fmt: skip
def test_an_address_in_a_log_is_where_the_server_listens(line: str, address: str) -> None:
    assert listening_address([line]) == address


def test_a_script_that_is_missing_beside_others_needs_no_build(tmp_path: Path) -> None:
    folder = tmp_path / "node_modules" / "shop" / "build"
    folder.mkdir(parents=True)
    (folder.parent / "package.json").write_text('{"scripts": {"build": "tsc"}}')
    assert build_or_path(str(folder / "main.js")).text == "Check the path."
    (folder / "index.js").touch()
    assert build_or_path(str(folder / "main.js")).text == "Check the path: its folder has index.js."


@pytest.mark.parametrize(("package", "exists"), [
    ({"scripts": {"build": "tsc"}}, "build/index.js"),
    ({"main": "./out/server.js"}, "out/server.js"),
    ({"bin": {"shop": "cli.js", "old": 7}}, "cli.js"),
    ({"bin": "bin/shop.js"}, "bin/shop.js"),
])  # fmt: skip
def test_a_script_that_is_missing_is_compared_with_what_its_package_has(
    package: dict[str, object], exists: str, tmp_path: Path
) -> None:
    (tmp_path / "package.json").write_text(json.dumps(package), encoding="utf-8")
    missing = str(tmp_path / "dist" / "index.js")
    assert "its package has" not in build_or_path(missing).text
    (tmp_path / exists).parent.mkdir(exist_ok=True)
    (tmp_path / exists).touch()
    assert build_or_path(missing).text == f"Check the path: its package has {Path(exists)}."


def test_a_port_without_a_number_is_that_of_the_command() -> None:
    server = ServerFacts(StdioTarget(("weather", "--port", "8123")), "/srv", {})
    cause = stderr_cause(["Error: Address already in use (os error 98)"], server)
    assert cause is not None
    assert cause.cause == "It needs port 8123, which another program uses."


@pytest.mark.parametrize(("log", "port"), [
    ("Failed to bind to address http://127.0.0.1:8942: address already in use.\nAddress already in use", "8942"),
    ("Error: listen EADDRINUSE: address already in use :::3000\n  code: 'EADDRINUSE',\n  errno: -98", "3000"),
    ("listen EADDRINUSE: address already in use ::1:3000", "3000"),
    ("10:20:30 bind 0.0.0.0:8000: Address already in use", "8000"),
    ("bind [::1]:8080: Address already in use (os error 98)", "8080"),
    ("[12:30:45] [1234] main.go:17: listen tcp :8080: bind: address already in use", "8080"),
    ("listen tcp weather.example:8080: bind: address already in use", "8080"),
    ("[Errno 98] error while attempting to bind on address ('127.0.0.1', 8000): address already in use", "8000"),
    ("[Errno 10048] error while attempting to bind on address ('::1', 80, 0, 0): [winerror 10048] only one", "80"),
    ("Address already in use - bind(2) for \"localhost\" port 443 (Errno::EADDRINUSE)", "443"),
    ("Address already in use\nPort 5000 is in use by another program.", "5000"),
    ("error: Failed to start server. Is port 3000 in use?\n code: \"EADDRINUSE\"", "3000"),
    ("java.rmi.server.ExportException: Port already in use: 1099", "1099"),
    ("Failed to listen on localhost:8000 (reason: Address already in use)", "8000"),
    ("2026-11-29 10:20:30,1234 [pid 4321] server.py:812 Address already in use (os error 98)", ""),
    ("2026/11/29 10:20:30 server.js:12:34: EADDRINUSE: errno 1098", ""),
    ("std::net::bad:12: Os { code: 98, kind: AddrInUse, message: \"Address already in use\" }", ""),
    ("EADDRINUSE: address already in use 127.0.0.1:99999", ""),
    ("EADDRINUSE: address already in use /tmp/weather-8000.sock", ""),
])  # fmt: skip
def test_the_port_that_is_in_use_is_named_and_no_other_number(log: str, port: str) -> None:
    cause = stderr_cause(["server.py:4000: ready at 10:20:30", *log.split("\n")], SERVER)
    assert cause is not None
    assert cause.cause == f"It needs {f'port {port}, which' if port else 'a port that'} another program uses."


TRACEBACK = """Traceback (most recent call last):
  File "/src/shop/server.py", line 2, in <module>
    limit(conf)
    ^^^^^^^^^^^
  File "/usr/lib/python3.12/{}", line 91, in limit
    raise
"""


@pytest.mark.parametrize(("log", "place"), [
    (TRACEBACK.format("json/x.py") + "KeyError: 'max'", "server.py, line 2."),
    (TRACEBACK.format("site-packages/x.py") + "shop.NoData: first\nsecond\nthird", "server.py, line 2."),
    (TRACEBACK.replace("/src/", "/x/site-packages/") + "KeyError: 'max'", ""),
    (TRACEBACK.replace("/src/shop/server.py", "/x/.venv/bin/shop") + "KeyError: 'max'", ""),
    (TRACEBACK.replace("/src/shop/server.py", "C:\\shop\\server.py").replace("/usr/lib/python3.12/", "C:\\P\\Lib\\")
     + "KeyError: 'max'", "server.py, line 2."),
    ("  + Exception Group Traceback (most recent call last):\n  |   File \"/src/a.py\", line 9, in <module>\n"
     "  | ExceptionGroup: x (1 sub-exception)\n  +-+---- 1 ----\n    | Traceback (most recent call last):\n"
     "    |   File \"/src/b.py\", line 3, in main\n    |     1 / 0\n    | ZeroDivisionError: no\n    +----", "b.py, line 3."),
    ("TypeError: x is undefined\n    at read (node:fs:2:3)\n    at /x/node_modules/a/a.js:4:5\n"
     "    at async file:///x/my%20server.js:2:3\n    at file:///x/main.js:9:9\n\nNode.js v22.1.0", "my server.js, line 2."),
    ("Error: no data\n    at new A (file:///C:/x/server.ts:2:3)", "server.ts, line 2."),
    ("Error: no data:\n  - a\n  - b\n    at Object.<anonymous> (C:\\x\\server.js:2:3)", "server.js, line 2."),
    ("TypeError: no\n    at a (node:internal/a:1:1)\n    at b (/x/node_modules/b.js:1:1)\n    at net.js:3:4", ""),
    ("TypeError: no\nready\n/x/server.js:2:3", ""),
])  # fmt: skip
def test_an_error_is_told_with_its_line_in_the_files_of_the_server(log: str, place: str) -> None:
    cause = stderr_cause(["starting", *log.split("\n")], SERVER)
    assert cause is not None
    if place:
        assert cause.cause.endswith(f" in {place}")
        name, _, number = place.rstrip(".").partition(", line ")
        assert cause.fix.text.startswith(f"Look at line {number} of ")
        assert cause.fix.text.endswith(f"{name}.")
    else:
        assert ", line " not in cause.cause
        assert cause.fix == Fix()


@pytest.mark.parametrize(("log", "cause"), CRASHES)
def test_the_line_that_names_the_cause_of_a_crash_is_told(log: str, cause: str) -> None:
    known_cause = stderr_cause(["starting", *log.split("\n")], SERVER)
    assert known_cause is not None
    assert cause in known_cause.cause


@pytest.mark.parametrize(
    ("line", "requirement"),
    [
        # As mcp 2.3.0, mcp 1.30.0, fastmcp 3.4.11 and fastmcp 4.2.3 print them
        ("ModuleNotFoundError: No module named 'mcp.server.fastmcp'. This is mcp 2.x, where FastMCP was", "mcp<2"),
        ("ModuleNotFoundError: No module named 'mcp.shared.session'", "mcp<2"),
        ("ModuleNotFoundError: No module named 'mcp.shared.version'", "mcp<2"),
        ("AttributeError: 'Server' object has no attribute 'list_tools'", "mcp<2"),
        ("AttributeError: 'Server' object has no attribute 'request_handlers'. Did you mean: '_request_handl", "mcp<2"),
        ("ImportError: cannot import name 'FastMCP' from 'mcp.server' (/x/lib/site-packages/mcp/server/__ini", "mcp<2"),
        ("ImportError: cannot import name 'McpError' from 'mcp.shared.exceptions' (/x/site-packages/mcp/shar", "mcp<2"),
        ("ImportError: cannot import name 'McpError' from 'mcp' (/x/site-packages/mcp/__init__.py)", "mcp<2"),
        ("ImportError: cannot import name 'RequestContext' from 'mcp.shared.context' (/x/site-packages/mcp/s", "mcp<2"),
        ("AttributeError: 'Tool' object has no attribute 'inputSchema'. Did you mean: 'input_schema'?", "mcp<2"),
        ("TypeError: Server.__init__() takes 2 positional arguments but 5 were given", "mcp<2"),
        ("TypeError: Server.__init__() got an unexpected keyword argument 'notification_options'", "mcp<2"),
        ("ModuleNotFoundError: No module named 'mcp.server.mcpserver'", "mcp>=2"),
        (
            "ImportError: cannot import name 'MCPServer' from 'mcp.server' (/x/site-packages/mcp/server/__init__",
            "mcp>=2",
        ),
        ("TypeError: Server.__init__() got an unexpected keyword argument 'on_list_tools'", "mcp>=2"),
        ("ModuleNotFoundError: No module named 'mcp_types'", "mcp>=2"),
        (
            "TypeError: FastMCP() no longer accepts `host`. Pass `host` to `run_http_async()`, or set FASTMCP_",
            "fastmcp<3",
        ),
        ("AttributeError: 'FastMCP' object has no attribute 'get_tools'. Did you mean: 'get_tool'?", "fastmcp<3"),
        ("ModuleNotFoundError: No module named 'fastmcp.tools.tool'", "fastmcp<4"),
        ("ModuleNotFoundError: No module named 'fastmcp.server.proxy'", "fastmcp<4"),
        ("AttributeError: type object 'FastMCP' has no attribute 'as_proxy'", "fastmcp<4"),
    ],
)
def test_the_version_of_the_sdk_that_a_server_needs(line: str, requirement: str) -> None:
    server = ServerFacts(StdioTarget(("/opt/weather/bin/python", "server.py")), "/srv", {})
    known_cause = stderr_cause(["Traceback (most recent call last):", line], server)
    assert known_cause is not None
    assert known_cause.cause.startswith("It was written for version ")
    assert known_cause.fix.command == typed(f"/opt/weather/bin/python -m pip install '{requirement}'")


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (("python3", "server.py"), "python3 -m pip install 'mcp<2'"),
        (("env", "A=b", "/v/bin/python", "-m", "weather"), "/v/bin/python -m pip install 'mcp<2'"),
        (("uvx", "weather"), "inspector -- uvx --with 'mcp<2' weather"),
        (("uv", "tool", "run", "weather"), "inspector -- uv tool run --with 'mcp<2' weather"),
        (("pipx", "run", "weather"), "inspector -- pipx run --with 'mcp<2' weather"),
        (("uv", "run", "--with", "mcp", "server.py"), "inspector -- uv run --with 'mcp<2' --with mcp server.py"),
        (("uv", "--directory", "/src/weather", "run", "weather"), "uv add 'mcp<2'"),
        (("poetry", "run", "weather"), "poetry add 'mcp<2'"),
        (("docker", "run", "-i", "weather"), ""),
        (("sh", "run.sh"), "python -m pip install 'mcp<2'"),
    ],
)
def test_a_version_is_installed_where_the_server_looks_for_it(words: tuple[str, ...], fix: str) -> None:
    target = StdioTarget(words)
    server = ServerFacts(target, "/no/such/folder", {}, line_of(target, {}))
    known_cause = stderr_cause(["AttributeError: 'Server' object has no attribute 'list_tools'"], server)
    assert known_cause is not None
    assert known_cause.fix.command == typed(fix)
    assert fix or "RUN pip install 'mcp<2'" in known_cause.fix.text


@pytest.mark.parametrize(
    ("lines", "cause", "command", "folder"),
    [
        (
            [
                "Error: Cannot find module '../build/Release/keytar.node'",
                "Require stack:",
                "- /src/node_modules/keytar/lib/keytar.js",
                "    at require (node:internal/modules/helpers:182:18)",
            ],
            "The native part of keytar is missing: its install script did not run.",
            "npm rebuild keytar",
            "/src",
        ),
        (
            [
                "Error: Could not locate the bindings file. Tried:",
                " → /src/node_modules/better-sqlite3/build/better_sqlite3.node",
            ],
            "The native part of better-sqlite3 is missing: its install script did not run.",
            "npm rebuild better-sqlite3",
            "/src",
        ),
        (
            [
                "Error: No native build was found for platform=linux arch=x64 runtime=node abi=115",
                "    loaded from: /src/node_modules/.pnpm/@a+usb@2.1.0/node_modules/@a/usb",
            ],
            "The native part of @a/usb is missing: its install script did not run.",
            "pnpm approve-builds",
            "/src",
        ),
        (
            [
                "Error: The module '/src/node_modules/better-sqlite3/build/Release/better_sqlite3.node'",
                "was compiled against a different Node.js version using",
                "NODE_MODULE_VERSION 115. This version of Node.js requires",
                "    at bindings (/src/node_modules/bindings/bindings.js:112:48)",
            ],
            "The native part of better-sqlite3 was built for another version of Node.",
            "npm rebuild better-sqlite3",
            "/src",
        ),
    ],
)
def test_a_native_part_of_a_package_is_built_where_the_package_is(
    lines: list[str], cause: str, command: str, folder: str
) -> None:
    known_cause = stderr_cause(["before", *lines], SERVER)
    assert known_cause is not None
    assert (known_cause.cause, known_cause.fix.command) == (cause, command)
    assert Path(known_cause.fix.folder) == Path(folder)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "fatal Authentication required: Either A_XOXP_TOKEN, A_XOXB_TOKEN, or both A_XOXC_TOKEN and A_XOXD_TOKEN "
            "must be provided: see the docs",
            "It needs one of these environment variables, and none is set: "
            "A_XOXP_TOKEN, A_XOXB_TOKEN, A_XOXC_TOKEN, A_XOXD_TOKEN.",
        ),
        (
            "Please set A_TOKEN or A_PASSWORD",
            "It needs one of these environment variables, and none is set: A_TOKEN, A_PASSWORD.",
        ),
        ("A_TOKEN and A_SPACE are required", "It needs the environment variable A_TOKEN, which is not set."),
        ("A_TOKEN is not set or is empty", "It needs the environment variable A_TOKEN, which is not set."),
        (
            "Please set A_TOKEN or SHELL_ONLY_KEY",
            "It needs the environment variable SHELL_ONLY_KEY, which is set in this shell but not passed to the server.",
        ),
    ],
)
def test_variables_of_which_one_is_enough_are_all_named(line: str, cause: str) -> None:
    known_cause = stderr_cause([line], SERVER)
    assert known_cause is not None
    assert known_cause.cause == cause


def test_a_variable_that_this_shell_does_not_have_is_a_blank() -> None:
    target = StdioTarget(("weather",))
    known_cause = stderr_cause(["SHOP_KEY is required"], ServerFacts(target, "/srv", {}, line_of(target, {})))
    assert known_cause is not None
    assert known_cause.fix.command == "inspector --env SHOP_KEY=… -- weather"


def test_the_sdk_is_installed_in_the_version_that_the_source_imports() -> None:
    log = ["    from mcp.server.fastmcp import FastMCP", "ModuleNotFoundError: No module named 'mcp'"]
    known_cause = stderr_cause(log, ServerFacts(StdioTarget(("python3", "s.py")), "/srv", {}))
    assert known_cause is not None
    assert known_cause.fix.command == typed("python3 -m pip install 'mcp<2'")


def test_a_variable_is_passed_into_a_container_too() -> None:
    target = StdioTarget(("docker", "run", "-i", "--rm", "shop"))
    server = ServerFacts(target, "/srv", {"SHOP_KEY": "x"}, line_of(target, {}))
    known_cause = stderr_cause(["SHOP_KEY is required"], server)
    assert known_cause is not None
    assert known_cause.fix.command == "inspector --env SHOP_KEY -- docker run -e SHOP_KEY -i --rm shop"


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("ALL_PROXY", "socks5://p", "connect ECONNREFUSED 127.0.0.1:5432"),
        ("DOCKER_HOST", "tcp://h", "OPENAI_API_KEY is not set"),
        ("HTTPS_PROXY", "http://p:3128", "407 Proxy Authentication Required"),
        ("PYTHONPATH", "/no/such/folder", "ModuleNotFoundError: No module named 'httpx'"),
        ("AWS_CA_BUNDLE", "x", "certificate renewed"),
    ],
)
def test_a_variable_that_has_no_part_in_it_is_not_named(variable: str, value: str, line: str) -> None:
    known_cause = stderr_cause([line], SERVER._replace(environ={variable: value}))
    assert known_cause is None or variable not in known_cause.cause


@given(st.lists(st.text(max_size=300), max_size=20))
def test_any_last_words_are_survived(lines: list[str]) -> None:
    stderr_cause(lines, SERVER)
    Privacy(["secret"])("\n".join(lines))


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_any_noise_is_survived(lines: list[bytes]) -> None:
    noise(lines)


@pytest.mark.parametrize(
    "text",
    [
        "/home/" * 20_000,
        "KEY=" * 20_000,
        "A_" * 30_000,
        "missing " * 10_000,
        "http://" * 10_000,
        "No such file " * 5000,
    ],
)
def test_hostile_text_is_survived(text: str) -> None:
    assert len(Privacy(["secret"])(text)) <= 1 << 17
    stderr_cause([text] * 100, SERVER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in /home/ada/src and /Users/bob/x", "in /home/…/src and /Users/…/x"),
        (r"C:\Users\eve\server.py", r"C:\Users\…\server.py"),
        ("/me/at/home/src/x.py", "~/src/x.py"),
        ("/me/at/homely/x", "/me/at/homely/x"),
        ("Authorization: Bearer abcdefghij", "Authorization: ***"),
        ("got Bearer YWJjZGVmZ2hpag==", "got Bearer ***"),
        ('Bearer error="invalid_token", scope="a"', 'Bearer error="invalid_token", scope="a"'),
        ('{"x": "Bearer resource_metadata=\\"http://h/x\\""}', '{"x": "Bearer resource_metadata=\\"http://h/x\\""}'),
        ("https://u:pw@host/x?api_key=abcdef", "https://***@host/x?api_key=***"),
        ("export API_KEY=…", "export API_KEY=…"),
        ('--env KEY="$KEY"', '--env KEY="$KEY"'),
        ("the secret word", "the *** word"),
        (
            "a\n-----BEGIN PRIVATE KEY-----\nMIIBVAIB\n",
            "a\n‹redacted private key›\n‹redacted private key›\n‹redacted private key›",
        ),
        ("hf_" + "aB3" * 11, "***"),
        ("sent c2VjcmV0 in base64, cut secre…", "sent *** in base64, cut ***…"),
    ],
)
def test_privacy(text: str, expected: str) -> None:
    masked = Privacy(["secret"], home="/me/at/home")(text)
    assert masked == expected or (expected.startswith("Authorization") and "abcdefghij" not in masked)


def test_a_program_in_a_usual_folder_is_found_though_it_is_not_on_the_path(tmp_path: Path) -> None:
    folder = tmp_path / ".nvm" / "versions" / "node" / "v22.1.0" / "bin"
    folder.mkdir(parents=True)
    executable(folder / "nosuchnpx", "#!/bin/sh\n")
    assert programs.elsewhere("nosuchnpx", tmp_path, ".", {}) == str(folder / "nosuchnpx")
    assert programs.elsewhere("../nosuchnpx", tmp_path, ".", {}) is None


def test_a_slip_of_the_pen_is_recognised_and_no_more_than_that(tmp_path: Path) -> None:
    executable(tmp_path / "weatherd", "#!/bin/sh\n")
    assert programs.nearest("waetherd", str(tmp_path)) == "weatherd"
    assert programs.nearest("wombat", str(tmp_path)) == ""


def test_pretty_json_is_reported_from_text_that_begins_with_a_brace() -> None:
    pretty, text = noise([b"{", b'  "id": 1', b"}"]), noise([b"{starting}"])
    assert pretty is not None
    assert text is not None
    assert (pretty.kind, text.kind) == ("pretty", "text")


@pytest.mark.parametrize("keeps", [True, False])
def test_it_uses_kept_logins_only_if_the_command_does(keeps: bool) -> None:
    authorizer = Authorizer(AuthOptions(), web=EndpointSender, person=NoPerson(), keeps=keeps)
    used = without_person(Options(authorize=authorizer)).authorize
    assert isinstance(used, Authorizer)
    assert (used.store is not None) is keeps


async def test_it_says_that_it_does_not_log_in() -> None:
    authorizer = Authorizer(AuthOptions(), web=EndpointSender, person=NoPerson(), keeps=False)
    used = without_person(Options(authorize=authorizer)).authorize
    assert isinstance(used, Authorizer)
    with pytest.raises(AuthorizationNeeded, match=r"at as\.example, but the doctor does not log in\."):
        await used.person.consent("https://as.example/", "as.example", 0)


def test_advice_is_not_introduced_twice() -> None:
    diagnosis = Diagnosis("python server.py", "stdio", "failed", "It ends.", Fix("Try an older protocol."), ())
    assert "try: an older protocol." in list(lines(diagnosis))

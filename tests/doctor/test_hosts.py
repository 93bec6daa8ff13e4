"""Set-ups of hosts, from public reports. The cause is named first, and nothing on the disk changes.

A healthy set-up has no cause.

Each set-up names the report or the documentation that it is made from.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import inspector
from inspector.config import trust
from inspector.config.host_files.reading import passed_as_written
from inspector.config.host_files.table import Machine, host_named, hosts
from inspector.doctor.diagnosis import Diagnosis
from inspector.doctor.hosts import HostFolder, as_host_starts, survey
from inspector.doctor.run import of_entry
from inspector.errors import UsageError
from tests.config.host_files_page import PAGE, written
from tests.doctor.conftest import SHORT, Examine, executable, left_running, step
from tests.doctor.test_setups import tree


@dataclass(frozen=True)
class HostSetup:
    """The files of a host, in the home folder (`~/…`) or the project, and what the doctor has to say.

    `{home}` in texts is filled in. Every file `bin/NAME` is a program.
    """

    host: str
    report: str
    files: Mapping[str, Any]
    says: str
    """The beginning of the first sentence."""
    fix: tuple[str, ...] = ()
    """Parts of the fix."""
    shell: Mapping[str, str] = field(default_factory=dict)
    system: str = "linux"


PROGRAM = {"~/bin/weather": "#!/bin/sh\n"}
WEATHER = {"command": "{home}/bin/weather"}
DESKTOP = "~/.config/Claude/claude_desktop_config.json"
CLINE = "~/.cline/data/settings/cline_mcp_settings.json"


def servers(top: str = "mcpServers", **entries: Any) -> dict[str, Any]:
    return {top: entries}


BROKEN = {
    "a trailing comma": HostSetup(
        "claude-desktop", "TonybotNi/ZotLink#2",
        {DESKTOP: '{"mcpServers": {"weather": {"command": "{home}/bin/weather",}}}'},
        "Claude Desktop does not read ~/.config/Claude/claude_desktop_config.json: line 1, column",
        ("Remove the comma.",),
    ),
    "a byte order mark of PowerShell": HostSetup(
        "claude-desktop", "homeassistant-ai/ha-mcp#281",
        {DESKTOP: "\ufeff" + json.dumps(servers(weather=WEATHER))},
        "Claude Desktop does not read ~/.config/Claude/claude_desktop_config.json: line 1, column 1 has a byte order mark",
        ("Save it as UTF-8 without a byte order mark.",),
    ),
    "a URL": HostSetup(
        "claude-desktop", "sooperset/mcp-atlassian#503",
        {DESKTOP: servers(weather={"url": "http://localhost:9000/mcp"})},
        "Claude Desktop does not start @weather: it has “url”, and Claude Desktop starts only commands.",
        ("mcp-remote",),
    ),
    "a program of nvm": HostSetup(
        "claude-desktop", "modelcontextprotocol/servers#64",
        {DESKTOP: servers(weather={"command": "weather", "args": ["-y"]})},
        "@weather: The command “weather” is at {home}/bin/weather, which is on the PATH of this shell, but not on that of "
        "Claude Desktop.",
        ('"command": "{home}/bin/weather", "args": ["-y"]',),
        shell={"PATH": "{home}/bin:/usr/bin:/bin"},
    ),
    "a script in the folder of the project": HostSetup(
        "claude-desktop", "modelcontextprotocol.io/docs/tools/debugging",
        {DESKTOP: servers(weather={"command": "/bin/sh", "args": ["server.sh"]}), "server.sh": ""},
        "@weather: The file server.sh, which /bin/sh should run, is not in /.",
    ),
    "single backslashes in a path of Windows": HostSetup(
        "claude-desktop", "anthropics/claude-code#9461",
        {"~/AppData/Roaming/Claude/claude_desktop_config.json": '{"mcpServers": {"w": {"command": "C:\\tools\\w.exe"}}}'},
        "~/AppData/Roaming/Claude/claude_desktop_config.json, line 1, column",
        ("Write each backslash of a path twice.",), system="win32",
    ),
    "a URL without a type": HostSetup(
        "claude-code", "excalidraw/excalidraw-mcp#64",
        {".mcp.json": servers(weather={"url": "https://host.example/mcp"})},
        "Claude Code does not start @weather: it has “url” but no “type”.", ('Add "type": "http"',),
    ),
    "npx without a shell on Windows": HostSetup(
        "claude-code", "ericbuess/claude-code-docs docs/mcp.md",
        {".mcp.json": servers(weather={"command": "npx", "args": ["-y", "w"]})},
        "Claude Code does not start @weather: Windows does not start npx without a shell.", ('"/c", "npx"',),
        system="win32",
    ),
    "a file that is not read": HostSetup(
        "claude-code", "anthropics/claude-code#37245", {"~/.claude/mcp.json": servers(weather=WEATHER)},
        "Claude Code does not read ~/.claude/mcp.json.", ("Move its servers to",),
    ),
    "a variable in the form of Cursor": HostSetup(
        "claude-code", "hatch3r/hatch3r#19",
        {".mcp.json": servers(weather={**WEATHER, "env": {"KEY": "${env:WEATHER_KEY}"}})},
        "@weather: Claude Code passes “${env:WEATHER_KEY}” in variable KEY as it is written: it expands ${NAME}",
        ("Write the value",), shell={"WEATHER_KEY": "a-key-of-the-shell"},
    ),
    "the member of other hosts": HostSetup(
        "vscode", "genomoncology/biomcp#243", {".vscode/mcp.json": servers(weather=WEATHER)},
        "VS Code does not read “mcpServers” in {project}/.vscode/mcp.json: it reads “servers”.", ("“servers”",),
    ),
    "the member in small letters": HostSetup(
        "claude-code", "RFC 8259 § 8.3 (names are compared as written)", {".mcp.json": servers("mcpservers", weather=WEATHER)},
        "Claude Code does not read “mcpservers” in {project}/.mcp.json: it reads “mcpServers”.",
        ("Rename it to “mcpServers”.",),
    ),
    "the member in the singular": HostSetup(
        "claude-desktop", "RFC 8259 § 8.3", {DESKTOP: servers("mcp_server", weather=WEATHER)},
        "Claude Desktop does not read “mcp_server” in ~/.config/Claude/claude_desktop_config.json: it reads “mcpServers”.",
    ),
    "the member with a capital letter": HostSetup(
        "vscode", "RFC 8259 § 8.3", {".vscode/mcp.json": servers("Servers", weather=WEATHER)},
        "VS Code does not read “Servers” in {project}/.vscode/mcp.json: it reads “servers”.",
    ),
    "no member": HostSetup(
        "claude-code", "ericbuess/claude-code-docs docs/mcp.md", {".mcp.json": {"weather": WEATHER, "far": {"url": "https://h.example/mcp"}}},
        "Claude Code does not read servers at the top level of {project}/.mcp.json: it reads “mcpServers”.",
        ("Move them to “mcpServers”.",),
    ),
    "a command with a capital letter": HostSetup(
        "claude-desktop", "RFC 8259 § 8.3", {DESKTOP: servers(weather={"Command": "{home}/bin/weather"})},
        "Claude Desktop does not start @weather: it has “Command”, and Claude Desktop reads “command”.",
        ("Rename “Command” to “command”.",),
    ),
    "a URL in capital letters": HostSetup(
        "windsurf", "RFC 8259 § 8.3", {"~/.codeium/windsurf/mcp_config.json": servers(weather={"URL": "https://h.example/mcp"})},
        "Windsurf does not start @weather: it has “URL”, and Windsurf reads “url”.",
    ),
    "variables in capital letters": HostSetup(
        "cursor", "RFC 8259 § 8.3", {"~/.cursor/mcp.json": servers(weather={**WEATHER, "ENV": {"A": "1"}})},
        "@weather: The server does not get its variables: they are in “ENV”, and Cursor reads “env”.",
    ),
    "arguments with a capital letter": HostSetup(
        "cursor", "RFC 8259 § 8.3", {"~/.cursor/mcp.json": servers(weather={**WEATHER, "Args": ["a"]})},
        "@weather: The server does not get its arguments: they are in “Args”, and Cursor reads “args”.",
        ("Rename “Args” to “args”.",),
    ),
    "headers with a capital letter": HostSetup(
        "claude-code", "RFC 8259 § 8.3",
        {".mcp.json": servers(weather={"type": "http", "url": "https://h.example/mcp", "Headers": {"X-Key": "1"}})},
        "@weather: The server does not get its headers: they are in “Headers”, and Claude Code reads “headers”.",
    ),
    "headers of other hosts": HostSetup(
        "codex", "openai/codex codex-rs/config/src/mcp_types.rs@00b17c2",
        {"~/.codex/config.toml": '[mcp_servers.weather]\nurl = "https://h.example/mcp"\nheaders = {X-Key = "1"}\n'},
        "@weather: The server does not get its headers: they are in “headers”, and Codex reads “http_headers”.",
    ),
    "settings in mcp.json": HostSetup(
        "vscode", "MarcSkovMadsen/holoviz-mcp#18", {".vscode/mcp.json": {"mcp": servers("servers", weather=WEATHER)}},
        "VS Code does not read “mcp.servers” in {project}/.vscode/mcp.json: it reads “servers”.",
    ),
    "the URL of Windsurf": HostSetup(
        "cursor", "newtalaria/docs mcp/windsurf.md",
        {"~/.cursor/mcp.json": servers(weather={"serverUrl": "https://host.example/mcp"})},
        "Cursor does not start @weather: it has “serverUrl”, and Cursor reads “url”.", ("Rename “serverUrl” to “url”.",),
    ),
    "the servers of another table": HostSetup(
        "codex", "openai/codex#3441", {"~/.codex/config.toml": '[mcp.servers.weather]\ncommand = "{home}/bin/weather"\n'},
        "Codex does not read “mcp.servers” in ~/.codex/config.toml: it reads “mcp_servers”.",
    ),
    "a JSON file of Codex": HostSetup(
        "codex", "fabiandistler/lintrhelper#17", {".codex/mcp.json": servers(weather=WEATHER)},
        "Codex does not read {project}/.codex/mcp.json.", ("config.toml",),
    ),
    "an extension without a name": HostSetup(
        "goose", "DeusData/codebase-memory-mcp#1675",
        {"~/.config/goose/config.yaml": "extensions:\n  weather:\n    type: stdio\n    cmd: {home}/bin/weather\n    enabled: true\n"},
        "Goose does not start @weather: it has no “name”.", ("Add a “name”",),
    ),
    "variables in env": HostSetup(
        "opencode", "anomalyco/opencode#26332",
        {"opencode.json": servers("mcp", weather={"type": "local", "command": ["{home}/bin/weather"], "env": {"A": "1"}})},
        "@weather: The server does not get its variables: they are in “env”, and opencode reads “environment”.",
    ),
    "a type of another host": HostSetup(
        "cline", "cline/cline apps/vscode/src/services/mcp/schemas.ts",
        {CLINE: servers(weather=WEATHER, far={"type": "http", "url": "https://host.example/mcp"})},
        "Cline does not read ~/.cline/data/settings/cline_mcp_settings.json: of @far, “type” is none of",
        ('"streamableHttp"',),
    ),
    "a comment": HostSetup(
        "copilot-cli", "github/copilot-cli#4323",
        {".mcp.json": '{"mcpServers": {\n  // for tests\n  "weather": {"type": "stdio", "command": "{home}/bin/weather"}}}'},
        "Copilot CLI does not read {project}/.mcp.json: line 2, column 3 has a comment",
    ),
    "a comma where comments may be": HostSetup(
        "gemini-cli", "google-gemini/gemini-cli packages/cli/src/config/settings.ts",
        {"~/.gemini/settings.json": '{"mcpServers": {"weather": {"command": "{home}/bin/weather"},} // all\n}'},
        "Gemini CLI does not read ~/.gemini/settings.json: line 1, column",
    ),
    "a variable that is not set": HostSetup(
        "gemini-cli", "google-gemini/gemini-cli docs/tools/mcp-server.md",
        {"~/.gemini/settings.json": servers(weather={**WEATHER, "env": {"KEY": "$WEATHER_KEY"}})},
        "@weather needs WEATHER_KEY, which is not set in this shell.",
    ),
    "~ in the command": HostSetup(
        "zed", "hyper-mcp-rs/hyper-mcp#3",
        {"~/.config/zed/settings.json": servers("context_servers", weather={"command": "~/bin/weather", "args": []})},
        "@weather: No program exists at ~/bin/weather: no shell starts the server",
    ),
    "one name twice": HostSetup(
        "cursor", "RFC 8259 § 4",
        {"~/.cursor/mcp.json": '{"mcpServers": {"weather": {"command": "x"}, "weather": {"command": "{home}/bin/weather"}}}'},
        "~/.cursor/mcp.json has “weather” twice in one object: only the last one counts.",
    ),
    "a program that does not exist, beside a reference in the file of a project": HostSetup(
        "cursor",
        "anthropics/claude-code#38381",
        {".cursor/mcp.json": servers(weather={"command": "/opt/gone/weather", "env": {"KEY": "${env:WEATHER_KEY}"}})},
        "@weather: No program exists at /opt/gone/weather.",
        shell={"WEATHER_KEY": "a-key-of-the-shell"},
    ),
    "UTF-16": HostSetup(
        "kiro", "anthropics/claude-code#84501 (PowerShell)",
        {"~/.kiro/settings/mcp.json": json.dumps(servers(weather=WEATHER)).encode("utf-16")},
        "~/.kiro/settings/mcp.json cannot be read: it is UTF-16.", ("Save it as UTF-8",),
    ),
}  # fmt: skip
HEALTHY = {
    "absolute paths, and one switched off": HostSetup(
        "claude-desktop", "modelcontextprotocol.io/docs/tools/debugging",
        {DESKTOP: servers(weather=WEATHER, old={**WEATHER, "disabled": True})},
        "Claude Desktop would start 1 of 2 servers.",
    ),
    "the project before the user": HostSetup(
        "claude-code", "ericbuess/claude-code-docs docs/mcp.md",
        {".mcp.json": servers(weather=WEATHER), "~/.claude.json": servers(weather={"command": "gone"}, far={"type": "http", "url": "https://h.example/mcp"})},
        "Claude Code would start 2 of 3 servers.",
    ),
    "a server of one project, and a list that switches off": HostSetup(
        "claude-code", "ericbuess/claude-code-docs docs/mcp.md",
        {
            "~/.claude.json": {"projects": {"{project}": servers(weather={**WEATHER, "env": {"A": "${A:-1}"}})}},
            ".mcp.json": servers(other={"command": "gone"}),
            ".claude/settings.local.json": {"disabledMcpjsonServers": ["other"]},
        },
        "Claude Code would start 1 of 2 servers.",
    ),
    "an old member in a settings file": HostSetup(
        "claude-code", "ersatzben/maxmsp-mcp#2",
        {"~/.claude.json": servers(weather=WEATHER), "~/.claude/settings.json": servers(weather=WEATHER)},
        "Claude Code would start 1 of 1 server.",
    ),
    "a byte order mark that is accepted": HostSetup(
        "claude-code", "anthropics/claude-code#81355", {".mcp.json": "\ufeff" + json.dumps(servers(weather=WEATHER))},
        "Claude Code would start 1 of 1 server.",
    ),
    "comments, commas, ~ and inputs": HostSetup(
        "vscode", "microsoft/vscode src/vs/workbench/api/node/extHostMcpNode.ts",
        {".vscode/mcp.json": '{"inputs": [{"id": "key", "type": "promptString"}], // all\n"servers": {"weather": {"command": "~/bin/weather", "args": ["~/data"], "env": {"KEY": "${input:key}"},},},}'},
        "VS Code would start 1 of 1 server.",
    ),
    "a shell that expands": HostSetup(
        "vscode", "microsoft/vscode-docs docs/agents/reference/mcp-configuration.md",
        {".vscode/mcp.json": servers("servers", weather={"command": "sh", "args": ["-c", "exec ${HOME}/bin/weather"]})},
        "VS Code would start 1 of 1 server.",
    ),
    "variables of Cursor": HostSetup(
        "cursor", "vanillagreencom/kendex#2184",
        {"~/.cursor/mcp.json": servers(weather={"command": "${userHome}/bin/weather", "env": {"KEY": "${env:WEATHER_KEY}"}})},
        "Cursor would start 1 of 1 server.", shell={"WEATHER_KEY": "a-key-of-the-shell"},
    ),
    "a comment and a list of excluded servers": HostSetup(
        "gemini-cli", "google-gemini/gemini-cli#4135",
        {"~/.gemini/settings.json": '{"mcp": {"excluded": ["old"]}, // off\n"mcpServers": {"weather": {"command": "{home}/bin/weather", "env": {"KEY": "$WEATHER_KEY"}}, "old": {"command": "gone"}}}'},
        "Gemini CLI would start 1 of 2 servers.", shell={"WEATHER_KEY": "a-key-of-the-shell"},
    ),
    "variables of Codex": HostSetup(
        "codex", "openai/codex codex-rs/config/src/mcp_types.rs",
        {"~/.codex/config.toml": '[mcp_servers.weather]\ncommand = "{home}/bin/weather"\nenv_vars = ["WEATHER_KEY"]\nstartup_timeout_sec = 20\n'},
        "Codex would start 1 of 1 server.", shell={"WEATHER_KEY": "a-key-of-the-shell"},
    ),
    "opencode with comments": HostSetup(
        "opencode", "anomalyco/opencode packages/web/src/content/docs/mcp-servers.mdx",
        {"opencode.jsonc": '{"mcp": {"weather": {"type": "local", "command": ["{home}/bin/weather"], "environment": {"A": "{env:HOME}"}}, // on\n"old": {"type": "local", "command": ["gone"], "enabled": false},}}'},
        "opencode would start 1 of 2 servers.",
    ),
    "Goose": HostSetup(
        "goose", "block/goose documentation/docs/guides/config-files.md",
        {"~/.config/goose/config.yaml": "extensions:\n  weather:\n    type: stdio\n    name: weather\n    cmd: {home}/bin/weather\n    enabled: true\n    env: {}\n"},
        "Goose would start 1 of 1 server.",
    ),
    "the workspace before the user, and a switch": HostSetup(
        "kiro", "kiro.dev/docs/mcp/configuration",
        {".kiro/settings/mcp.json": servers(weather=WEATHER), "~/.kiro/settings/mcp.json": servers(weather={"command": "gone"}, old={"command": "gone", "disabled": True})},
        "Kiro would start 1 of 3 servers.",
    ),
    "both forms of a transport": HostSetup(
        "cline", "cline/cline apps/vscode/src/services/mcp/schemas.ts",
        {CLINE: servers(far={"type": "streamableHttp", "url": "https://h.example/mcp"}, near={"transport": {"type": "stdio", "command": "{home}/bin/weather"}, "disabled": False})},
        "Cline would start 2 of 2 servers.",
    ),
    "a project with the file of VS Code, too": HostSetup(
        "copilot-cli", "github/copilot-cli#4542",
        {".mcp.json": servers(weather={**WEATHER, "type": "local", "tools": ["*"], "env": {"A": "${A:-1}"}}), ".vscode/mcp.json": servers("servers", other=WEATHER)},
        "Copilot CLI would start 1 of 1 server.",
    ),
    "a server of an extension of Zed": HostSetup(
        "zed", "zed-industries/zed crates/project/src/project_settings.rs",
        {"~/.config/zed/settings.json": '{"context_servers": {"weather": {"source": "custom", "command": "{home}/bin/weather", "args": [],},}, // mine\n}'},
        "Zed would start 1 of 1 server.",
    ),
    "both URLs of Windsurf": HostSetup(
        "windsurf", "codeium.mintlify.app/windsurf/cascade/mcp",
        {"~/.codeium/windsurf/mcp_config.json": servers(a={"serverUrl": "https://h.example/mcp"}, b={"url": "https://h.example/mcp"})},
        "Windsurf would start 2 of 2 servers.",
    ),
    "LM Studio": HostSetup(
        "lm-studio", "lmstudio.ai/docs/app/mcp", {"~/.lmstudio/mcp.json": servers(weather=WEATHER)},
        "LM Studio would start 1 of 1 server.",
    ),
    "Continue": HostSetup(
        "continue", "continuedev/continue docs/reference.mdx",
        {"~/.continue/config.yaml": "mcpServers:\n  - name: weather\n    command: {home}/bin/weather\n    connectionTimeout: 5000\n"},
        "Continue would start 1 of 1 server.",
    ),
    "a switch in the project for an entry of the user": HostSetup(
        "opencode",
        "anomalyco/opencode packages/web/src/content/docs/mcp-servers.mdx",
        {
            "opencode.json": servers("mcp", weather={"enabled": False}),
            "~/.config/opencode/opencode.json": servers("mcp", weather={"type": "local", "command": ["gone"]}),
        },
        "opencode would start 0 of 1 server.",
    ),
    "a key in the keyring of Goose": HostSetup(
        "goose",
        "block/goose documentation/docs/guides/config-files.md",
        {
            "~/.config/goose/config.yaml": "extensions:\n  weather:\n    type: stdio\n    name: weather\n    cmd: {home}/bin/weather\n    env_keys: [WEATHER_KEY]\n"
        },
        "Goose would start 1 of 1 server.",
    ),
    "an extension of Zed, and a setting that is there twice": HostSetup(
        "zed",
        "zed-industries/zed crates/project/src/project_settings.rs",
        {
            "~/.config/zed/settings.json": '{"theme": "a", "theme": "b", "context_servers": {"x": {"source": "extension", "enabled": true, "settings": {}}, "weather": {"command": "{home}/bin/weather", "args": []}}}'
        },
        "Zed would start 1 of 1 server.",
    ),
    "a setting that looks like a server": HostSetup(
        "gemini-cli",
        "google-gemini/gemini-cli packages/cli/src/config/settings.ts",
        {"~/.gemini/settings.json": {"discovery": {"command": "x"}}},
        "Gemini CLI has no servers here.",
    ),
    "a file with inputs only": HostSetup(
        "vscode",
        "microsoft/vscode-docs docs/agents/reference/mcp-configuration.md",
        {".vscode/mcp.json": {"inputs": [], "servers": {}}},
        "VS Code has no servers here.",
    ),
    "a socket": HostSetup(
        "vscode",
        "microsoft/vscode-docs docs/agents/reference/mcp-configuration.md",
        {".vscode/mcp.json": servers("servers", weather={"type": "http", "url": "unix:///tmp/server.sock"})},
        "VS Code has no servers here.",
    ),
    "no file": HostSetup("lm-studio", "lmstudio.ai/docs/app/mcp", {}, "LM Studio has no servers here."),
}  # fmt: skip


@pytest.fixture
def project(home: Path) -> Path:
    folder = home / "src" / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def place(setup: HostSetup, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> HostFolder:
    """Writes the files and sets the variables of a set-up."""

    def filled(text: str) -> str:
        return text.replace("{home}", home.as_posix()).replace("{project}", project.as_posix())

    for name, content in (PROGRAM | dict(setup.files)).items():
        path = home / name[2:] if name.startswith("~/") else project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
            continue
        text = filled(content if isinstance(content, str) else json.dumps(content))
        executable(path, text) if path.parent.name == "bin" else path.write_text(text, encoding="utf-8")
    for variable in ("XDG_CONFIG_HOME", "APPDATA", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "CLINE_DIR", "CLINE_DATA_DIR"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in setup.shell.items():
        monkeypatch.setenv(variable, filled(value))
    return HostFolder(host_named(setup.host), Machine(home, os.environ, setup.system), project)


def public(text: str, home: Path, project: Path) -> str:
    """The text with its folders as a report shows them, but with “/” in paths."""
    return text.replace("{home}", "~").replace("{project}", project.as_posix()).replace(home.as_posix(), "~")


def with_slashes(text: str) -> str:
    """A text of this system with the paths of POSIX."""
    return text.replace(os.sep, "/")


def surveyed(name: str, setup: HostSetup, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Diagnosis:
    where = place(setup, home, project, monkeypatch)
    before = tree(home)
    diagnosis = survey(where)
    assert tree(home) == before
    assert "a-key-of-the-shell" not in json.dumps(diagnosis.as_json())
    return diagnosis


@pytest.mark.parametrize("name", BROKEN)
def test_the_cause_of_a_broken_set_up_is_named_first(
    name: str, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = BROKEN[name]
    diagnosis = surveyed(name, setup, home, project, monkeypatch)
    assert with_slashes(diagnosis.cause).startswith(public(setup.says, home, project)), diagnosis.cause
    for part in setup.fix:
        assert public(part, home, project) in with_slashes(diagnosis.fix.hint.command_line + diagnosis.fix.command)
    assert (diagnosis.outcome, diagnosis.exit_code) == ("fails", 4)


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_set_up_has_no_cause(name: str, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    diagnosis = surveyed(name, HEALTHY[name], home, project, monkeypatch)
    assert diagnosis.cause == HEALTHY[name].says, [one.as_json() for one in diagnosis.steps]
    assert (diagnosis.outcome, diagnosis.exit_code) == ("starts", 0)
    assert {one.verdict for one in diagnosis.steps} <= {"ok", "skipped", "info"}


# An entry, started as its host starts it

ENDS = "raise SystemExit(1)\n"
NEEDS = "import os\nos.environ['WEATHER_TOKEN']\n"
STARTED = {
    "Claude Desktop passes few variables": (
        HostSetup("claude-desktop", "", {DESKTOP: servers(weather={"command": "{python}", "args": ["{home}/s.py"], "env": {"A": "1"}})}, ""),
        ENDS, {"A", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"},
    ),
    "Codex passes eleven, and those that the entry names": (
        HostSetup("codex", "", {"~/.codex/config.toml": '[mcp_servers.weather]\ncommand = "{python}"\nargs = ["{home}/s.py"]\nenv_vars = ["WEATHER_TOKEN"]\n'}, ""),
        ENDS, {"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "WEATHER_TOKEN"},
    ),
    "Claude Code passes all": (
        HostSetup("claude-code", "", {"~/.claude.json": servers(weather={"command": "{python}", "args": ["{home}/s.py"]})}, ""),
        ENDS, {"HOME", "PATH", "WEATHER_TOKEN", "WEATHER_UNIT"},
    ),
    "Gemini CLI passes none that is named like a secret": (
        HostSetup("gemini-cli", "", {"~/.gemini/settings.json": servers(weather={"command": "{python}", "args": ["{home}/s.py"]})}, ""),
        ENDS, {"HOME", "PATH", "WEATHER_UNIT"},
    ),
}  # fmt: skip
SHELL = {"WEATHER_TOKEN": "a-key-of-the-shell", "WEATHER_UNIT": "metric", "LOGNAME": "ada", "USER": "ada", "TERM": "x",
         "SHELL": "/bin/sh", "TZ": "UTC", "TMPDIR": "/tmp", "LANG": "C"}  # fmt: skip


def started(
    setup: HostSetup, source: str, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, **more: str
) -> tuple[HostFolder, Any]:
    (home / "s.py").write_text(source)
    text = json.dumps(dict(setup.files)).replace("{python}", sys.executable)
    where = place(replace(setup, files=json.loads(text), shell=SHELL | more), home, project, monkeypatch)
    return where, as_host_starts(where, "@weather", consent=trust.always)


@pytest.mark.slow
@pytest.mark.parametrize("name", STARTED)
async def test_an_entry_gets_the_variables_that_its_host_passes(
    name: str, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, examine: Any
) -> None:
    setup, source, variables = STARTED[name]
    where, entry = started(setup, source, home, project, monkeypatch)
    await examine(entry.target, entry=entry, limits=SHORT)
    spawned = next(event for event in examine.journal.events() if event.fields.get("event") == "spawn")
    got = set(spawned.fields["env"]) - {"INSPECTOR_CHILD"}
    if where.host.rule("passes") in ("sdk", "codex"):
        assert got == variables
    else:
        assert variables <= got
        assert ("WEATHER_TOKEN" in got) == ("WEATHER_TOKEN" in variables)
    assert left_running(examine) == []


@pytest.mark.slow
async def test_a_variable_that_the_host_does_not_pass_is_the_cause(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, examine: Examine
) -> None:
    setup, _, _ = STARTED["Gemini CLI passes none that is named like a secret"]
    _, entry = started(setup, NEEDS, home, project, monkeypatch)
    diagnosis = await examine(entry.target, entry=entry, limits=SHORT)
    assert diagnosis.cause == (
        "It needs the environment variable WEATHER_TOKEN, which is set in this shell but not passed to the server."
    )
    assert diagnosis.fix.text == "Add it to the variables of the entry."


@pytest.mark.slow
async def test_an_entry_that_its_host_can_start_connects(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, examine: Examine
) -> None:
    root = str(Path(inspector.__file__).parents[1])
    entry = {"command": sys.executable, "args": ["-m", "inspector.demo"], "env": {"PYTHONPATH": root}}
    setup = HostSetup("vscode", "", {".vscode/mcp.json": servers("servers", weather=entry)}, "")
    _, examined = started(setup, "", home, project, monkeypatch)
    diagnosis = await examine(examined.target, entry=examined, limits=SHORT)
    assert diagnosis.outcome == "connects", diagnosis.cause
    assert step(diagnosis, "folder").text == public("{project}", home, project)
    assert step(diagnosis, "host").text == "as VS Code starts it"


def test_an_entry_that_its_host_does_not_start_is_not_started(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = HostSetup("claude-code", "", {".mcp.json": servers(weather={"url": "https://h.example/mcp"})}, "")
    entry = as_host_starts(place(setup, home, project, monkeypatch), "@weather")
    assert entry.target is None
    assert of_entry(entry).cause == "Claude Code does not start @weather: it has “url” but no “type”."


def test_only_servers_of_the_organization_are_used(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    managed = home / "managed" / "managed-mcp.json"
    managed.parent.mkdir()
    managed.write_text(json.dumps(servers(weather={"type": "http", "url": "https://h.example/mcp"})))
    path = Machine.path
    monkeypatch.setattr(
        Machine, "path", lambda self, template, *rest: managed if "managed" in template else path(self, template, *rest)
    )
    setup = HostSetup("claude-code", "anthropics/claude-code#39361", {".mcp.json": servers(other=WEATHER)}, "")
    diagnosis = survey(place(setup, home, project, monkeypatch))
    assert diagnosis.cause == "Claude Code would start 1 of 2 servers."
    assert step(diagnosis, "@other").text.startswith("Claude Code does not start @other: your organization allows only")


def test_the_page_has_the_facts_of_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["${X", "${env:A}", "~/x", "npx"]),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(["mcpServers", "servers", "mcp", "command", "args", "env", "url", "type", "disabled", "transport",
                         "timeout", "projects", "excluded", "inputs", "context_servers", "headers", "a:b"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.dictionaries(st.sampled_from(["mcpServers", "servers", "mcp", "context_servers"]), VALUES, max_size=3)
)
def test_no_content_of_a_file_stops_the_examination(home: Path, content: Any) -> None:
    machine = Machine(home, {"PATH": "/usr/bin"}, "linux")
    for host in hosts():
        for file in HostFolder(host, machine, home / "p").files[:1]:
            if file.path.is_relative_to(home) and file.path.suffix in (".json", ".jsonc"):
                file.path.parent.mkdir(parents=True, exist_ok=True)
                file.path.write_text(json.dumps(content))
                assert survey(HostFolder(host, machine, home / "p")).cause
                file.path.unlink()


def test_an_entry_of_another_person_does_not_get_the_variables_of_the_shell_unasked(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = {"WEATHER_TOKEN": "a-key-of-the-shell"}
    setup = HostSetup(
        "claude-code", "", {".mcp.json": servers(weather={"command": "{home}/bin/weather"})}, "", shell=shell
    )
    where = place(setup, home, project, monkeypatch)
    refused = as_host_starts(where, "@weather")
    assert (refused.target, of_entry(refused).outcome) == (None, "trust")
    assert "uses environment variable WEATHER_TOKEN in the environment" in "\n".join(refused.exposure.facts())
    allowed = as_host_starts(where, "@weather", consent=trust.always).target
    assert allowed.starter.environ["WEATHER_TOKEN"] == "a-key-of-the-shell"
    assert "a-key-of-the-shell" in allowed.secrets


def test_each_host_of_the_table_has_files_members_and_a_source() -> None:
    for host in hosts():
        assert {"files", "servers", "keys"} <= host.facts.keys(), host.id
        for fact in host.facts.values():
            assert fact.source
            assert fact.what
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", fact.date)


@pytest.mark.parametrize(
    ("system", "path"),
    [
        ("linux", "/home/ada/.config/Claude/claude_desktop_config.json"),
        ("darwin", "/home/ada/Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "D:/Roaming/Claude/claude_desktop_config.json"),
    ],
)
def test_a_path_is_that_of_the_system(system: str, path: str) -> None:
    environ = {"APPDATA": "D:/Roaming"}
    (file,) = HostFolder(host_named("claude-desktop"), Machine(Path("/home/ada"), environ, system), Path("/x")).files
    assert file.path == Path(path)


def test_a_file_that_is_none_is_named(home: Path) -> None:
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").symlink_to("gone.json")
    where = HostFolder(host_named("cursor"), Machine(home, {}, "linux"), home / "p")
    assert where.is_used
    assert survey(where).cause == "~/.cursor/mcp.json cannot be read: the link has no target."


def test_many_references_are_looked_at_once_each() -> None:
    """With one look at all of them for each, an entry of 700 kB would take hours."""
    host = host_named("claude-code")
    assert passed_as_written(host, {"command": "x", "args": ["${HOME}" * 100_000]}) is None
    remark = passed_as_written(host, {"command": "x", "args": ["${HOME}" * 100_000 + "${env:A}"]})
    assert remark is not None
    assert remark.text.startswith("Claude Code passes “${env:A}” in ")


def test_an_unknown_host_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="curser is not a host") as caught:
        host_named("curser")
    assert "cursor" in str(caught.value.hint)

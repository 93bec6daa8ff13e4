"""The pages of `inspector help TOPIC`: short manuals on subjects that several verbs share."""

from __future__ import annotations

from typing import NamedTuple


class HelpTable(NamedTuple):
    """A titled list of (syntax, meaning)."""

    title: str
    rows: tuple[tuple[str, str], ...]


class HelpTopic(NamedTuple):
    """One page: a line for the list of topics, an introduction, tables, and closing paragraphs."""

    summary: str
    about: str
    tables: tuple[HelpTable, ...]
    notes: tuple[str, ...] = ()


class HelpPage(NamedTuple):
    """A page of `docs/how-to` that help prints as it is."""

    summary: str
    file: str


EXIT_CODES = (
    ("0", "Success"),
    ("1", "The server returned an error, or the tool failed (isError)"),
    ("2", "Wrong usage, or a file that cannot be read or written"),
    ("3", "Authorization is required or failed, or a config file needs --trust"),
    ("4", "The connection failed, closed or timed out"),
    ("5", "A comparison or check found differences"),
    ("130", "Interrupted"),
)

HOSTS = (
    ("claude-api", "Claude Messages API"),
    ("claude-code", "Claude Code"),
    ("claude-apps", "claude.ai and Claude Desktop"),
    ("claude-directory", "Claude connectors directory (review)"),
    ("claude", "Claude, advice"),
    ("openai-chat", "OpenAI Chat Completions and what is shaped like it (Azure, many gateways)"),
    ("openai-responses", "OpenAI Responses API"),
    ("openai-strict", "OpenAI strict mode"),
    ("openai", "OpenAI, all"),
    ("chatgpt", "ChatGPT"),
    ("chatgpt-directory", "ChatGPT apps and plugins (review)"),
    ("openai-agents-sdk", "OpenAI Agents SDK"),
    ("gemini-api", "Gemini API"),
    ("gemini-sdk", "Google Gen AI library"),
    ("gemini-cli", "Gemini CLI"),
    ("gemini", "Gemini, advice"),
    ("cursor", "Cursor"),
    ("windsurf", "Windsurf (Devin Desktop)"),
    ("vscode", "VS Code"),
    ("copilot-chat", "GitHub Copilot in VS Code"),
    ("copilot-cli", "GitHub Copilot CLI"),
    ("zed", "Zed"),
    ("codex", "Codex CLI"),
    ("opencode", "opencode"),
    ("cline", "Cline"),
    ("amazon-q", "Amazon Q Developer CLI (maintenance; Kiro CLI follows it)"),
    ("kiro", "Kiro"),
    ("bedrock", "Amazon Bedrock Converse"),
    ("litellm", "LiteLLM"),
)
"""The hosts of `inspector/hosts/facts.json`, which help must not load."""

TOPICS: dict[str, HelpTopic | HelpPage] = {
    "filters": HelpTopic(
        "Select messages of a session or recording",
        "A filter selects events of a session. Type it after / in the message log, or pass it to "
        "`inspector export --filter`. Case is ignored.",
        (
            HelpTable(
                "Terms",
                (
                    ("text", "Messages that contain this text"),
                    ('"two words"', "Messages that contain this text with its spaces"),
                    ("method:tools/*", "Method; * is any text, ? is any character"),
                    ("name:echo", "Tool, prompt or resource URI that a request names"),
                    ("id:7", "JSON-RPC id, with its progress and cancellation"),
                    (
                        "kind:notification",
                        "request, answer, result, error, notification, batch, or a kind of event: "
                        "rpc, invalid, stderr, http, sse, life, auth, note",
                    ),
                    ("dir:recv", "Direction: send, recv or local"),
                    ("status:error", "State of a request: pending, done, error, cancelled, timeout, late, …"),
                    ("status:5xx", "HTTP status"),
                    ("duration:>500ms", "Time from the request to its response"),
                    ("size:1k-20k", "Size in bytes"),
                    ("time:>2s", "Time since the start of the session; time:13:00-13:05 is clock time"),
                    ("n:100-200", "Event numbers"),
                    ("ch:post-7", "Channel, such as one HTTP request"),
                    ("exchange:9", "Everything that belongs to the request with id 9; exchange:#1204 takes an event"),
                    ("phase:negotiation", "Events before the session was initialized"),
                    ("run:orders.yaml", "Messages of the runs of a flow of saved calls; orders.yaml#2: the second one"),
                    ("finding:BASE-02", "Findings of a rule; finding:must of a level; finding:* of any"),
                    ("mark:*", "Messages that you marked; mark:late: those whose note contains a text"),
                ),
            ),
            HelpTable(
                "Combine terms",
                (
                    ("dir:recv size:>1k", "Both terms match"),
                    ("name:echo | name:add", "Either term matches; `or` works too"),
                    ("-method:ping", "The term does not match"),
                    ("(name:echo | name:add) finding:*", "Parentheses group terms"),
                ),
            ),
            HelpTable(
                "Examples",
                (
                    ("method:tools/call status:error duration:>500ms", "Slow tool calls that failed"),
                    ("kind:notification -method:notifications/progress", "Notifications except progress"),
                    ('dir:recv "rate limit"', "Messages from the server about rate limits"),
                ),
            ),
        ),
    ),
    "paths": HelpTopic(
        "Name values in a message",
        "A path names values in a message. --ignore, --unordered and --tolerance of diff, rerun and bisect take "
        "paths, and so does `inspector redact --rule`.",
        (
            HelpTable(
                "Steps",
                (
                    ("$", "The whole message (not for redact)"),
                    ("$.result", "A member"),
                    ('$["any name"]', "A member with any name"),
                    ("$.items[3]", "The item with index 3; the first is 0"),
                    ("$.items[*]", "Every item; $.items.* is the same"),
                    ("$.api*", "Members whose names start with api"),
                    ("$..token", "Members named token at any depth"),
                    ("/result/items/0", "The same as a JSON pointer (RFC 6901): * is one step, ** any number"),
                ),
            ),
            HelpTable(
                "Limit a path to certain messages (not for redact)",
                (
                    ("tools/call:$.result", "Requests and responses with this method"),
                    ("tools/call now:$.result", "Calls of the tool now; * matches any text in both"),
                ),
            ),
            HelpTable(
                "Examples",
                (
                    ("$.result.content[*].text", "The text of every content block"),
                    ("$.params.arguments.password", "One argument of a tool call"),
                    ("/result/structuredContent/**/updatedAt", "Every updatedAt in the structured content"),
                ),
            ),
        ),
        ("Quote paths in a shell: --ignore '$.result.content[*].text'.",),
    ),
    "targets": HelpTopic(
        "Name a server or a recording",
        "TARGET names what to open. Options go before a command: everything after the command's first word, or after "
        "--, is part of the command.",
        (
            HelpTable(
                "Forms",
                (
                    ("python server.py", "Start this command and talk to it over stdio"),
                    ("-- ./tools --json", "The same; every word after -- is part of the command"),
                    (
                        "https://host.example/mcp",
                        "Connect to this URL over Streamable HTTP, or SSE if the server is older",
                    ),
                    ("@everything", "Server from a config file: inspector.json, and those of known MCP clients"),
                    ("@everything:inspector.json", "The same, from the file whose path contains inspector.json"),
                    ("session.mcp.jsonl", "Recording; `inspector recordings` lists the kept ones"),
                ),
            ),
            HelpTable(
                "Options for a command",
                (
                    ("--env NAME", "Give it this variable of your shell; it gets few without"),
                    ("--env NAME=VALUE", "Set an environment variable"),
                    ("--env-file FILE", "Give it the variables in a .env file"),
                    ("--inherit-env", "Give it all variables of your shell, secrets too"),
                    ("--cwd DIR", "Start it in this directory"),
                ),
            ),
            HelpTable(
                "Options for a URL",
                (
                    ("--header 'NAME: VALUE'", "Send this HTTP header with every request"),
                    ("--transport sse", "Use the HTTP+SSE transport of revision 2024-11-05"),
                    ("--no-verify", "Do not verify the TLS certificate"),
                ),
            ),
        ),
        ("`inspector servers` lists configured servers with the word that opens each one.",),
    ),
    "exit-codes": HelpTopic(
        "Meaning of the exit codes",
        "Every verb uses the same exit codes.",
        (
            HelpTable("Exit codes", EXIT_CODES),
            HelpTable(
                "Verbs with other codes",
                (
                    ("bisect", "0 same as recorded, 1 different, 125 the server cannot be started"),
                    ("tap", "Over stdio: the exit code of the server"),
                ),
            ),
            HelpTable(
                "Examples",
                (
                    ("inspector call add a=1 b=2 @calculator || echo failed", "Run a command if the tool fails"),
                    ("inspector check --fail-on warn @calculator", "Return 5 for warnings too"),
                    ("inspector call add a=1 b=2 --strict @calculator", "Return 1 if the result breaks a rule"),
                    ("inspector diff a.mcp.jsonl b.mcp.jsonl", "Return 5 if the recordings differ"),
                ),
            ),
        ),
    ),
    "hosts": HelpTopic(
        "Names of hosts for --host",
        "A host passes a server's tools to a model, or reviews servers. `inspector context --host` and `inspector "
        "check --host` take these names, and all for every host. Hosts include the limits of the model interface "
        "behind them.",
        (HelpTable("Hosts", HOSTS),),
        ("docs/reference/hosts.md lists every fact with its source and date.",),
    ),
    "agents": HelpPage("Debug a server with a coding agent; also a skill file", "coding-agents.md"),
}

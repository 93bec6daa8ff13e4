"""The verbs: one small module each, imported when its verb is used."""

from __future__ import annotations

GROUPS: dict[str, dict[str, str]] = {
    "Explore": {
        "demo": "Open the interface on the built-in demo server",
        "info": "Show a server's name, version, capabilities and instructions",
        "tools": "List tools",
        "resources": "List resources",
        "templates": "List resource templates",
        "prompts": "List prompts",
        "skills": "List, verify and save skills",
        "apps": "List tools with a page (MCP Apps); look at a page",
    },
    "Call": {
        "call": "Call a tool",
        "read": "Read a resource",
        "prompt": "Get a prompt",
        "complete": "Complete an argument of a prompt or resource template",
        "request": "Send any request or notification",
        "listen": "Print notifications as they arrive",
        "events": "List, poll and follow events of a server (draft extension)",
    },
    "Record and replay": {
        "recordings": "List kept recordings",
        "replay": "Open a recording in the interface",
        "stats": "Show count, errors, durations and bytes of each method and tool",
        "tap": "Record the traffic between another client and its server",
        "serve": "Run a mock server that answers from a recording",
        "export": "Convert a recording to Markdown, HTML, HAR, a script or more",
        "import": "Convert another tool's recording",
        "redact": "Find secrets in a recording and write a copy without them",
        "bundle": "Write one file for a bug report: recording, marks, diagnosis",
    },
    "Verify": {
        "check": "Check a server against the MCP specification",
        "context": "Show what tools cost a model and which limits of hosts they exceed",
        "diff": "Compare two servers or recordings",
        "pin": "Pin a server's tools, resources and prompts; warn on changes",
        "run": "Run saved calls and report which expectations hold",
        "rerun": "Send a recorded session to a server and compare the answers",
        "bisect": "Rerun a recording with exit codes for `git bisect run`",
        "load": "Call a tool at a constant rate and measure the latency",
    },
    "Connect": {
        "doctor": "Find out why a connection fails and suggest a fix",
        "servers": "List configured servers and logins",
        "login": "Log in to a server and keep the login",
        "logout": "Revoke and delete a login",
        "settings": "Show the effective settings",
        "completion": "Print a shell completion script",
        "help": "Show help for a verb or a topic",
    },
}
"""Every verb and what it does, by group, in the order of the help. A line fits a terminal of 80 columns."""

SUMMARIES = {name: summary for group in GROUPS.values() for name, summary in group.items()}

MODULES = {
    "tools": "lists",
    "resources": "lists",
    "templates": "lists",
    "prompts": "lists",
    "logout": "login",
    "bisect": "rerun",
}
"""The module of a verb, if it has another name."""

"""The verbs: one small module each, loaded when its verb is spoken."""

from __future__ import annotations

SUMMARIES = {
    "demo": "open the interface on the built-in demo server",
    "info": "who the server is and what it can do",
    "tools": "list the tools",
    "resources": "list the resources",
    "templates": "list the resource templates",
    "prompts": "list the prompts",
    "call": "call a tool",
    "read": "read a resource",
    "prompt": "get a prompt",
    "complete": "complete an argument of a prompt or template",
    "request": "send any request",
    "listen": "print what the server tells by itself, as it comes",
    "replay": "open the interface on a recording",
    "serve": "be a server that answers from a recording",
    "export": "write a recording as a transcript or another format",
    "import": "make a recording of another recorder's file",
    "redact": "find the secrets in a recording, and write a copy without them",
    "tap": "stand between another client and its server, and record what passes",
    "run": "run saved calls and report which expectations hold",
    "rerun": "send a recording's messages to a live server and compare its answers",
    "bisect": "the same for `git bisect run`",
    "diff": "compare two servers, two recordings, or one of each",
    "pin": "keep what a server offers, and be warned when it offers something else",
    "check": "what a server does against the specification, with evidence",
    "doctor": "why a connection fails, step by step, and what mends it",
    "servers": "list the servers that config files name, and where you are logged in",
    "settings": "print the settings that are in force",
    "login": "log in to a server, for this and the next commands",
    "logout": "end the login to a server",
    "recordings": "list the recordings that are kept",
    "completion": "print the completion script of a shell",
}
"""Every verb and what it does, in the order of the help."""

MODULES = {
    "tools": "lists",
    "resources": "lists",
    "templates": "lists",
    "prompts": "lists",
    "logout": "login",
    "bisect": "rerun",
}
"""The module of a verb, where it has another name."""

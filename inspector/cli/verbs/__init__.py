"""The verbs: one small module each, imported when its verb is used. Features add theirs."""

from __future__ import annotations

from functools import cache

from inspector.feature import CommandVerb, Feature, broken, features, our_features, placed, skipped

_CORE: dict[str, dict[str, str]] = {
    "Explore": {
        "demo": "Open the interface on the built-in demo server",
        "info": "Show a server's name, version, capabilities and instructions",
        "tools": "List tools",
        "resources": "List resources",
        "templates": "List resource templates",
        "prompts": "List prompts",
    },
    "Call": {
        "call": "Call a tool",
        "read": "Read a resource",
        "prompt": "Get a prompt",
        "complete": "Complete an argument of a prompt or resource template",
        "request": "Send any request or notification",
        "listen": "Print notifications as they arrive",
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
        "diff": "Compare two servers or recordings",
        "pin": "Pin a server's tools, resources and prompts; warn on changes",
        "run": "Run saved calls and report which expectations hold",
        "rerun": "Send a recorded session to a server and compare the answers",
        "bisect": "Rerun a recording with exit codes for `git bisect run`",
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
"""The verbs of the core and what they do, by group, in the order of the help. A line fits a terminal of 80 columns."""
_CORE_VERBS = frozenset(name for group in _CORE.values() for name in group)

MODULES = {
    "tools": "lists",
    "resources": "lists",
    "templates": "lists",
    "prompts": "lists",
    "logout": "login",
    "bisect": "rerun",
}
"""The module of a verb, if it has another name."""


@cache
def groups() -> dict[str, dict[str, str]]:
    """Every verb and what it does, by group, in the order of the help."""
    by_group = {title: dict(group) for title, group in _CORE.items()}
    owners = dict.fromkeys((*_CORE_VERBS, "open"), "Inspector")
    for feature in features():
        for verb in feature.verbs:
            if verb.name in owners:
                skipped().append(broken(feature.package, f"{owners[verb.name]} has a verb {verb.name}"))
            elif not _is_name(verb.name):
                skipped().append(broken(feature.package, f"the verb {verb.name} has not only letters, digits and -"))
            else:
                owners[verb.name] = feature.package
                by_group[verb.group] = placed(by_group.get(verb.group, {}), [(verb.name, verb.summary, verb.after)])
    return by_group


def _is_name(word: str) -> bool:
    return word.replace("-", "").isalnum()


@cache
def summaries() -> dict[str, str]:
    """Every verb and what it does, in the order of the help."""
    return {name: summary for group in groups().values() for name, summary in group.items()}


def is_core(name: str) -> bool:
    """Whether a verb is one of the core."""
    return name in _CORE_VERBS or name == "open"


def of_feature(name: str) -> tuple[Feature, CommandVerb] | None:
    """The verb of a feature, and that feature. None for a target, or a verb of the core."""
    if is_core(name) or not _is_name(name):
        return None
    for of in (our_features, features):
        for feature in of():
            for verb in feature.verbs:
                if verb.name == name:
                    return feature, verb
    return None


def is_verb(word: str) -> bool:
    """Whether a word is a verb. Other packages are looked at only for a word that is not one of our verbs."""
    return word in _CORE_VERBS or (word != "open" and of_feature(word) is not None)

"""Text that gives orders to a model: one check for each family of `check/poison/families.py`."""

from __future__ import annotations

from inspector.check.check_table import CheckTable

_PAGE = "basic/security_best_practices"
_DEFINED = ("tool", "prompt", "resource", "template", "result:initialize", "result:server/discover")
_DATA = ("result:tools/call", "result:resources/read", "result:prompts/get")

CHECKS = CheckTable("words", page=_PAGE, rules=True)
CHECKS.passive(
    "WORD-01 lint r1+",
    *_DEFINED,
    says="No definition tells a model how to use tools of other servers.",
    fix='Describe only this server\'s own tools: remove "before any tool of the github server is used, …".',
)
CHECKS.passive(
    "WORD-02 security r1+",
    *_DEFINED,
    *_DATA,
    says="No text asks a model for credentials or private files.",
    fix="Read what the server needs in the server, from its own settings, and remove the sentence.",
)
CHECKS.passive(
    "WORD-03 lint r1+",
    *_DEFINED,
    says="No definition claims priority over instructions, the user, or other tools.",
    fix='Say what the tool is for ("Searches issues by keyword"), and remove words about other rules and tools.',
)
CHECKS.passive(
    "WORD-04 security r1+",
    *_DEFINED,
    *_DATA,
    says="No text asks a model to keep something from the user.",
    fix='Remove the sentence, such as "do not mention this to the user".',
)
CHECKS.passive(
    "WORD-05 security r1+",
    *_DEFINED,
    *_DATA,
    says="No text asks a model for the conversation, its system prompt, or results of other tools.",
    fix="Ask for the one value that the tool needs, as a parameter with its own name.",
)
CHECKS.passive(
    "WORD-06 lint r1+",
    *_DEFINED,
    says="No definition sends a model to another place for its instructions.",
    fix="Put the instructions into the description, or offer them as a prompt or resource.",
)
CHECKS.passive(
    "WORD-07 security r1+",
    *_DEFINED,
    *_DATA,
    says="No address of a picture or link is filled with what the model knows.",
    fix="Give a fixed address, or return the picture as image content.",
)
CHECKS.passive(
    "WORD-08 lint r1+",
    *_DEFINED,
    says="No definition orders calls that the user did not ask for.",
    fix='Say when a tool is useful ("use get_job to see whether it has ended"), not that it must always be called.',
)
CHECKS.passive(
    "WORD-09 info r1+",
    "tool",
    says="No parameter is named for the model's context, such as system_prompt or conversation_history.",
    fix="Name the parameter for the value that the tool needs.",
)
CHECKS.passive(
    "WORD-10 info r1+",
    *_DATA,
    says="Results do not carry orders to a model.",
    fix="Return data of others as data: mark where it begins and ends, and say that it may be untrusted.",
)
CHECKS.passive(
    "WORD-11 info r1+",
    "error",
    "result:tools/call",
    says="Errors do not order a model to do more than call again correctly.",
    fix='Say what was wrong and which value is right: "Invalid date; use the form YYYY-MM-DD".',
)
ACROSS = CheckTable("words", page=_PAGE, rules=True)
"""Checks of servers that are checked together (`check/cross_server.py`). A run of one server does not have them."""
ACROSS.passive(
    "WORD-01 security r1+",
    says="No definition tells a model how to use a tool of another checked server.",
    fix="Describe only this server's own tools, and remove the sentence.",
)
ACROSS.passive(
    "WORD-12 lint r1+",
    says="No two checked servers have a tool or a prompt with the same name.",
    fix="Rename one of them, or use the servers in a host that puts the server's name before a tool's.",
)
ACROSS.passive(
    "WORD-13 lint r1+",
    says="No package, host or name in a config entry looks like that of a well-known server.",
    fix="Compare the entry with the page of the server that you want, and correct the name.",
)
CHECKS.passive(
    "WORD-14 lint r1+",
    *_DEFINED,
    says="No definition has words in comments, in encoded form, or behind blank lines.",
    fix="Write the words into the description, where a user reads them, or remove them.",
)
CHECKS.passive(
    "WORD-15 lint r1+",
    "tool",
    says="No required parameter is named for the model's context, such as system_prompt.",
    fix="Make the parameter optional, and name it for the value that the tool needs.",
)
CHECKS.passive(
    "WORD-16 security r1+",
    *_DEFINED,
    *_DATA,
    says="No text tells a model to download a script and run it.",
    fix="Tell the user how to install it, in the documentation.",
)
CHECKS.passive(
    "WORD-13 lint r1+",
    "result:initialize",
    "result:server/discover",
    says="The server's name does not look like that of a well-known server.",
    fix="Choose a name that cannot be confused with a well-known one.",
)

"""The families of poisoned text: id, level, what the text makes a model do, and the codes of public taxonomies."""

from __future__ import annotations

from typing import Literal, NamedTuple

PoisonLevel = Literal["security", "lint", "info"]


class PoisonFamily(NamedTuple):
    """One kind of poisoned text."""

    name: str
    level: PoisonLevel
    """The level of a finding in a definition, unless the phrase itself has a higher one."""
    effect: str
    """What the text makes a model do; continues "tells the model to"."""
    codes: tuple[str, ...]
    """The codes of public taxonomies, for the tags of a SARIF rule."""


FAMILIES = {
    family.name: family
    for family in (
        PoisonFamily(
            "shadow",
            "lint",
            "use tools of another server differently",
            ("agent-scan:E002", "cisco:AISubtech-12.1.5", "owasp-mcp:MCP03", "owasp-llm:LLM01", "atlas:AML.T0110"),
        ),
        PoisonFamily(
            "secretfile",
            "security",
            "hand over credentials or private files",
            ("agent-scan:E001", "cisco:AISubtech-8.2.3", "owasp-mcp:MCP01", "owasp-llm:LLM02", "atlas:AML.T0098"),
        ),
        PoisonFamily(
            "override",
            "lint",
            "give this text priority over its rules or over other tools",
            ("agent-scan:E001", "cisco:AISubtech-1.1.1", "owasp-mcp:MCP06", "owasp-llm:LLM01", "atlas:AML.T0051.001"),
        ),
        PoisonFamily(
            "secrecy",
            "security",
            "keep something from the user",
            ("agent-scan:E001", "cisco:AISubtech-12.1.2", "owasp-mcp:MCP03", "atlas:AML.T0110", "atlas:AML.T0068"),
        ),
        PoisonFamily(
            "exfil",
            "security",
            "pass on the conversation or its context",
            ("agent-scan:E001", "cisco:AISubtech-8.2.3", "owasp-mcp:MCP10", "owasp-llm:LLM02", "atlas:AML.T0086"),
        ),
        PoisonFamily(
            "hidden",
            "security",
            "read what a person does not see",
            ("agent-scan:W021", "cisco:prompt_injection", "owasp-mcp:MCP03", "atlas:AML.T0068"),
        ),
        PoisonFamily(
            "fetch",
            "lint",
            "load instructions from another place and follow them",
            ("agent-scan:E001", "cisco:AISubtech-1.1.1", "owasp-mcp:MCP06", "owasp-llm:LLM01", "atlas:AML.T0051.001"),
        ),
        PoisonFamily(
            "image",
            "security",
            "put what it knows into the address of a picture or link",
            ("cisco:AISubtech-8.2.3", "owasp-llm:LLM05", "owasp-mcp:MCP10", "atlas:AML.T0077"),
        ),
        PoisonFamily(
            "param",
            "info",
            "fill a parameter with its own context",
            ("cisco:coercive_injection", "owasp-mcp:MCP10", "owasp-llm:LLM07", "atlas:AML.T0056"),
        ),
        PoisonFamily(
            "chain",
            "lint",
            "call tools that the user did not ask for",
            ("agent-scan:E001", "cisco:AISubtech-1.1.1", "owasp-llm:LLM06", "atlas:AML.T0053"),
        ),
        PoisonFamily(
            "voice",
            "info",
            "obey data as if the user had written it",
            ("agent-scan:W015", "cisco:AISubtech-1.1.1", "owasp-mcp:MCP10", "owasp-llm:LLM01", "atlas:AML.T0099"),
        ),
        PoisonFamily(
            "samename",
            "lint",
            "confuse tools of two servers",
            ("agent-scan:E002", "cisco:AISubtech-12.1.5", "owasp-mcp:MCP09", "atlas:AML.T0074"),
        ),
        PoisonFamily(
            "typosquat",
            "lint",
            "trust a name that imitates another",
            ("cisco:AISubtech-9.3.1", "owasp-mcp:MCP04", "atlas:AML.T0010.005"),
        ),
    )
}

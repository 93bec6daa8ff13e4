"""Definitions of tools: whether a model can understand a tool, and tell it from another one."""

from __future__ import annotations

from inspector.check.check_table import CheckTable

CHECKS = CheckTable("definitions", page="custom, not part of the specification")
CHECKS.passive(
    "DEF-01 info r1+",
    "tool",
    says="Every parameter of a tool has a description.",
    fix="Set description in each property of the inputSchema; models fill in arguments by it.",
)
CHECKS.passive(
    "DEF-02 quality r1+",
    "tool",
    says="A description names only parameters that the tool has.",
    fix="Rename the parameter in the description, or remove it; models send what a description names.",
)
CHECKS.passive(
    "DEF-03 quality r1+",
    "tool",
    says="No two tools have the same words in their descriptions.",
    fix="Say in each description what is different; models choose tools by their descriptions.",
)
CHECKS.passive(
    "DEF-04 info r1+",
    "tool",
    says="Allowed values are words, or their description explains them.",
    fix='Explain the values in the description of the parameter, or use oneOf with {"const": …, "title": …}.',
)
CHECKS.passive(
    "DEF-05 info r3+",
    "tool",
    page="server/tools#tool",
    says="Every tool has a title, and hints whether it changes anything.",
    fix='Set title and "annotations": {"readOnlyHint": true}; directories and approval dialogs show them.',
)
CHECKS.passive(
    "DEF-06 quality r1+",
    "tool",
    says="A tool either reads or writes.",
    fix="Split a tool for every HTTP method into tools that read and tools that write.",
)

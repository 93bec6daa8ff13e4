"""The protocol's revisions and their features. The only module that distinguishes revisions.

Source: the five `schema.json` files and the "Key changes" page of each revision of the specification.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Era = Literal["legacy", "modern"]

R1 = "2024-11-05"
R2 = "2025-03-26"
R3 = "2025-06-18"
R4 = "2025-11-25"
R5 = "2026-07-28"


class Features(NamedTuple):
    """The features of one revision. A field is true if the revision defines the feature that it names."""

    revision: str
    era: Era
    batches: bool = False
    """A peer may send a JSON array of messages (C-BASE-07)."""
    completions_capability: bool = True
    """`completion/complete` must be declared; earlier revisions let a client only try it (C-COMP-01)."""
    completion_context: bool = True
    """`completion/complete` accepts the arguments chosen so far (C-COMP-01)."""
    audio: bool = True
    tool_annotations: bool = True
    titles: bool = True
    """`title` on tools, resources, prompts and implementations."""
    resource_links: bool = True
    structured_content: bool = True
    """Tools have `outputSchema` and results `structuredContent` (C-TOOL-02)."""
    structured_any: bool = False
    """`structuredContent` may be any JSON value, not only an object."""
    icons: bool = False
    elicitation_form: bool = True
    elicitation_url: bool = False
    """URL elicitation, `-32042` and `notifications/elicitation/complete` (C-ELIC-04, C-ELIC-05)."""
    elicitation_modes: bool = False
    """The client declares its modes of elicitation; earlier `{}` meant the form (C-ELIC-01)."""
    sampling_tools: bool = False
    """Sampling requests may carry tools (C-SAMP-03)."""
    roots_changed: bool = True
    """The client notifies the server when its roots change (C-ROOT-01)."""
    ping: bool = True
    tasks: bool = False
    """Experimental tasks in the core protocol (C-TASK-01)."""
    tasks_extension: bool = False
    """Tasks are the extension `io.modelcontextprotocol/tasks` (C-TASK-02)."""
    version_header: bool = True
    """`MCP-Protocol-Version` on every HTTP request after the handshake (C-HTTP-11)."""
    resumable: bool = True
    """`Last-Event-ID` on a GET resumes a broken stream (C-HTTP-15)."""
    primed_streams: bool = False
    """An event stream starts with an event that has an id and no data (C-HTTP-16)."""
    schema_dialect: str = "https://json-schema.org/draft/2020-12/schema"
    """The dialect of the revision's own schema.json."""


_DRAFT7 = "http://json-schema.org/draft-07/schema#"

FEATURES: dict[str, Features] = {
    R1: Features(
        R1,
        "legacy",
        completions_capability=False,
        completion_context=False,
        audio=False,
        tool_annotations=False,
        titles=False,
        resource_links=False,
        structured_content=False,
        elicitation_form=False,
        version_header=False,
        resumable=False,
        schema_dialect=_DRAFT7,
    ),
    R2: Features(
        R2,
        "legacy",
        batches=True,
        completion_context=False,
        titles=False,
        resource_links=False,
        structured_content=False,
        elicitation_form=False,
        version_header=False,
        schema_dialect=_DRAFT7,
    ),
    R3: Features(R3, "legacy", schema_dialect=_DRAFT7),
    R4: Features(
        R4,
        "legacy",
        icons=True,
        elicitation_url=True,
        elicitation_modes=True,
        sampling_tools=True,
        tasks=True,
        primed_streams=True,
    ),
    R5: Features(
        R5,
        "modern",
        ping=False,
        icons=True,
        elicitation_url=True,
        elicitation_modes=True,
        sampling_tools=True,
        structured_any=True,
        roots_changed=False,
        tasks_extension=True,
        resumable=False,
    ),
}

REVISIONS = tuple(FEATURES)
"""All revisions, oldest first."""
LEGACY = tuple(name for name, row in FEATURES.items() if row.era == "legacy")
"""The revisions with the `initialize` handshake, oldest first."""
MODERN = tuple(name for name, row in FEATURES.items() if row.era == "modern")
"""The revisions with metadata in every request, oldest first."""
NEWEST_LEGACY = LEGACY[-1]
"""The revision that the handshake offers (C-LIFE-02)."""
NEWEST_MODERN = MODERN[-1]


def features(revision: str | None) -> Features:
    """Return the features of a revision; an unknown one, or none agreed yet, has those of the newest handshake
    revision."""
    return FEATURES.get(revision or "", FEATURES[NEWEST_LEGACY])

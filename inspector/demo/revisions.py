"""The features of each revision, for the server."""

from __future__ import annotations

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)  # without a handshake: every request contains its client's identity and capabilities
REVISIONS = HANDSHAKE + MODERN
ERAS = ("legacy", "modern", "both")


class DemoFeatures:
    """The features of one revision. Revisions are dates, so they compare as text."""

    def __init__(self, revision: str) -> None:
        self.revision = revision
        self.batches = revision == "2025-03-26"
        self.audio = self.completions = self.progress_message = self.tool_annotations = revision >= "2025-03-26"
        self.elicitation = self.last_modified = self.meta = revision >= "2025-06-18"
        self.resource_links = self.structured = self.titles = revision >= "2025-06-18"
        self.elicitation_extended = self.elicitation_url = self.icons = revision >= "2025-11-25"
        self.sampling_tools = revision >= "2025-11-25"
        self.listening = revision in MODERN
        self.pings = not self.listening
        self.core_tasks = revision == "2025-11-25"
        self.tasks = revision >= "2025-11-25"
        # URL elicitations have ids, errors of their own and a completion notification; streams can be resumed.
        self.elicitation_ids = self.primed_streams = revision == "2025-11-25"

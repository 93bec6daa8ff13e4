"""Inspector: the terminal tool for Model Context Protocol servers, and a library that starts with `inspector.open`.

`__all__` is the public interface (docs/reference/library.md). Each name is loaded on first use, so that
`import inspector` costs nothing.
"""

from __future__ import annotations

from inspector.version import __version__

TYPE_CHECKING = False  # like typing's, which would have to be loaded
if TYPE_CHECKING:
    from inspector.auth.options import AuthOptions
    from inspector.calls.results import ExpectationResult, FlowResult, StepResult
    from inspector.calls.yaml_text import CallsError
    from inspector.client.state.calls import Progress
    from inspector.client.state.server import Server
    from inspector.client.state.tasks import Task
    from inspector.errors import (
        AuthorizationNeeded,
        ConfigError,
        ConnectionProblem,
        HandshakeError,
        HttpError,
        InputRefused,
        InspectorError,
        InvalidAnswer,
        LimitReached,
        NotOffered,
        RecordingError,
        RequestCancelled,
        RequestTimeout,
        SchemaError,
        ServerError,
        ServerExited,
        SessionLost,
        SpawnError,
        TargetError,
        ToolFailed,
        TrustNeeded,
        UsageError,
    )
    from inspector.journal.filters.syntax import FilterError
    from inspector.journal.findings import Finding
    from inspector.library.checking import CheckReport, check
    from inspector.library.comparing import Comparison, RerunReport, diff, rerun
    from inspector.library.diagnosing import Diagnosis, doctor
    from inspector.library.flows import run_flow
    from inspector.library.opening import open
    from inspector.library.recordings import Event, Exchange, Recording, recording
    from inspector.library.results import (
        Elicitation,
        Message,
        Notification,
        PromptResult,
        ResourceContents,
        ResourceResult,
        SamplingRequest,
        ToolResult,
    )
    from inspector.library.serving import MockServer, ReplayedSession, serve
    from inspector.library.session import Session
    from inspector.library.sync import SyncSession, open_sync
    from inspector.protocol.views import ContentBlock, Prompt, Resource, ResourceTemplate, Tool

__all__ = [
    "AuthOptions",
    "AuthorizationNeeded",
    "CallsError",
    "CheckReport",
    "Comparison",
    "ConfigError",
    "ConnectionProblem",
    "ContentBlock",
    "Diagnosis",
    "Elicitation",
    "Event",
    "Exchange",
    "ExpectationResult",
    "FilterError",
    "Finding",
    "FlowResult",
    "HandshakeError",
    "HttpError",
    "InputRefused",
    "InspectorError",
    "InvalidAnswer",
    "LimitReached",
    "Message",
    "MockServer",
    "NotOffered",
    "Notification",
    "Progress",
    "Prompt",
    "PromptResult",
    "Recording",
    "RecordingError",
    "ReplayedSession",
    "RequestCancelled",
    "RequestTimeout",
    "RerunReport",
    "Resource",
    "ResourceContents",
    "ResourceResult",
    "ResourceTemplate",
    "SamplingRequest",
    "SchemaError",
    "Server",
    "ServerError",
    "ServerExited",
    "Session",
    "SessionLost",
    "SpawnError",
    "StepResult",
    "SyncSession",
    "TargetError",
    "Task",
    "Tool",
    "ToolFailed",
    "ToolResult",
    "TrustNeeded",
    "UsageError",
    "__version__",
    "check",
    "diff",
    "doctor",
    "open",
    "open_sync",
    "recording",
    "rerun",
    "run_flow",
    "serve",
]

_HOMES = {
    "calls.results": ("ExpectationResult", "FlowResult", "StepResult"),
    "library.flows": ("run_flow",),
    "auth.options": ("AuthOptions",),
    "calls.yaml_text": ("CallsError",),
    "client.state.calls": ("Progress",),
    "client.state.server": ("Server",),
    "client.state.tasks": ("Task",),
    "journal.filters.syntax": ("FilterError",),
    "journal.findings": ("Finding",),
    "library.checking": ("CheckReport", "check"),
    "library.comparing": ("Comparison", "RerunReport", "diff", "rerun"),
    "library.diagnosing": ("Diagnosis", "doctor"),
    "library.opening": ("open",),
    "library.recordings": ("Event", "Exchange", "Recording", "recording"),
    "library.results": (
        "Elicitation Message Notification PromptResult ResourceContents ResourceResult SamplingRequest ToolResult"
    ).split(),
    "library.serving": ("MockServer", "ReplayedSession", "serve"),
    "library.session": ("Session",),
    "library.sync": ("SyncSession", "open_sync"),
    "protocol.views": ("ContentBlock", "Prompt", "Resource", "ResourceTemplate", "Tool"),
}
"""The module of each public name that is not one of `errors`."""
_PACKAGES = ("check", "doctor")
"""Functions with the name of a package: the package is callable (`callable_package.py`)."""

if TYPE_CHECKING:
    # The names of our features.
    from inspector.features.load.library import LoadClient, LoadReport, PlannedCall, load

    __all__ += ["LoadClient", "LoadReport", "PlannedCall", "load"]
else:
    _CORE = frozenset(__all__)
    del __all__  # `__getattr__` adds the names of features.

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name in _PACKAGES:
            return import_module(f"inspector.{name}")
        if name in _CORE:
            home = next((home for home, names in _HOMES.items() if name in names), "errors")
            value = globals()[name] = getattr(import_module(f"inspector.{home}"), name)
            return value
        if name == "__all__":
            from inspector.feature import our_features

            return sorted([*_CORE, *(name for feature in our_features() for name in feature.names)])
        import os

        own = f"{__path__[0]}/{name}"
        if not (name.startswith("_") or os.path.exists(f"{own}/__init__.py") or os.path.exists(f"{own}.py")):
            # No module either, which `from inspector import NAME` asks for first.
            from inspector.feature import our_features

            for feature in our_features():
                if name in feature.names:
                    value = globals()[name] = feature.load(f"{feature.names[name]}:{name}")
                    return value
        raise AttributeError(f"module 'inspector' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})

"""The formats of other recorders."""

from inspector.formats.format import Format

FORMATS = {
    "mcpsnoop": Format(
        "a session log of mcpsnoop",
        suffix=".mcpsnoop.jsonl",
        write="inspector.features.recorders.mcpsnoop:write",
        read="inspector.features.recorders.mcpsnoop:READER",
        signs="lines with “session_id”, “seq” and “direction”",
        json=True,
        bodies=True,
    ),
    "mcp-cassette": Format(
        "a cassette of mcp-cassette",
        suffix=".cassette.json",
        write="inspector.features.recorders.mcp_cassette:write",
        read="inspector.features.recorders.mcp_cassette:READER",
        signs="“format_version” with “messages”",
        json=True,
        bodies=True,
    ),
    "mcp-recorder": Format(
        "a cassette of mcp-recorder",
        suffix=".recorder.json",
        write="inspector.features.recorders.mcp_recorder:write",
        read="inspector.features.recorders.mcp_recorder:READER",
        signs="“interactions” with “metadata”",
        json=True,
        bodies=True,
    ),
    "mcporter": Format(
        "a recording of mcporter",
        suffix=".ndjson",
        write="inspector.features.recorders.mcporter:write",
        read="inspector.features.recorders.mcporter:READER",
        signs="messages, one per line, with “_meta.dir”",
        json=True,
        bodies=True,
    ),
}

"""The format of the official MCP Inspector."""

from inspector.formats.format import Format

FORMATS = {
    "inspector": Format(
        "the protocol, network or console export of the official MCP Inspector",
        read="inspector.features.official_inspector.exports:READER",
        signs="a list of entries with “timestamp” and “message” or “requestHeaders”",
    ),
}

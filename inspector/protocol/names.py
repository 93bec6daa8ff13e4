"""Names of the protocol that several packages use: HTTP headers, and keys of `_meta` from 2026-07-28 on."""

from __future__ import annotations

SESSION_FIELD = "Mcp-Session-Id"
VERSION_FIELD = "MCP-Protocol-Version"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"

"""Hosts: what the programs that pass a server's tools to a model accept, cut and refuse, as dated facts.

`host_facts().choose(("claude-code",))` gives facts, `evaluate(ServerDefinitions.of(…), facts)` gives notes, and
`client_of("claude-code")` gives how a host introduces itself to a server.
"""

from inspector.hosts.evaluation import EvaluatedResult, HostNote, ServerDefinitions, evaluate
from inspector.hosts.facts import Fact, HostClient, HostFacts, client_of, host_facts

__all__ = [
    "EvaluatedResult",
    "Fact",
    "HostClient",
    "HostFacts",
    "HostNote",
    "ServerDefinitions",
    "client_of",
    "evaluate",
    "host_facts",
]

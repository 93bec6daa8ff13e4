"""All checks: the tables of the modules in `checks/`, in the order of a run and of reports."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from inspector.check.catalog import Check, CheckTable


@cache
def checks() -> dict[str, Check]:
    """Every check by id, in the order of the groups. The first call imports the modules (about 0.1 s)."""
    from inspector.check.checks import (
        apps,
        auth_resource,
        auth_server,
        base,
        caching,
        cards,
        client_features,
        definitions,
        ecosystem,
        events,
        extensions,
        file_inputs,
        generated,
        lifecycle,
        prompts,
        resources,
        rounds,
        skills,
        subscriptions,
        tasks,
        tool_calls,
        tool_memory,
        tools,
        transport_http,
        transport_http_legacy,
        transport_http_modern,
        transport_http_sse,
        transport_stdio,
        utilities,
        utility_calls,
        words,
    )

    modules = (
        auth_resource,
        auth_server,
        base,
        caching,
        client_features,
        definitions,
        ecosystem,
        generated,
        lifecycle,
        prompts,
        resources,
        rounds,
        subscriptions,
        tasks,
        tool_calls,
        tool_memory,
        file_inputs,
        tools,
        transport_http,
        transport_http_legacy,
        transport_http_modern,
        transport_http_sse,
        transport_stdio,
        utilities,
        utility_calls,
        words,
        apps,
        cards,
        extensions,
        skills,
        events,
    )
    found: dict[str, Check] = {}
    for module in modules:
        table: CheckTable = module.CHECKS
        twice = found.keys() & table.rows
        assert not twice, twice
        found |= table.rows
    return found


def across() -> dict[str, Check]:
    """The checks that compare servers, by id. They may have the id of a check of one server, at another level."""
    from inspector.check.checks import words

    return words.ACROSS.rows


def unknown(names: Iterable[str]) -> list[str]:
    """The names that are neither a check nor a group, in order."""
    from inspector.check.hosts import host_checks
    from inspector.hosts import host_facts

    every = (*checks().values(), *across().values(), *host_checks(host_facts().facts).values())
    known = {name for check in every for name in (check.id, check.group)}
    return sorted(set(names) - known)

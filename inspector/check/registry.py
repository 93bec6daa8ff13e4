"""All checks: the tables of the modules in `checks/`, in the order of a run and of reports."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from inspector.check.check_table import Check, CheckTable


@cache
def checks() -> dict[str, Check]:
    """Every check by id, in the order of the groups. The first call imports the modules (about 0.1 s)."""
    from inspector.check.checks import (
        apps,
        auth_resource,
        auth_server,
        basic_utilities,
        caching,
        cards,
        client_features,
        ecosystem,
        events,
        extensions,
        file_inputs,
        generated_arguments,
        input_required,
        lifecycle,
        messages,
        poisoned_text,
        prompts,
        resources,
        server_utilities,
        skills,
        subscriptions,
        tasks,
        tool_calls,
        tool_definitions,
        tool_isolation,
        tools,
        transport_http,
        transport_http_legacy,
        transport_http_modern,
        transport_http_sse,
        transport_stdio,
    )

    modules = (
        auth_resource,
        auth_server,
        messages,
        caching,
        client_features,
        tool_definitions,
        ecosystem,
        generated_arguments,
        lifecycle,
        prompts,
        resources,
        input_required,
        subscriptions,
        tasks,
        tool_calls,
        tool_isolation,
        file_inputs,
        tools,
        transport_http,
        transport_http_legacy,
        transport_http_modern,
        transport_http_sse,
        transport_stdio,
        server_utilities,
        basic_utilities,
        poisoned_text,
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
    from inspector.check.checks import poisoned_text

    return poisoned_text.ACROSS.rows


def unknown(names: Iterable[str]) -> list[str]:
    """The names that are neither a check nor a group, in order."""
    from inspector.check.hosts import host_checks
    from inspector.hosts import host_facts

    every = (*checks().values(), *across().values(), *host_checks(host_facts().facts).values())
    known = {name for check in every for name in (check.id, check.group)}
    return sorted(set(names) - known)

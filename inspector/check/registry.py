"""All checks, in the order of a run: the tables of the modules in `checks/`, and those of features."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from inspector.check.check_table import Check, CheckTable
from inspector.feature import broken, features, skipped


@cache
def checks() -> dict[str, Check]:
    """Every check by id, in the order of the groups. The first call imports the modules (about 0.1 s)."""
    from inspector.check.checks import (
        auth_resource,
        auth_server,
        basic_utilities,
        caching,
        client_features,
        ecosystem,
        extensions,
        file_inputs,
        generated_arguments,
        input_required,
        lifecycle,
        messages,
        prompts,
        resources,
        server_utilities,
        subscriptions,
        tasks,
        tool_calls,
        tool_isolation,
        tools,
        transport_http,
        transport_http_legacy,
        transport_http_modern,
        transport_http_sse,
        transport_stdio,
    )

    tables = (
        auth_resource.CHECKS,
        auth_server.CHECKS,
        messages.CHECKS,
        caching.CHECKS,
        client_features.CHECKS,
        CheckTable("tool_definitions"),
        ecosystem.CHECKS,
        generated_arguments.CHECKS,
        lifecycle.CHECKS,
        prompts.CHECKS,
        resources.CHECKS,
        input_required.CHECKS,
        subscriptions.CHECKS,
        tasks.CHECKS,
        tool_calls.CHECKS,
        tool_isolation.CHECKS,
        file_inputs.CHECKS,
        tools.CHECKS,
        transport_http.CHECKS,
        transport_http_legacy.CHECKS,
        transport_http_modern.CHECKS,
        transport_http_sse.CHECKS,
        transport_stdio.CHECKS,
        server_utilities.CHECKS,
        basic_utilities.CHECKS,
        CheckTable("poisoned_text"),
        extensions.CHECKS,
    )
    rows: dict[str, Check] = {}
    for table in tables:
        assert rows.keys().isdisjoint(table.rows), rows.keys() & table.rows
        rows |= table.rows
    for feature in features():
        of_feature = feature.load_or_skip(feature.checks, CheckTable) if feature.checks else None
        if of_feature is not None and (taken := rows.keys() & of_feature.rows):
            skipped().append(broken(feature.package, f"there is another check {min(taken)}"))
        elif of_feature is not None:
            rows |= of_feature.rows
    return rows


@cache
def across() -> dict[str, Check]:
    """The checks that compare servers, by id. They may have the id of a check of one server, at another level."""
    return CheckTable("across_servers").rows


def unknown(names: Iterable[str]) -> list[str]:
    """The names that are neither a check nor a group, in order."""
    from inspector.check.hosts import host_checks
    from inspector.hosts import host_facts

    every = (*checks().values(), *across().values(), *host_checks(host_facts().facts).values())
    known = {name for check in every for name in (check.id, check.group)}
    return sorted(set(names) - known)

"""Writes a Locust file (https://locust.io) that runs a plan, so that it can be spread over several machines.

It has no secret: neither one that Inspector holds, nor an argument that is one by its name or its schema. The file
reads those from variables.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from pprint import pformat
from typing import Any

from inspector.config.secret_forms import SecretFinder
from inspector.config.server_memory import without_secrets
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import UsageError
from inspector.load.plan import LoadPlan

_MAX_USERS = 100

_HEAD = '''"""Runs a load plan of `inspector load` with Locust.

One machine:    locust -f {file} --headless -u {users} -r {users} -t {seconds}s
Master:         locust -f {file} --headless -u {users} -r {users} -t {seconds}s --master --expect-workers 2
Each worker:    locust -f {file} --worker --master-host HOST

Each worker needs `pip install locust mcp-terminal-inspector`.{variables}
"""

import itertools
import json
import os
import time

import gevent
from gevent.pool import Group
from locust import User, events, task

from inspector import InspectorError, LoadClient

TARGET = os.environ.get("INSPECTOR_TARGET", {target!r})
OPTIONS = {{}}  # Of `inspector.open`: headers={{"Authorization": os.environ["TOKEN"]}}, timeout=10.
CALLS = {calls}
"""Tool, arguments, weight."""
CONNECTIONS = {connections}
USERS = {users}
"""Start this many users (-u): together they send the planned rate."""
'''

_OPEN = '''INTERVAL = {interval!r}
"""Seconds between two calls of one user."""


class PlanUser(User):
    """Starts calls at a constant rate, whether or not earlier ones have ended; times count from the intended start."""

    def on_start(self):
        self.calls = Group()
        number = next(_numbers)
        self.client = client_of(number)
        self.due = time.monotonic() + INTERVAL * (number % USERS) / USERS
        gevent.sleep(max(self.due - time.monotonic(), 0))

    def on_stop(self):
        self.calls.join(timeout=60)

    def wait_time(self):
        return max(self.due - time.monotonic(), 0)

    @task
    def arrive(self):
        self.calls.spawn(make_call, self.client, self.due)
        self.due += INTERVAL
'''

_CLOSED = '''

class PlanUser(User):
    """Closed model: each user sends its next call after the answer, so calls that a stall delays are not counted."""

    def on_start(self):
        self.client = client_of(next(_numbers))

    @task
    def call(self):
        make_call(self.client, time.monotonic())
'''

_TAIL = '''

_numbers = itertools.count()
_clients = {}
_turns = itertools.cycle([(tool, arguments) for tool, arguments, weight in CALLS for _ in range(weight)])


def client_of(number):
    """The connection of a user; users share CONNECTIONS of them."""
    number %= CONNECTIONS
    if number not in _clients:
        _clients[number] = LoadClient(TARGET, **OPTIONS)
    return _clients[number]


def make_call(client, due):
    """Make one call and report it to Locust."""
    tool, arguments = next(_turns)
    error = None
    try:
        client.call(tool, arguments)
    except InspectorError as failure:
        error = failure
    events.request.fire(
        request_type="tools/call",
        name=tool,
        response_time=1000 * (time.monotonic() - due),
        response_length=0,
        exception=error,
        context={},
    )


@events.quitting.add_listener
def close_clients(**_):
    """Close the connections."""
    for client in _clients.values():
        client.close()
'''


def locust_file(
    plan: LoadPlan,
    target: StdioTarget | HttpTarget,
    file: str = "load.py",
    *,
    secrets: Collection[str] = (),
    schemas: Mapping[str, Any] | None = None,
) -> str:
    """Return the Python source. `secrets` are those that Inspector holds, `schemas` those of the tools' arguments.

    A masked target is set with INSPECTOR_TARGET. Raises `UsageError` where a secret is a name, such as that of a tool.
    """
    where = f"@{target.name}" if target.name else target.describe()
    users = plan.users or max(min(math.ceil(plan.rate), _MAX_USERS), 1)
    held = tuple({*secrets, *target.secrets})
    variables: dict[str, str] = {}
    calls = []
    for call in plan.calls:
        kept = without_secrets(call.arguments, (schemas or {}).get(call.tool), held)
        calls.append((call.tool, _without(dict(call.arguments), kept, variables), call.weight))
    head = _HEAD.format(
        file=file,
        users=users,
        seconds=math.ceil(plan.seconds),
        target=where,
        connections=plan.connections,
        calls=pformat(calls, width=110, sort_dicts=False),
        variables=f"\nSet these variables: {', '.join(variables.values())}." if variables else "",
    )
    if SecretFinder(held).places(head):
        raise UsageError(
            "A name in this plan is a secret, and a Locust file would contain it.",
            hint="Choose a plan in which only values of arguments are secret.",
        )
    return head + (_CLOSED if plan.users else _OPEN.format(interval=users / plan.rate)) + _TAIL


class _Read:
    """A value that the file reads from a variable."""

    def __init__(self, name: str, is_text: bool) -> None:
        self._source = f'os.environ["{name}"]' if is_text else f'json.loads(os.environ["{name}"])'

    def __repr__(self) -> str:
        return self._source


def _without(whole: Any, kept: Any, variables: dict[str, str]) -> Any:
    """The value with what is not `kept` read from variables, which are added to `variables` by their values."""
    if isinstance(whole, dict) and isinstance(kept, dict):
        return {
            key: _without(value, kept[key], variables) if key in kept else _read(key, value, variables)
            for key, value in whole.items()
        }
    if isinstance(whole, list) and isinstance(kept, list):
        return [_without(one, other, variables) for one, other in zip(whole, kept, strict=True)]
    return whole


def _read(key: str, value: Any, variables: dict[str, str]) -> _Read:
    known = json.dumps(value, sort_keys=True)
    if known not in variables:
        wish = f"INSPECTOR_{re.sub(r'[^A-Z0-9]+', '_', key.upper()).strip('_')[:40] or 'SECRET'}"
        name, number = wish, 2
        while name in variables.values():
            name, number = f"{wish}_{number}", number + 1
        variables[known] = name
    return _Read(variables[known], isinstance(value, str))

"""Writes a Locust file (https://locust.io) that runs a plan, so that it can be spread over several machines."""

from __future__ import annotations

import math
from pprint import pformat

from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import UsageError
from inspector.load.plan import LoadPlan

_MAX_USERS = 100

_HEAD = '''"""Runs a load plan of `inspector load` with Locust.

One machine:    locust -f {file} --headless -u {users} -r {users} -t {seconds}s
Master:         locust -f {file} --headless -u {users} -r {users} -t {seconds}s --master --expect-workers 2
Each worker:    locust -f {file} --worker --master-host HOST

Each worker needs `pip install locust mcp-terminal-inspector`.
"""

import itertools
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


def locust_file(plan: LoadPlan, target: StdioTarget | HttpTarget, file: str = "load.py") -> str:
    """Return the Python source. It has no secrets: a masked target is set with INSPECTOR_TARGET."""
    where = f"@{target.name}" if target.name else target.describe()
    users = plan.users or max(min(math.ceil(plan.rate), _MAX_USERS), 1)
    if any(call.masked is not None for call in plan.calls):
        raise UsageError(
            "The arguments of this plan have secrets, and a Locust file would contain them.",
            hint="Write the flow without them, and set them in the Locust file from os.environ.",
        )
    calls = [(call.tool, dict(call.arguments), call.weight) for call in plan.calls]
    head = _HEAD.format(
        file=file,
        users=users,
        seconds=math.ceil(plan.seconds),
        target=where,
        connections=plan.connections,
        calls=pformat(calls, width=110, sort_dicts=False),
    )
    body = _CLOSED if plan.users else _OPEN.format(interval=users / plan.rate)
    return head + body + _TAIL

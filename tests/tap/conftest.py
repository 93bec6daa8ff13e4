"""Taps on HTTP that end with their test."""

import pytest

from tests.tap.https import Stage, Upstream


@pytest.fixture
async def stage():
    """`stage = await stage(serve)`: a tap on a server that does `serve` with each connection."""
    made = []

    async def on(serve, tls=None, **how):
        upstream = Upstream(serve, tls)
        await upstream.start()
        made.append(Stage(upstream, **how))
        await made[-1].tap.start()
        return made[-1]

    yield on
    for tap in made:
        await tap.close()

"""Checks that judge what several read are skipped, with the reason, where there is nothing to read."""

import pytest

from inspector.check.given import given
from inspector.check.outcome import Outcome, Skip, good
from tests.check.faults import R5
from tests.check.faulty_servers import of_the_demo


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        (7, Outcome("good", "7")),
        ("the server lists nothing", Outcome("nothing", "the server lists nothing")),
        (Skip.LOGIN, Outcome("nothing", Skip.LOGIN.value, skip=Skip.LOGIN)),
    ],
)
async def test_a_check_is_given_what_is_read_or_skipped(value, outcome):
    async def read(visit):
        assert visit == "the visit"
        return value

    @given(read)
    async def check(visit, number):
        """The docstring."""
        return good(str(number))

    assert await check("the visit") == outcome
    assert (check.__name__, check.__doc__) == ("check", "The docstring.")


@pytest.mark.slow
async def test_a_server_without_authorization_is_not_judged():
    verdicts = await of_the_demo(R5, web=True)
    reasons = {
        "the server requires no authorization": ("AUTH-02", "AUTH-03", "AUTH-06", "AUTH-07", "AUTH-15"),
        "the metadata do not exist": ("AUTH-04", "AUTH-05"),
        "it has no metadata": ("AS-02", "AS-03", "AS-04", "AS-05", "AS-07", "AS-08", "AS-15"),
    }
    for reason, ids in reasons.items():
        assert {id: verdicts[id] for id in ids} == dict.fromkeys(ids, ("skip", reason))

"""Login steps that were run again alone, reduced from the journal: attached to the original step only."""

from __future__ import annotations

from inspector.client.state.login import authorization_steps
from inspector.journal.journal import Journal


def login() -> tuple[Journal, int]:
    """A login that stopped at the issuer, and the event of that step."""
    journal = Journal.unnamed({})
    journal.record_auth("challenge", True, "401")
    journal.record_auth("metadata", True, "1 of 1")
    return journal, journal.record_auth("issuer", False, "another")


def run_again(journal: Journal, n: object, run: int, *, ok: bool) -> int:
    mark = {"again": n, "run": run}
    fetched = journal.record_auth("fetch", True, "the metadata", facts={"ms": 5, "status": 200, **mark})
    journal.record_auth("metadata", True, "1 of 1", facts=mark)
    journal.record_auth("issuer", ok, f"run {run}", facts=mark)
    return fetched


def test_a_run_stands_beside_its_step_with_its_requests() -> None:
    journal, n = login()
    fetched = run_again(journal, n, 1, ok=True)
    steps = authorization_steps(journal)
    assert [step.name for step in steps[:3]] == ["challenge", "metadata", "issuer"]
    (again,) = steps[2].again
    assert (again.name, again.outcome, again.text, again.fetches, again.ms) == ("issuer", "ok", "run 1", (fetched,), 5)
    assert steps[2].outcome == "failed", "the login has not gone on"


def test_several_runs_come_one_after_another() -> None:
    journal, n = login()
    run_again(journal, n, 1, ok=False)
    run_again(journal, n, 2, ok=True)
    steps = authorization_steps(journal)
    assert [(run.text, run.outcome) for run in steps[2].again] == [("run 1", "failed"), ("run 2", "ok")]


def test_a_run_of_no_step_of_ours_is_omitted() -> None:
    journal, n = login()
    for strange in (n + 1000, -1, 0):
        run_again(journal, strange, 1, ok=True)
    assert all(not step.again for step in authorization_steps(journal))


def test_a_token_that_could_not_be_renewed_is_why_the_next_login_began() -> None:
    journal, _ = login()
    journal.record_auth("refresh", False, "refused")
    journal.record_auth("refresh", False, "deleted, and a new login starts")
    journal.record_auth("challenge", True, "401")
    journal.record_auth("resource", True, "1 of 1")
    shapes = [(step.name, step.outcome) for step in authorization_steps(journal)]
    assert shapes[:4] == [("refresh", "note"), ("refresh", "note"), ("challenge", "ok"), ("resource", "ok")]


def test_a_renewal_that_worked_is_no_part_of_the_next_login() -> None:
    journal, _ = login()
    journal.record_auth("refresh", True, "renewed")
    journal.record_auth("challenge", True, "401")
    assert authorization_steps(journal)[0].name == "challenge"

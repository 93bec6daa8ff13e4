"""Runs clients through the official suite and prints a table; `run` sets up and calls this.

    suite.py [WORD]     only scenarios whose name has the word in it

A run with problems is repeated once with nothing else running: some scenarios depend on time.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL

import yaml

from tests.conformance.scenarios import HERE, NOT_REQUIRED, SCENARIOS, Scenario, is_known
from tests.conformance.verdict import Run, problems

CACHE = Path(os.environ["CONFORMANCE_CACHE"])
NODE = os.environ["CONFORMANCE_NODE"]
PACKAGE = CACHE / "npm/node_modules/@modelcontextprotocol/conformance"
OURS = (sys.executable, str(HERE / "client.py"))
SDKS = (str(CACHE / "sdk/bin/python"), str(HERE / "sdk_client.py"))
AT_ONCE = 2
"""Scenarios at the same time."""
PATIENCE = 60
"""Seconds for one scenario; the suite itself ends a client after thirty."""
RATIO_LIMIT = 0.6
"""CPU time of our client at most, compared with the SDK's."""


async def run(scenario: Scenario, client: tuple[str, str]) -> Run:
    """Runs a scenario. The client does not know which one."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        report = Path(folder, "client.json")
        options = ["--open-skills"] if scenario.opens_skills and client is OURS else []
        timed = [sys.executable, "-ISE", str(HERE / "timed.py"), str(report), *client, *options]
        words = [
            NODE, str(PACKAGE / "dist/index.js"), "client", "--scenario", scenario.name,
            "--spec-version", scenario.revision, "--force", "-o", folder,
            "--command", "exec env -u MCP_CONFORMANCE_SCENARIO " + shlex.join(timed),
        ]  # fmt: skip
        process = await asyncio.create_subprocess_exec(
            *words, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL, start_new_session=True
        )
        try:
            await asyncio.wait_for(process.wait(), PATIENCE)
        finally:
            with suppress(ProcessLookupError):  # whatever is left of this run, and nothing else
                os.killpg(process.pid, SIGKILL)
            await process.wait()
        return _read(Path(folder), report)


def _read(folder: Path, report: Path) -> Run:
    checks = [check for path in folder.rglob("checks.json") for check in json.loads(path.read_text())]
    stderr = "".join(path.read_text() for path in folder.rglob("stderr.txt"))
    ended = json.loads(report.read_text()) if report.exists() else {"status": None, "cpu": 0.0}
    return Run(tuple(checks), ended["status"], ended["cpu"], stderr)


async def run_all(scenarios: Iterable[Scenario], client: tuple[str, str]) -> dict[Scenario, Run]:
    """Runs them two at a time; those with problems once more, one by one."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(scenario: Scenario) -> tuple[Scenario, Run]:
        async with gate:
            return scenario, await run(scenario, client)

    done = dict(await asyncio.gather(*(one(scenario) for scenario in scenarios)))
    for scenario, first in done.items():
        if client is OURS and problems(scenario, first):
            print(f"once more: {scenario.name} at {scenario.revision}: {problems(scenario, first)[0]}")
            done[scenario] = await run(scenario, client)
    return done


def forgotten() -> list[str]:
    """Scenarios for clients that the suite's sets of requirements name and our file does not list."""
    missing = []
    for revision in dict.fromkeys(scenario.revision for scenario in SCENARIOS):
        asked = yaml.safe_load((PACKAGE / "requirements" / f"{revision}.yaml").read_text())
        names = [*asked["client"], *(more["scenario"] for more in asked["not_scored"] if more["leg"] == "client")]
        missing += [f"{name} at {revision}" for name in names if not is_known(name, revision)]
    return missing


def main(word: str = "") -> int:
    """Runs both clients and prints the table. Returns 1 if a result is not the expected one."""
    chosen = [scenario for scenario in SCENARIOS if word in scenario.name]
    ours = asyncio.run(run_all(chosen, OURS))
    theirs = asyncio.run(run_all(chosen, SDKS))
    missed = 0
    print(f"{'scenario':38}{'revision':12}{'checks':>8}{'required':>10}{'SDK':>6}{'CPU':>8}{'SDK':>8}")
    for scenario, done in ours.items():
        sdk = theirs[scenario]
        print(
            f"{scenario.name:38}{scenario.revision:12}{done.successes:8}{scenario.successes:10}{sdk.successes:6}"
            f"{done.cpu:7.2f}s{sdk.cpu:7.2f}s"
        )
        wrong = problems(scenario, done)
        missed += bool(wrong)
        for text in wrong:
            print(f"  MISSED  {text}")
        if wrong and done.stderr:
            print("  stderr  " + done.stderr.strip().replace("\n", "\n          "))
    for name in forgotten():
        missed += 1
        print(f"  MISSED  {name}: scenarios.toml does not speak of it")
    for pattern, reason in NOT_REQUIRED.items():
        print(f"not required: {pattern}: {reason}")
    cpu, reference = (sum(done.cpu for done in runs.values()) for runs in (ours, theirs))
    ratio = cpu / reference
    print(
        f"{len(chosen) - missed} of {len(chosen)} as required; "
        f"CPU time {cpu:.1f} s, the Python SDK's client {reference:.1f} s: {ratio:.2f} (at most {RATIO_LIMIT})"
    )
    return 1 if missed or ratio > RATIO_LIMIT else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))

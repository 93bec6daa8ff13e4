"""`inspector context`: what a server's tools cost a model, and what hosts make of them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.cli.options import HOSTS, Option, Value, count
from inspector.cli.output import Output
from inspector.cli.verb import Verb
from inspector.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.cli.verb import Invocation
    from inspector.config.targets import Target
    from inspector.features.context.cost import ServerCost
    from inspector.features.context.report import CostGrowth, Sizes
    from inspector.hosts import EvaluatedResult, Fact
    from inspector.protocol.token_costs import TokenCounter

ABOVE_BUDGET = 5
FORMAT = "mcp-context"
PIN = "pin"
"""The word of `--against` for the pin of the target."""
_MAX_SIZE = 1 << 28


def run(invocation: Invocation) -> int:
    """Print the cost of the target; returns 5 if it is above `--budget`."""
    from inspector.cli.open_recording import recorded_session
    from inspector.cli.session_setup import facts_of, target_of
    from inspector.client.state.surfaces import surface_of
    from inspector.config.targets import RecordingTarget
    from inspector.features.context.cost import tokenizer
    from inspector.protocol.token_costs import ESTIMATED

    out = invocation.output
    facts = facts_of(invocation)
    name = invocation.option("tokenizer")
    counter = ESTIMATED if name is None else tokenizer(name)
    if invocation.option("tool") is not None:
        for option in ("against", "budget", "sort"):
            if invocation.option(option) is not None:
                raise UsageError(f"--tool cannot be used with --{option}.", hint="Remove one of them.")
    target = target_of(invocation)
    against = invocation.option("against")
    with ExitStack() as stack:
        before = None if against is None else _against(invocation, out, stack, against, target, counter)
        if isinstance(before, int):
            return before
        if isinstance(target, RecordingTarget):
            from inspector.hosts.recorded import results_in

            with recorded_session(target.path, out) as recorded:
                surface, results = surface_of(recorded), results_in(recorded.journal)
            return _tell(invocation, out, target, surface, counter, facts, results, before)
        from inspector.cli import headless

        async def work(session: Any, out: Output) -> int:
            await session.load("tools")
            error = session.catalog["tools"].error
            if error is not None:
                raise error
            return _tell(invocation, out, target, surface_of(session), counter, facts, (), before)

        return headless.run(invocation, work, target, while_waiting="inspector.features.context.text_report")


def _tell(
    invocation: Invocation,
    out: Output,
    target: Target,
    surface: dict[str, Any],
    counter: TokenCounter,
    facts: tuple[Fact, ...],
    results: tuple[EvaluatedResult, ...],
    before: tuple[str, Sizes] | None,
) -> int:
    from inspector.features.context import text_report
    from inspector.features.context.cost import cost_of
    from inspector.features.context.report import Sizes, growth, report_of

    cost = cost_of(surface["tools"], surface["instructions"], counter)
    if surface["incomplete"].get("tools"):
        out.warn(f"note: The list of tools is not complete: {out.safe(surface['incomplete']['tools'], 300)}")
    elif surface["tools"] is None:
        out.note("note: The recording has no response to tools/list.")
    info = surface["server"] or {}
    server = invocation.option("server-name") or target.name or str(info.get("name") or target.label)
    name = invocation.option("tool")
    if name is not None:
        return _one(out, cost, name, _full_names(server, name, facts))
    against: CostGrowth | None = None
    if before is not None:
        against = growth(before[0], before[1], Sizes.of(cost))
    cost = replace(cost, order=invocation.option("sort", "cost"))
    report = report_of(server, cost, facts=facts, results=results, against=against)
    budget = invocation.option("budget")
    above = budget is not None and cost.tokens > budget
    if out.json:
        import datetime

        document = {"format": FORMAT, "version": 1, **report.as_json(datetime.date.today())}
        if budget is not None:
            document["budget"] = {"tokens": budget, "ok": not above}
        out.document({"exit_code": ABOVE_BUDGET if above else 0} | document)
    else:
        out.lines(text_report.text(out, report, budget=budget))
    return ABOVE_BUDGET if above else 0


def _full_names(server: str, tool: str, facts: tuple[Fact, ...]) -> dict[str, str]:
    """Return the name of a tool for the model in each host of which that is known."""
    from inspector.hosts import ServerDefinitions, host_facts

    known, server = host_facts(), ServerDefinitions.of(server, ()).name
    hosts = dict.fromkeys(fact.host for fact in facts if known.name_rule(fact.host))
    return {host: known.full_name(host, server, tool) for host in hosts}


def _one(out: Output, cost: ServerCost, name: str, full_names: dict[str, str]) -> int:
    """Print the exact text of one tool, and its names in the chosen hosts."""
    from inspector.features.context import text_report

    tool = cost.tool(name)
    if tool is None:
        raise UsageError(f"The server has no tool “{name[:80]}”.", hint=_nearest(name, cost))
    if out.json:
        text = {"name": tool.name, "description": tool.description, "schema": tool.schema}
        out.document(tool.as_json(cost.characters) | {"text": text, "names": full_names})
    else:
        out.lines(text_report.tool_text(out, tool, estimated=cost.counter.is_estimate))
        out.lines(text_report.names_text(out, full_names))
    return 0


def _nearest(name: str, cost: ServerCost) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [tool.name for tool in cost.tools], 1, 0.5)
    return f"Did you mean {near[0][:80]}?" if near else "List the tools with `inspector tools`."


def _against(
    invocation: Invocation, out: Output, stack: ExitStack, word: str, target: Target, counter: TokenCounter
) -> tuple[str, Sizes] | int:
    """Name and sizes of the source to compare with; or the exit code of a signal."""
    from inspector.cli import comparison_sides
    from inspector.client.pins import Pins
    from inspector.features.context.cost import cost_of
    from inspector.features.context.report import Sizes

    def of(surface: dict[str, Any]) -> Sizes:
        return Sizes.of(cost_of(surface.get("tools"), surface.get("instructions"), counter))

    if word == PIN:
        pin = Pins().get(target)
        if pin is None:
            raise UsageError(f"{target.label} is not pinned.", hint=f"Pin it with: {out.command('pin')}")
        return "the pin", of(pin.surface)
    file = _json_file(word)
    if file is not None:
        sizes = _sizes_in_file(file, counter)
        if sizes is not None:
            return word, sizes
        pin = Pins(file=file).get(target)
        assert pin is not None
        return word, of(pin.surface)
    side = comparison_sides.side_of(invocation, "--against", word)
    code = comparison_sides.read(invocation, out, side, stack)
    return code if code >= comparison_sides.INTERRUPTED else (side.target.label, of(side.surface))


def _json_file(word: str) -> Path | None:
    """Return the file that `word` names, if it may be a pin or a report."""
    from pathlib import Path

    if not word.endswith(".json") or "\0" in word:
        return None
    file = Path(word).expanduser()
    return file if file.is_file() else None


def _sizes_in_file(file: Path, counter: TokenCounter) -> Sizes | None:
    """Return the sizes in a report of this command; None if the file is something else."""
    from inspector.config.foreign_files import read_bytes
    from inspector.features.context.report import sizes_in
    from inspector.protocol import jsonrpc

    try:
        document = jsonrpc.parse(read_bytes(file, limit=_MAX_SIZE))
    except jsonrpc.NotJson:
        return None
    sizes = sizes_in(document)
    if sizes is not None and sizes.method != counter.method:
        raise UsageError(
            f"{file} counts tokens as {sizes.method[:40]}, not as {counter.method}.",
            hint="Write it again with the same --tokenizer.",
        )
    return sizes


CONTEXT = Verb(
    "context",
    run,
    recordings=True,
    options=(
        HOSTS,
        Option("--tool", "Print the exact text of one tool as a model gets it", "NAME"),
        Option("--sort", "Order of the tools; the default is cost", choices=("cost", "name")),
        Option("--budget", "Exit with 5 if the tools need more tokens than this", Value("TOKENS", count)),
        Option(
            "--against",
            "Show the growth since a recording, a pin file, a report of --json, or against a server; "
            "pin is the pin of the target",
            Value("FILE|TARGET", str, "file"),
        ),
        Option("--tokenizer", "Count with this tokenizer of tiktoken, if it is on this machine", "NAME"),
        Option("--server-name", "Name of the server in the host's config, for full tool names", "NAME"),
    ),
)

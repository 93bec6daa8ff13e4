"""The entry point: runs a command line and returns the exit code. Unexpected errors go to the log file."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from inspector.cli.program_name import COMPLETES, program
from inspector.errors import InspectorError, Interrupted

if TYPE_CHECKING:
    from inspector.cli.output import Output
    from inspector.cli.verb import Invocation

INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line of this process and exit."""
    gc.set_threshold(100_000, 20, 20)  # Imports leave no garbage; collecting it takes a tenth of the start.
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass
    # Everything is closed and flushed. A regular shutdown of the interpreter takes longer than a call.
    os._exit(code)


def run(words: Sequence[str]) -> int:
    """Run a command line and return the exit code."""
    from inspector.cli.parser import asks_for_json, check_command, notes_on, scan

    as_json = asks_for_json(words)
    invocation: Invocation | None = None
    try:
        if COMPLETES in os.environ:
            from inspector.cli.verbs.completion import answer

            return answer(os.environ[COMPLETES])
        invocation = scan(words)
        as_json = invocation.json
        if "version" in invocation.values:
            from inspector.cli.output import Output
            from inspector.version import __version__, platform_text

            # Scripts read the first two words.
            Output().line(f"{program()} {__version__} ({platform_text()})")
            return 0
        if invocation.asks_for_help:
            from inspector.cli.verbs.help import print_help

            print_help(invocation.verb, all="help-all" in invocation.values)
            return 0
        try:
            check_command(invocation)
        except InspectorError:
            if asks_for_json(words):  # The word was taken for a command, and our options for its arguments.
                invocation.values["json"] = True
            raise
        for note in notes_on(invocation) if invocation.verb.name else ():  # The interface would draw over a note.
            _output(invocation, as_json).note(note)
        return invocation.verb.run(invocation)
    except InspectorError as error:
        _output(invocation, as_json).error(error)
        return error.exit_code
    except Interrupted as interrupted:
        return interrupted.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the outermost caller: the traceback goes to the log file
        from inspector.config.logfile import report

        problem = report(error)
        _output(invocation, as_json).error(problem)
        return problem.exit_code
    finally:
        from inspector.feature import skipped
        from inspector.text import sentences

        for problem in skipped():
            _output(invocation, as_json).note(f"note: {sentences(problem.message, problem.hint)}")
        if invocation is not None and invocation.out is not None:
            invocation.out.finish()


def _output(invocation: Invocation | None, as_json: bool) -> Output:
    """The output for an error: that of the command if it has started, because it holds notes."""
    from inspector.cli.output import Output

    return Output(json=as_json) if invocation is None else invocation.output

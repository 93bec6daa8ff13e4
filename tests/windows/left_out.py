"""A plugin of pytest: deselects the tests that cannot run on Windows, and prints how many and why.

`python -m pytest -p tests.windows.left_out`. A test that names what only POSIX has is deselected by that name; its
counterpart, if there is one, shows the same for Windows.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FILES = {
    "tests/transports/test_stdio.py": "signals, sessions and limits of processes; instead: tests/system/test_trees.py",
    "tests/client/test_recording.py": "flock; instead: tests/system/test_files.py",
    "tests/calls/test_writing.py": "limits of a process fake a full disk",
    "tests/transports/test_write_batch.py": "its pipes are made by pipe2; instead: tests/system/test_streams.py",
    "tests/auth/test_leaks.py": "a pseudo-terminal",
    "tests/features/load/test_server_process.py": "/proc; instead: tests/system/test_trees.py",
    "tests/system/test_seam.py": "reads the sources, which are the same",
}
"""Test files that cannot be imported, or are about POSIX as a whole."""
TESTS = {
    "test_http_failures.py::test_a_port_without_a_listener": "Wine: a refused connection is an invalid argument",
    "test_http_failures.py::test_the_next_address_of_a_name_is_tried": "Wine: a refused connection is an invalid argument",
    "test_http_failures.py::test_a_proxy_that_is_not_there": "Wine: a refused connection is an invalid argument",
    "test_sse.py::test_a_port_without_a_listener": "Wine: a refused connection is an invalid argument",
    "test_urls.py::test_a_closed_port": "Wine: a refused connection is an invalid argument",
    "test_urls.py::test_a_proxy_that_refuses": "Wine: a refused connection is an invalid argument",
    "test_http_failures.py::test_a_name_that_does_not_exist": "Wine: a name without an address has another error",
    "test_stdio.py::test_draining_waits_until_the_client_has_read": "Windows does not tell what is in a pipe",
    "test_tasks.py::test_a_core_task_is_read_until_it_is_over_and_its_result_is_fetched": "the clock ticks every 16 ms",
    "test_session.py::test_a_function_that_blocks_is_interrupted": "nothing interrupts code that waits",
    "test_session.py::test_a_function_that_cannot_be_interrupted": "nothing interrupts code that waits",
    "test_source_files.py::test_programs_and_settings_count_and_nothing_else": "Wine: changes of files are reported late",
    "test_marks.py::test_a_recording_that_cannot_be_opened_to_write": "an open file cannot be removed or replaced",
    "test_marks.py::test_a_recording_that_was_replaced_is_left_alone": "an open file cannot be removed or replaced",
    "test_saved_index.py::test_a_recording_that_was_changed_where_nothing": "Wine: no time of the last change of a status",
    "test_saved_index.py::test_a_recording_without_a_name_leaves_nothing": "a mapped file cannot be removed; instead: "
    "test_a_journal_that_is_dropped_leaves_nothing",
    "test_exit_codes.py::test_2_for_the_interface_without_a_terminal[words3]": "Wine has no python on its PATH",
    "test_interface.py::test_a_command_is_the_target_with_all_its_words": "Wine has no npx on its PATH",
    "test_output_files.py::test_what_is_not_a_recording_is_listed_as_that": "no name of a file has control characters",
}
"""The beginnings of the names of other tests, and the reason not to run them."""
CASES = {
    "tests/doctor/test_hosts.py::test_the_cause_of_a_broken_set_up_is_named_first": (
        "a program of nvm",
        "a script in the folder of the project",
    ),
    "tests/doctor/test_hosts.py::test_a_healthy_set_up_has_no_cause": ("a shell that expands",),
    "tests/doctor/test_parts.py::test_a_version_is_installed_where_the_server_looks_for_it": (("sh", "run.sh"),),
    "tests/config/test_servers.py::test_a_broken_file_is_named_and_hides_no_other": ("dangling", "loop", "fifo"),
    "tests/config/test_client_configs.py::test_what_our_own_file_cannot_mean_is_named": ("cannot be parsed",),
    "tests/config/test_expand.py::test_each_client_has_its_own_references": (
        "${env:TOKEN}|${userHome}|${cwd}",
        "${workspaceFolder}${/}x ${workspaceFolderBasename}",
        "${env:TOKEN}${pathSeparator}${workspaceFolder}",
        "${TOKEN} ${env:TOKEN} ${NONE:-d} ${workspaceFolder} ${userHome}",
    ),
    "tests/config/test_trust.py::test_an_entry_of_a_cloned_folder_is_refused_before_any_value_is_read": (
        "/.vault-token in header X-A",
        "/.vault-token in the environment",
        "/etc/passwd",
    ),
    "tests/calls/test_recipients.py::test_options_with_credentials_are_for_one_server": (False,),
    "tests/calls/test_recipients.py::test_an_environment_of_a_cloned_folder_asks_before_a_value_is_read": (
        "file:~/vault",
    ),
}
"""Of these tests, the values of their parameters that need what POSIX has: the other cases run."""
NAMES = {
    r"mkfifo|/dev/|devnull": "named pipes and devices in the file system",
    r"chmod|st_mode|\bmode\(|umask|geteuid|getuid": "modes and owners of files",
    r"symlink|readlink|is_link": "symbolic links, which need a privilege",
    r"\bSIG(?!N)[A-Z]{3,}|os\.kill|killpg|waitid|pidfd": "signals; instead: tests/system/test_trees.py",
    r"\bpty\b|termios|fcntl|\bresource\.[gs]etrlimit|\bTerminal\(|on_terminal|dialogue": "terminals and limits of POSIX",
    r"[\"']/bin/(?:ba)?sh[\"']|\[[\"']sh[\"'], |[\"']bash[\"'], [\"']-l?c[\"']": "a POSIX shell",
    r"executable\(.*#!": "a program without a suffix",
    r"os\.pipe|set_blocking|socketpair": "pipes on the event loop; instead: tests/system/test_streams.py",
    r"/proc": "/proc",
    r"os\.fork": "a process has no copies",
    r"getloadavg": "Windows has no load average",
}
"""By a name in the source of a test, the reason not to run it."""

POSIX_TEXTS = {
    "tests/calls/test_environments.py": """
        test_a_folder_in_which_the_user_is_does_not_make_its_files_the_users
    """,
    "tests/calls/test_recipients.py": """
        test_a_secret_of_an_environment_is_for_one_server_under_any_name
        test_the_users_own_environment_asks_for_a_flow_of_others_that_names_the_server
    """,
    "tests/config/test_expand.py": """
        test_a_missing_variable_is_named_with_server_file_and_remedy
    """,
    "tests/config/test_paths.py": """
        test_an_override_may_be_relative_or_begin_with_home
        test_reports_name_a_path_relative_to_the_folder_or_the_home
        test_without_an_override_the_platforms_folders_are_used
    """,
    "tests/config/test_registry_entries.py": """
        test_a_required_value_that_is_missing_names_its_variable
    """,
    "tests/config/test_servers.py": """
        test_a_summary_is_whole_and_hides_literal_secrets
        test_listing_expands_and_asks_nothing
        test_our_own_folder_is_where_platformdirs_has_it
    """,
    "tests/config/test_targets.py": """
        test_a_command_is_shown_as_the_shell_of_the_system_reads_it
        test_a_described_command_is_one_line_that_means_the_same
        test_labels_of_urls_and_recordings
    """,
}
"""By file, tests that expect commands as a POSIX shell takes them, paths with “/”, or config folders below the home."""
_POSIX_TEXTS = "texts and folders of POSIX; instead: tests/test_command_words.py, tests/test_file_uris.py"

_left: Counter[str] = Counter()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Make the folders of the tests outside of the home folder. Files below it may be the user's."""
    if sys.platform == "win32" and config.option.basetemp is None:
        config.option.basetemp = tempfile.mkdtemp(prefix="tests-", dir=f"{os.environ['SYSTEMDRIVE']}\\")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the files of the table."""
    reason = FILES.get(collection_path.relative_to(ROOT).as_posix()) if collection_path.is_relative_to(ROOT) else None
    if reason is None:
        return None
    _left[f"{collection_path.name}, whole: {reason}"] += 1
    return True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that name what only POSIX has."""
    runs, left = [], []
    for item in items:
        reason = _reason(item)
        _left.update([reason] if reason else [])
        (left if reason else runs).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = runs


def _reason(item: pytest.Item) -> str:
    if not isinstance(item, pytest.Function) or item.path.parent.name == "system":  # These tests are the counterparts.
        return ""
    for name, reason in TESTS.items():
        if f"{item.path.name}::{item.name}".startswith(name):
            return reason
    file, name = item.path.relative_to(ROOT).as_posix(), item.function.__name__
    if name in POSIX_TEXTS.get(file, "").split():
        return _POSIX_TEXTS
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    posix_cases = CASES.get(f"{file}::{name}")
    if posix_cases is not None:
        return (
            "cases with named pipes, links, shells, programs without a suffix and paths with “/”"
            if any(value in posix_cases for value in values)
            else ""
        )
    source = "".join(inspect.getsource(function) for function in (item.function, *filter(inspect.isfunction, values)))
    return next((reason for name, reason in NAMES.items() if re.search(name, source)), "")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were left out, by reason."""
    for reason, count in sorted(_left.items()):
        terminalreporter.write_line(f"left out: {count:4} {reason}")

"""Variables of the shell that a server did not get: which are named, and how."""

from __future__ import annotations

import pytest

from inspector.config.targets import HttpTarget, StdioTarget
from inspector.hints import Hint
from inspector.transports.child import child_environment
from inspector.transports.withheld import passing_hint, variables_hint, withheld_names

SHELL = {
    "PATH": "/bin", "ORDERS_KEY": "k-1", "DEBUG": "1", "EDITOR": "vi", "SHOP_URL": "https://x", "API_TOKEN": "t-1",
    "HTTPS_PROXY": "http://me:pw@proxy", "EMPTY_KEY": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("stderr", "names"),
    [
        (["KeyError: 'ORDERS_KEY'"], ["ORDERS_KEY"]),
        (["set SHOP_URL and ORDERS_KEY first", "ORDERS_KEY?"], ["SHOP_URL", "ORDERS_KEY"]),
        (["DEBUG: PATH is /bin"], ["API_TOKEN", "ORDERS_KEY"]),
        (["cannot use HTTPS_PROXY"], ["HTTPS_PROXY"]),
        (["EMPTY_KEY is not set"], ["API_TOKEN", "ORDERS_KEY"]),
        (["no key"], ["API_TOKEN", "ORDERS_KEY"]),
        ([], ["API_TOKEN", "ORDERS_KEY"]),
    ],
)
def test_names_in_the_log_come_before_names_that_look_like_keys(stderr: list[str], names: list[str]) -> None:
    assert withheld_names(stderr, child_environment({}, SHELL), SHELL) == names


def test_what_the_server_got_is_not_named() -> None:
    assert withheld_names(["ORDERS_KEY"], {**SHELL}, SHELL) == []
    assert withheld_names([], child_environment({}, SHELL), SHELL, guess=False) == []


def test_the_hint_names_options_and_no_values() -> None:
    one = passing_hint(["ORDERS_KEY"])
    assert (
        one.command_line
        == "ORDERS_KEY is set in this shell but not passed to the server. To pass it: --env ORDERS_KEY."
    )
    assert str(one).endswith('To pass it: env={"ORDERS_KEY": None}.')
    many = passing_hint(["A_KEY", "B_KEY", "C_KEY", "D_KEY"]).command_line
    assert many.startswith("A_KEY, B_KEY, C_KEY and 1 more are set in this shell but not passed to the server.")
    assert many.endswith("To pass them: --env A_KEY and --env B_KEY and --env C_KEY.")
    assert passing_hint([]) == Hint()


def test_a_server_without_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDERS_KEY", "k-1")
    assert "ORDERS_KEY" in variables_hint(StdioTarget(("s",)))
    assert "ORDERS_KEY" not in variables_hint(StdioTarget(("s",), {"ORDERS_KEY": "k-1"}))
    assert not variables_hint(StdioTarget(("s",), inherits=True))
    assert not variables_hint(HttpTarget("https://h.example"))

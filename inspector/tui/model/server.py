"""The verbs of the server's pane, and of a connection that is being made or has failed."""

from __future__ import annotations

from typing import NamedTuple

from inspector.tui.model.verbs import Offer, VerbRules


class ServerTabFacts(NamedTuple):
    """The facts about a server and its connection. `live`: it is not a recording."""

    live: bool = True
    stdio: bool = True
    """It is a local process."""
    can_log: bool = False
    """It sends log messages, of a level that can be set."""
    names_file: bool = False
    """Its stderr names a file."""
    logins: bool = False
    watching: bool = False
    """Its files are watched."""
    connecting: bool = False
    lost_call: bool = False
    """A call was lost with the connection."""
    needs_login: bool = False
    """The connection failed for lack of a login."""
    hides_cause: bool = False
    """The doctor's report is shown instead of the cause."""

    @property
    def local(self) -> bool:
        """Its process can be restarted."""
        return self.live and self.stdio

    @property
    def failed(self) -> bool:
        """The connection is not being made."""
        return not self.connecting


SERVER_VERBS: VerbRules[ServerTabFacts] = VerbRules(
    {
        "server.open-source": lambda facts: facts.names_file,
        "server.reconnect": lambda facts: facts.live,
        "server.restart": lambda facts: facts.local,
        "server.edit": lambda facts: facts.live,
        "server.watch": lambda facts: facts.local,
        "server.log-level": lambda facts: facts.live and facts.can_log,
        "server.authorization": lambda facts: facts.logins,
    },
    (
        Offer("server.open-source"),
        Offer("server.reconnect"),
        Offer("server.restart"),
        Offer("server.edit", title=lambda facts: "edit the command" if facts.stdio else "edit the URL"),
        Offer("server.watch", title=lambda facts: "stop watching" if facts.watching else ""),
        Offer("server.log-level"),
        Offer("server.authorization"),
        Offer("app.revision", lambda facts: facts.live),
    ),
)


def _again(facts: ServerTabFacts) -> str:
    if facts.stdio:
        return "start again"
    return "log in again" if facts.needs_login else "connect again"


FAILED_VERBS: VerbRules[ServerTabFacts] = VerbRules(
    {
        "failed.stop": lambda facts: facts.connecting,
        "failed.again": lambda facts: facts.failed and facts.live,
        "failed.call-again": lambda facts: facts.failed and facts.live and facts.lost_call,
        "failed.edit": lambda facts: facts.failed and facts.live,
        "failed.doctor": lambda facts: facts.live,
        "failed.back": lambda facts: facts.hides_cause,
        "failed.watch": lambda facts: facts.local,
        "failed.authorization": lambda facts: facts.logins,
        "failed.otherwise": lambda facts: facts.needs_login,
        "failed.open-source": lambda facts: facts.names_file,
    },
    (
        Offer("failed.stop"),
        Offer("failed.back"),
        Offer("failed.again", title=_again),
        Offer("failed.call-again"),
        # The login and its error are wanted more often than another path.
        Offer("failed.authorization", lambda facts: facts.failed and facts.logins and not facts.stdio),
        Offer("failed.otherwise", lambda facts: facts.failed and facts.needs_login and not facts.stdio),
        Offer("failed.doctor"),
        Offer("failed.edit", lambda facts: facts.failed and facts.local, "edit the command"),
        Offer("failed.copy", lambda facts: facts.failed),
        Offer("failed.edit", lambda facts: facts.failed and facts.live and not facts.stdio, "edit the URL"),
        Offer("failed.open-source", lambda facts: facts.failed and facts.names_file and facts.stdio),
        Offer(
            "failed.watch",
            lambda facts: facts.failed and facts.local,
            lambda facts: "stop watching" if facts.watching else "restart on change",
        ),
        Offer("app.revision", lambda facts: facts.failed and facts.live),
    ),
)

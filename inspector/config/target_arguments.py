"""Parses a target on the command line: a URL, a name in a config file, a recording or a command."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from inspector import command_words
from inspector.config import paths
from inspector.config.paths import RECORDING_SUFFIX
from inspector.config.server_variables import ServerVariables
from inspector.config.targets import DEMO, HttpTarget, RecordingTarget, StdioTarget, Target, demo_target
from inspector.config.text_checks import checked_headers, checked_text, checked_url, one_line
from inspector.errors import TargetError
from inspector.hints import Hint, Parameter, UnsetParameters
from inspector.lazy_pattern import lazy_pattern
from inspector.reasons import split_reason

if TYPE_CHECKING:
    from inspector.config.expand import AskInput
    from inspector.config.trust import Consent

"""The suffix of recordings' file names."""
_RECORDING_HEADER = lazy_pattern(rb'(?:\xef\xbb\xbf)?\s*\{\s*"format"\s*:\s*"mcp-recording"')
_URL = lazy_pattern(r"https?://", re.IGNORECASE)
_WRAPPERS = frozenset((('"', '"'), ("'", "'"), ("<", ">"), ("`", "`"), ("(", ")"), ("“", "”")))
"""Pairs of characters around a URL that was copied from a text."""
_HOST_AND_PORT = lazy_pattern(r"(?:[\w-]+\.)*[\w-]+:\d{2,5}(?:/\S*)?|\[[0-9a-fA-F:]+\]:\d{2,5}(?:/\S*)?")


def parse_target(
    words: Sequence[str],
    *,
    command: bool = False,
    config: Path | None = None,
    headers: Sequence[tuple[str, str]] = (),
    env: Mapping[str, str | None] | None = None,
    env_files: Sequence[Path] = (),
    inherit_env: bool = False,
    cwd: str | Path | None = None,
    transport: Literal["auto", "stdio", "http", "sse"] = "auto",
    verify: bool = True,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
    folder: Path | None = None,
    prompt: AskInput | None = None,
    consent: Consent | None = None,
) -> Target:
    """Return the target in `words`: a URL, `@NAME` or `@NAME:FILEPART`, a recording, or a command.

    Without an entry of that name, `@demo` is the bundled demo server.
    With `command` the words came after `--` and are always a command. `headers`, `env` (None: the value of this shell),
    `env_files`, `inherit_env`, `cwd`, `transport` and `verify` (False: accept any certificate) are flags of the command
    line: they override a config file. `prompt` asks for the values that a config file leaves to its user, `consent` for
    what a file that is not the user's own would expose.
    Raises TargetError, ConfigError for an invalid file, or TrustNeeded.
    """
    environ = os.environ if environ is None else environ
    folder = Path.cwd() if folder is None else folder
    home = paths.home_folder() if home is None else home
    if not words or not words[0].strip():
        raise TargetError(
            "The target is missing", hint="Give a command, a URL, @NAME from a config file, or a recording."
        )
    variables = ServerVariables(env or {}, [_located(str(path), folder, home) for path in env_files], inherit_env)
    flags = _Flags(tuple(headers), variables, environ, _existing_folder(cwd, folder, home), transport, verify)
    if command and not (len(words) == 1 and _URL.match(_unwrapped(words[0]))):
        return flags.on_command(words)
    first = _unwrapped(words[0])
    if first.startswith("@"):
        _refuse_more(words, "a server's name")
        from inspector.config import servers

        listed = servers.find_servers(folder, home, environ, config=config)
        if first == f"@{DEMO}" and config is None and not listed.knows(DEMO):
            return flags.on_entry(demo_target())
        return flags.on_entry(servers.resolve(listed.find(first), environ, prompt, home=home, consent=consent))
    if _URL.match(first):
        _refuse_more(words, "a URL")
        return flags.on_url(first)
    if len(words) == 1:
        path = recording_path(first, folder=folder, home=home, environ=environ)
        if is_recording(path):
            flags.refuse_all("a recording")
            return RecordingTarget(path)
        _refuse_other_words(first, path)
        if not _is_file(path) and any(char.isspace() for char in first):
            return flags.on_command(_split(first))
    return flags.on_command(words)


def with_options(
    target: StdioTarget | HttpTarget, *, env: Mapping[str, str | None], headers: Sequence[tuple[str, str]]
) -> StdioTarget | HttpTarget:
    """Return a target with more variables or headers, those of `parse_target`. Raises TargetError."""
    return _Flags(tuple(headers), ServerVariables(env), os.environ, None, "auto", True).on_entry(target)


def _unwrapped(word: str) -> str:
    """Return a URL without what was copied with it: white space, quotes, angle brackets; any other word as it is."""
    bare = word.strip()
    while len(bare) > 1 and (bare[0], bare[-1]) in _WRAPPERS:
        bare = bare[1:-1].strip()
    return bare if _URL.match(bare) else word


def recording_path(
    word: str,
    *,
    folder: Path | None = None,
    home: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Path:
    """Return the file that `word` names: a path, else a recording in the recordings folder, with or without the
    suffix."""
    folder = Path.cwd() if folder is None else folder
    path = _located(word, folder, paths.home_folder() if home is None else home)
    if word and not {"/", os.sep, "\0"} & set(word) and not _is_file(path):
        kept = paths.recordings_path(environ)
        for name in (word, f"{word}{RECORDING_SUFFIX}"):
            if name.endswith(RECORDING_SUFFIX) and _is_file(kept / name):
                return kept / name
    return path


def is_recording(path: Path) -> bool:
    """Whether a regular file at `path` is named like a recording or starts like one."""
    if not _is_file(path):
        return False
    if path.name.endswith(".jsonl"):
        return True
    try:
        with open(path, "rb") as file:
            return _RECORDING_HEADER.match(file.read(256)) is not None
    except OSError:
        return False


class _Flags(NamedTuple):
    """The flags of the command line for the target."""

    headers: tuple[tuple[str, str], ...]
    variables: ServerVariables
    environ: Mapping[str, str]
    cwd: str | None
    transport: Literal["auto", "stdio", "http", "sse"]
    verify: bool

    def on_command(self, words: Sequence[str]) -> StdioTarget:
        argv = tuple(checked_text(word, "the command") for word in words)
        return self._on_stdio(StdioTarget(argv))

    def on_url(self, url: str) -> HttpTarget:
        return self._on_http(HttpTarget(checked_url(url)))

    def on_entry(self, target: StdioTarget | HttpTarget) -> StdioTarget | HttpTarget:
        return self._on_stdio(target) if isinstance(target, StdioTarget) else self._on_http(target)

    def refuse_all(self, what: str) -> None:
        self._refuse(what, headers=True, env=True, cwd=True, verify=True)
        if self.transport != "auto":
            raise TargetError(f"--transport {self.transport} has no effect on {what}")

    def _on_stdio(self, target: StdioTarget) -> StdioTarget:
        self._refuse("a server that is started as a command", headers=True, verify=True)
        if self.transport not in ("auto", "stdio"):
            raise TargetError(
                f"--transport {self.transport} needs a URL, and {target.label} is a command",
                hint=Hint(UnsetParameters((Parameter.TRANSPORT,)), ", or give the server's URL."),
            )
        target = self.variables.added_to(target, self.environ)
        return target if self.cwd is None else replace(target, cwd=self.cwd)

    def _on_http(self, target: HttpTarget) -> HttpTarget:
        self._refuse("a server at a URL", env=True, cwd=True)
        if self.transport == "stdio":
            raise TargetError(
                f"--transport stdio needs a command, and {target.label} is at a URL",
                hint=Hint(UnsetParameters((Parameter.TRANSPORT,)), ", or give the server's command after --."),
            )
        new = checked_headers(self.headers)
        replaced = {name.casefold() for name, _ in new}
        kept = tuple(field for field in target.headers if field[0].casefold() not in replaced)
        transport = target.transport if self.transport == "auto" else self.transport
        verify = target.verify and self.verify
        return replace(target, headers=kept + new, transport=transport, verify=verify)

    def _refuse(
        self, what: str, *, headers: bool = False, env: bool = False, cwd: bool = False, verify: bool = False
    ) -> None:
        given = (
            (Parameter.HEADERS, headers and self.headers),
            (Parameter.ENV, env and self.variables.given),
            (Parameter.ENV_FILE, env and self.variables.files),
            (Parameter.INHERIT_ENV, env and self.variables.inherit),
            (Parameter.CWD, cwd and self.cwd),
            (Parameter.VERIFY, verify and not self.verify),
        )
        for parameter, unwanted in given:
            if unwanted:
                raise TargetError(
                    f"{parameter.option} has no effect on {what}", hint=Hint(UnsetParameters((parameter,)), ".")
                )


def _refuse_more(words: Sequence[str], what: str) -> None:
    if len(words) > 1:
        raise TargetError(
            f"Unexpected argument {one_line(words[1][:60])} after {what}",
            hint="Put a command after --, and options before the target.",
        )


def _refuse_other_words(word: str, path: Path) -> None:
    """Raise a precise error for a single word that cannot be a command."""
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", word)
    if scheme:
        raise TargetError(
            f"{scheme[1]} URLs are not supported", hint="Give an http or https URL, or a command after --."
        )
    if {"/", os.sep} & set(word) and os.path.isdir(path):
        raise TargetError(f"{one_line(word)} is a folder", hint="Give a command, a URL, @NAME or a recording.")
    if word.endswith(".jsonl"):
        raise TargetError(f"No recording at {one_line(word)}", hint="`inspector recordings` lists the existing ones.")
    if _HOST_AND_PORT.fullmatch(word) and not _is_file(path):
        raise TargetError(f"{word} is not a command", hint=f"For the server there, write http://{word}")
    if re.fullmatch(r"\S+\.json", word) and not _is_file(path):
        raise TargetError(f"{one_line(word)} does not exist", hint="Check the path of the file.")
    if word.endswith(".json") and _is_file(path):
        quoted = command_words.quote(word)
        raise TargetError(
            f"{one_line(word)} is not a command",
            hint=Hint("If it is a config file, open one of its servers: ", Parameter.OPEN_CONFIG.to(quoted)),
        )


def _split(text: str) -> list[str]:
    try:
        words = command_words.split(text)
    except ValueError as error:
        raise TargetError(f"The command {one_line(text[:80])} cannot be parsed: {split_reason(error)}") from None
    if not words:
        raise TargetError("The command is empty")
    return words


def _existing_folder(cwd: str | Path | None, folder: Path, home: Path) -> str | None:
    if cwd is None:
        return None
    path = _located(str(cwd), folder, home)
    if not os.path.isdir(path):
        raise TargetError(f"--cwd {one_line(str(cwd))} is not a folder")
    return str(path)


def _located(text: str, folder: Path, home: Path) -> Path:
    return home / text[2:] if text.startswith(("~/", f"~{os.sep}")) else folder / text


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)

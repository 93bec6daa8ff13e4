"""A verb of the command line (its arguments, options and function), and one invocation of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from inspector.cli import verbs
from inspector.cli.options import CONNECT, HELP, HELP_ALL, JSON, LOGIN, QUIET, SERVER, Option
from inspector.errors import UsageError
from inspector.feature import broken, features, skipped

if TYPE_CHECKING:
    from inspector.cli.manual import Page
    from inspector.cli.output import Output
    from inspector.config.command_lines import CommandLine
    from inspector.config.targets import Target

HELP_NAMES = (HELP.name, HELP_ALL.name)
_CONNECTION = frozenset(option.name for option in (*SERVER, *LOGIN))
"""The options that any verb on the same target needs too."""


class PositionalArgument(NamedTuple):
    """A positional argument before the target; help shows it as `shown`.

    A `pairs` slot takes every `key=value` and `key:=json`, a `paths` slot every word that is not a target by itself, a
    `json` slot a word that starts an object or a list, `@FILE.json` or `-`; all may stay empty, and so may a slot
    that is `optional`. A slot that is `before_target` takes no word that is a target by itself. With `takes_command`,
    the words after `--` fill it. A slot `after` the target takes a word that follows a target of one word.
    """

    name: str
    kind: Literal["one", "pairs", "paths", "json"] = "one"
    shown: str = ""
    choices: tuple[str, ...] = ()
    completes: str = ""
    takes_command: bool = False
    optional: bool = False
    after: bool = False
    before_target: bool = False

    @property
    def metavar(self) -> str:
        """The slot in help and errors."""
        return self.shown or "|".join(self.choices) or self.name.upper()

    def takes(self, word: str) -> bool:
        """Whether `word` can stand here."""
        if self.kind == "one":
            return not self.before_target or not (word.startswith("@") or "://" in word)
        if self.kind == "paths":
            return not word.startswith("@") and "://" not in word
        if self.kind == "pairs":
            return is_pair(word)
        return word.startswith(("{", "[")) or word in ("-", "@-") or (word.startswith("@") and word.endswith(".json"))

    @property
    def takes_many(self) -> bool:
        """Whether it takes more than one word."""
        return self.kind in ("pairs", "paths")

    @property
    def usage(self) -> str:
        """The slot in the line of usage."""
        return self.metavar if self.kind == "one" and not self.optional else f"[{self.metavar}]"


class VerbOptions(NamedTuple):
    """The options that a feature adds to a verb of the core. The verb says when it calls `use`."""

    options: Sequence[Option]
    use: Callable[..., Any]
    about: str = ""
    """What the help of the verb says about them."""
    examples: tuple[str, ...] = ()


def _added_to(verb: str, options: Sequence[Option]) -> list[VerbOptions]:
    """The options that features add to a verb of the core with `options`."""
    taken = dict.fromkeys((flag for option in options for flag in option.accepted), "Inspector")
    additions = []
    for feature in features():
        added = feature.load_or_skip(feature.options[verb], VerbOptions) if verb in feature.options else None
        flags = [flag for option in added.options for flag in option.flags] if added is not None else []
        if twice := next((flag for flag in flags if flag in taken), ""):
            skipped().append(broken(feature.package, f"{taken[twice]} has an option {twice} of {verb}"))
        elif added is not None:
            taken |= dict.fromkeys(flags, feature.package)
            additions.append(added)
    return additions


class Verb:
    """One verb. `run` takes the invocation and returns the exit code.

    `target` tells whether the verb takes a server after its slots; with `recordings`, it may be a recording; with
    `several`, more than one `@NAME`. `without` names shared options that mean nothing to the verb. `texts` are the
    values of the `{placeholders}` of its page in `pages/`. With `extended`, features may add options.
    """

    __slots__ = ("added", "name", "options", "recordings", "run", "several", "slots", "target", "texts")

    def __init__(
        self,
        name: str,
        run: Callable[[Invocation], int],
        *,
        slots: Sequence[PositionalArgument] = (),
        options: Sequence[Option] = (),
        target: Literal["required", "optional", "none"] = "required",
        recordings: bool = False,
        several: bool = False,
        prints: bool = True,
        without: Sequence[str] = (),
        texts: Mapping[str, str] | None = None,
        extended: bool = False,
    ) -> None:
        self.name = name
        self.run = run
        self.slots = tuple(slots)
        self.target = target
        self.recordings = recordings
        self.several = several
        own = {option.name for option in options}
        shared = [option for option in CONNECT if option.name not in own] if target != "none" else ()
        shared = [option for option in shared if option.name not in without]
        common = (*shared, *((JSON, QUIET) if prints else ()), HELP, HELP_ALL)
        self.added = _added_to(name, (*options, *common)) if extended else ()
        self.options = (*options, *(option for addition in self.added for option in addition.options), *common)
        self.texts = texts or {}

    @property
    def page(self) -> Page:
        """Its page of the help."""
        from inspector.cli.manual import read_page

        name = self.name or "open"
        of_feature = verbs.of_feature(name)
        if of_feature is None:
            page = read_page(name, self.texts)
        else:
            try:
                page = read_page(name, self.texts, of_feature[0].folder)
                page.tables[0]
            except (OSError, UnicodeDecodeError, IndexError) as error:
                raise broken(of_feature[0].package, f"pages/{name}.txt: {type(error).__name__}") from error
        for addition in self.added:
            page = page.followed_by(addition.about, addition.examples)
        return page

    @property
    def takes_pairs(self) -> bool:
        """Whether arguments in KEY=VALUE form may be given."""
        return any(slot.kind == "pairs" for slot in self.slots)

    @property
    def target_kinds(self) -> str:
        """Return what the target may be besides a command."""
        return (
            "a URL, @NAME from a config file, or a recording"
            if self.recordings
            else "a URL, or @NAME from a config file"
        )

    @property
    def needs_target(self) -> UsageError:
        """The error of a command line without a target."""
        return UsageError(
            f"`inspector {self.name}` needs a target.", hint=f"Give a command after --, {self.target_kinds}."
        )

    @property
    def usage(self) -> str:
        """The line of usage, without the program's name."""
        target = {"required": ["TARGET"], "optional": ["[TARGET]"], "none": []}[self.target]
        before = [slot.usage for slot in self.slots if not slot.after]
        after = [slot.usage for slot in self.slots if slot.after]
        return " ".join([self.name, "[OPTIONS]", *before, *target, *after]).strip()


class Invocation:
    """A parsed command line: the verb, the values of its options and slots, and the words of the target."""

    __slots__ = ("arguments", "command", "flags", "out", "target_words", "typed", "values", "verb")

    def __init__(
        self,
        verb: Verb,
        values: dict[str, Any],
        arguments: dict[str, Any],
        target_words: list[str],
        command: bool,
        typed: Sequence[tuple[Option | PositionalArgument, str]] = (),
        flags: Mapping[str, str] | None = None,
    ) -> None:
        self.verb = verb
        self.values = values
        self.arguments = arguments
        """By slot: a word, a list of words for `pairs` and `paths`, None for an empty `json`."""
        self.target_words = target_words
        self.command = command
        """The target came after `--`, so it is a command."""
        self.typed = typed
        """The options and arguments as they were typed, in order."""
        self.flags = flags or {}
        """The flag with which each option was given, by the name of the option."""
        self.out: Output | None = None
        """Where the command prints, once it has started to."""

    @property
    def output(self) -> Output:
        """The single output of the command."""
        if self.out is None:
            from inspector.cli.output import Output

            self.out = Output(json=self.json, quiet=self.quiet, verb=self.verb.name, line_for=self.line_for)
        return self.out

    def option(self, name: str, default: Any = None) -> Any:
        """The value of option `--name`, or `default` if it was not given."""
        return self.values.get(name, default)

    @property
    def line(self) -> CommandLine:
        """The command line as it was given."""
        from inspector.cli.program_name import program
        from inspector.config import secret_values
        from inspector.config.command_lines import CommandLine, masked

        words = [(part.after, word) for part, word in self.typed if isinstance(part, PositionalArgument)]
        secrets = secret_values.unique(
            [
                # `--env NAME` has no value here: the server gets that of the shell.
                *secret_values.in_environment(pair for pair in self.option("env", ()) if pair[1] is not None),
                *secret_values.in_headers(self.option("header", ())),
                *secret_values.in_arguments(self.target_words),
            ]
        )
        target = masked(self.target_words, secrets)
        return CommandLine(
            self.verb.name,
            tuple((part.name, _typed(part, word, secrets)) for part, word in self.typed if isinstance(part, Option)),
            masked([word for is_after, word in words if not is_after], secrets),
            f"-- {target}" if self.command else target,
            masked([word for is_after, word in words if is_after], secrets),
            program(),
            _CONNECTION - {option.name for option in self.verb.options if option not in CONNECT},
            secrets,
        )

    def line_for(self, verb: str, target: Target | None = None) -> CommandLine:
        """The command line of another verb on the same target, or on `target`, with the options that it takes."""
        line = self.line.with_verb(verb, _CONNECTION - {option.name for option in load(verb).options})
        return line if target is None else line.on(target)

    @property
    def json(self) -> bool:
        """Whether --json was given."""
        return "json" in self.values

    @property
    def asks_for_help(self) -> bool:
        """Whether --help or --help-all was given."""
        return not self.values.keys().isdisjoint(HELP_NAMES)

    @property
    def quiet(self) -> bool:
        """Whether --quiet was given: only errors go to stderr."""
        return "quiet" in self.values


def load(name: str) -> Verb:
    """The verb of this name; `open` is the interface. KeyError for an unknown name."""
    if (found_there := verbs.of_feature(name)) is not None:
        feature, row = found_there
        return feature.load_as(Verb, row.verb)
    if not verbs.is_core(name):
        raise KeyError(name)
    from importlib import import_module

    verb: Verb = getattr(import_module(f"inspector.cli.verbs.{verbs.MODULES.get(name, name)}"), name.upper())
    return verb


def _typed(option: Option, word: str, secrets: Sequence[str]) -> str:
    """An option as it is typed in a shell, without the secrets in its value."""
    import os

    from inspector.config.command_lines import masked, set_header, set_variable

    name, equals, value = word.partition("=")
    if option.name == "env":
        return set_variable(name, value if equals else None, os.environ)
    if option.name == "header":
        name, _, value = word.partition(":")
        return set_header(name.strip(), value.strip())
    return f"{option.flags[-1]} {masked([word], secrets)}" if word else option.flags[-1]


def is_pair(word: str) -> bool:
    """Whether `word` is `key=value` or `key:=json`, and not a URL with a query or the name of a server."""
    name, equals, _ = word.partition("=")
    return bool(equals) and bool(name.rstrip(":")) and "://" not in name and not name.startswith(("@", "-"))

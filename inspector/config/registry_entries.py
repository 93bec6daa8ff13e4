"""Reads `server.json` of the MCP registry: packages that a runner starts, and remotes.

Source: the schema of 2025-12-11 (`Package`, `Argument`, `KeyValueInput`, `RemoteTransport`) and the key spellings of
earlier versions. The user provides the missing values: an environment variable comes from the variable of the same
name, any other value from `INPUT_<NAME>`, then the prompt, then the default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from inspector.config import entry_fields, foreign_files, server_definition
from inspector.config.expand import Expander, InputQuestion
from inspector.config.server_definition import Definition
from inspector.errors import ConfigError

_VARIABLE = re.compile(r"\{([A-Za-z_][\w.-]{0,99})\}")
_SNAKE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_RUNNERS = {"npm": "npx", "pypi": "uvx", "oci": "docker", "docker": "docker", "nuget": "dnx"}

_Ask = Callable[[InputQuestion], str | None]


def is_server_json(data: Mapping[str, Any]) -> bool:
    """Whether an object is a server.json, or a registry's response with one."""
    inner = _inner(data)
    if "modelcontextprotocol" in str(inner.get("$schema"))[:200]:
        return True
    listed = isinstance(inner.get("packages"), list) or isinstance(inner.get("remotes"), list)
    return listed and isinstance(inner.get("name"), str)


def servers(data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a name and a raw entry for each package and remote.

    The first has the server's own name after the slash.
    """
    inner = _inner(data)
    full = inner.get("name")
    base = (full if isinstance(full, str) else "").rpartition("/")[2] or "server"
    used: dict[str, int] = {}
    for key, kind_keys in (("packages", ("registryType", "registry_name")), ("remotes", ("type", "transport_type"))):
        listed = inner.get(key)
        for item in listed if isinstance(listed, list) else ():
            raw = item if isinstance(item, dict) else {}
            kind = next((raw[name] for name in _spellings(*kind_keys) if isinstance(raw.get(name), str)), key[:-1])
            name = base if not used else f"{base}-{kind}"
            used[name] = used.get(name, 0) + 1
            yield name if used[name] == 1 else f"{name}-{used[name]}", {"name": base, key[:-1]: item}


def preview(raw: Mapping[str, Any]) -> Definition:
    """Return the definition with `<NAME>` for each value of the user."""
    return _build(raw, lambda question: question.default if question.default is not None else f"<{question.id}>")


def fill(raw: Mapping[str, Any], expander: Expander) -> Definition:
    """Return the definition with all values of the user. Raises ConfigError if a required one is missing."""

    def ask(question: InputQuestion) -> str | None:
        return expander.ask(question)

    return _build(raw, ask, expander)


def _build(raw: Mapping[str, Any], ask: _Ask, expander: Expander | None = None) -> Definition:
    form = _Form(str(raw.get("name", "")), ask, expander)
    if "remote" in raw:
        return _remote(_object(raw["remote"], "the remote"), form)
    return _package(_object(raw.get("package"), "the package"), form)


class _Form:
    """Fills in the inputs of one server."""

    def __init__(self, server: str, ask: _Ask, expander: Expander | None) -> None:
        self.server = server
        self._ask = ask
        self._expander = expander

    def value(self, item: Mapping[str, Any], name: str, *, variable: bool = False) -> str | None:
        """The value of an `Input` called `name`; None for an optional one without a value."""
        fixed = item.get("value")
        if fixed is not None:
            text = entry_fields.scalar(fixed, f"the value of {foreign_files.printable(name)}")
            value = self.template(text, item.get("variables"))
            if item.get("isSecret", item.get("is_secret")) is True and self._expander is not None:
                self._expander.secrets.append(value)
            return value
        question = self._question(item, name)
        if variable and self._expander is not None:
            given = self._expander.own_variable(name, secret=question.secret)
            if given is not None:
                return given
        required = item.get("isRequired", item.get("is_required")) is True
        if not required and question.default is None and self._expander is None:
            return None
        answer = self._ask(question)
        if answer is None and required and self._expander is not None:
            raise self._expander.unanswered(question)
        return answer

    def template(self, text: str, variables: Any) -> str:
        """Replace each `{name}` that `variables` defines in `text`; others stay, as the schema says."""
        known = variables if isinstance(variables, dict) else {}

        def replaced(match: re.Match[str]) -> str:
            item = known.get(match[1])
            if not isinstance(item, dict):
                return match[0]
            # A placeholder within a value must be filled, whatever `isRequired` says.
            return self.value({**item, "isRequired": True, "variables": None}, match[1]) or ""

        return _VARIABLE.sub(replaced, text)

    def _question(self, item: Mapping[str, Any], name: str) -> InputQuestion:
        description, default, choices = item.get("description"), item.get("default"), item.get("choices")
        return InputQuestion(
            id=name,
            server=self.server,
            description=description if isinstance(description, str) else "",
            default=None
            if default is None
            else entry_fields.scalar(default, f"the default of {foreign_files.printable(name)}"),
            secret=item.get("isSecret", item.get("is_secret")) is True,
            choices=tuple(choice for choice in choices if isinstance(choice, str)) if isinstance(choices, list) else (),
        )


def _remote(raw: Mapping[str, Any], form: _Form) -> Definition:
    url = form.template(_text(raw, "url"), raw.get("variables"))
    headers = {name: value for name, value in _named(raw, "headers", form) if value is not None}
    declared = server_definition.declared_transport({"type": _text(raw, "type", "transport_type") or None})
    if declared == "stdio":
        raise ConfigError("a remote of type stdio is not supported")
    return server_definition.http({"url": url, "headers": headers}, transport=declared or "auto")


def _package(raw: Mapping[str, Any], form: _Form) -> Definition:
    registry = _text(raw, "registryType", "registry_name") or "npm"
    identifier = _text(raw, "identifier", "name")
    if not identifier:
        raise ConfigError("the package has no “identifier”")
    transport = raw.get("transport")
    if isinstance(transport, dict) and transport.get("type") not in (None, "stdio"):
        raise ConfigError(
            f"the package starts its own HTTP server at {foreign_files.printable(str(transport.get('url')))}",
            hint="Start it as its documentation says, then open that URL.",
        )
    runner = _text(raw, "runtimeHint") or _RUNNERS.get(registry, "")
    if registry not in _RUNNERS:
        raise ConfigError(
            f"Inspector cannot start packages of {foreign_files.printable(registry)}",
            hint="Install it as its documentation says, and give its command after --.",
        )
    before = [word for item in _items(raw, "runtimeArguments") for word in _argument(item, form)]
    after = [word for item in _items(raw, "packageArguments") for word in _argument(item, form)]
    env = {name: value for name, value in _named(raw, "environmentVariables", form, variable=True) if value is not None}
    words = _run(registry, runner, identifier, _text(raw, "version"), before, env)
    return server_definition.stdio({"command": words[0], "args": [*words[1:], *after], "env": env})


def _run(
    registry: str, runner: str, identifier: str, version: str, before: list[str], env: Mapping[str, str]
) -> list[str]:
    """Return the command up to and with the package, non-interactive, because stdin belongs to the protocol."""
    match registry:
        case "npm":
            yes = [] if runner != "npx" or {"-y", "--yes"} & set(before) else ["-y"]
            return [runner, *yes, *before, f"{identifier}@{version}" if version else identifier]
        case "pypi":
            pinned = f"{identifier}=={version}" if version else identifier
            if runner == "pipx":
                return ["pipx", "run", *before, *(["--spec", pinned] if version else []), identifier]
            if runner.startswith("python"):
                return [runner, *before, "-m", identifier.replace("-", "_")]
            return [runner, *before, f"{identifier}@{version}" if version else identifier]
        case "nuget":
            pinned = f"{identifier}@{version}" if version else identifier
            return [runner, *before, pinned, *([] if "--yes" in before else ["--yes"]), "--"]
        case _:
            given = set(before)
            words = [runner, "run"]
            words += [] if {"-i", "--interactive"} & given else ["-i"]
            words += [] if "--rm" in given else ["--rm"]
            words += [word for name in env if not _passes(name, before) for word in ("-e", name)]
            tagged = ":" in identifier.rpartition("/")[2] or "@" in identifier
            rest = [word for word in before if word != "run"]
            return [*words, *rest, identifier if tagged or not version else f"{identifier}:{version}"]


def _passes(name: str, arguments: list[str]) -> bool:
    return any(word == name or word.startswith((f"{name}=", f"--env={name}", f"-e={name}")) for word in arguments)


def _argument(item: Any, form: _Form) -> list[str]:
    raw = _object(item, "an argument")
    flag = _text(raw, "name")
    hint = _text(raw, "valueHint")
    if raw.get("type") == "named" or (raw.get("type") is None and flag):
        if not flag:
            raise ConfigError("a named argument has no “name”")
        takes_value = any(raw.get(key) is not None for key in ("value", "default", "format", "choices", "placeholder"))
        if not (takes_value or hint or raw.get("isRequired") is True):
            return [flag]
        value = form.value(raw, flag.lstrip("-").removesuffix("="))
        if value is None:
            return []
        return [flag + value] if flag.endswith("=") else [flag, value]
    value = form.value(raw, hint or "argument")
    return [] if value is None else [value]


def _named(
    raw: Mapping[str, Any], key: str, form: _Form, *, variable: bool = False
) -> Iterator[tuple[str, str | None]]:
    for item in _items(raw, key):
        entry = _object(item, f"an item of “{key}”")
        name = _text(entry, "name")
        if not name:
            raise ConfigError(f"an item of “{key}” has no “name”")
        yield name, form.value(entry, name, variable=variable)


def _items(raw: Mapping[str, Any], key: str) -> list[Any]:
    value: Any = next((raw[name] for name in _spellings(key) if raw.get(name) is not None), [])
    if not isinstance(value, list):
        raise ConfigError(f"“{key}” must be a list, not {foreign_files.kind_of(value)}")
    return value


def _text(raw: Mapping[str, Any], *keys: str) -> str:
    spelling = next((name for name in _spellings(*keys) if raw.get(name) is not None), keys[0])
    return entry_fields.text(raw, spelling)


def _spellings(*keys: str) -> tuple[str, ...]:
    """Yield each key in its current spelling, and with the underscores that it had before 2025-09."""
    return tuple(name for key in keys for name in dict.fromkeys((key, _SNAKE.sub("_", key).lower())))


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{what} must be an object, not {foreign_files.kind_of(value)}")
    return value


def _inner(data: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = data.get("server")
    return inner if isinstance(inner, dict) else data

"""Variables of this shell that a server does not get, and so does not find something."""

from __future__ import annotations

import re
from typing import NamedTuple

from inspector.doctor.diagnosis import Weight
from inspector.doctor.server_facts import ServerFacts, StderrCause
from inspector.transports.child import PROXIES, environment_of
from inspector.transports.withheld import MOST, NOT_PASSED, withheld, withheld_names


class _Search(NamedTuple):
    """A line of the log, what the server does not find then, and the variables that name it."""

    pattern: re.Pattern[str]
    what: str
    variables: tuple[str, ...]
    weight: Weight


def _search(pattern: str, what: str, variables: str, weight: Weight = Weight.PROOF) -> _Search:
    return _Search(re.compile(pattern), what, tuple(variables.split()), weight)


_SEARCHES = (
    _search(
        r"(?i)docker daemon|dockerDesktopLinuxEngine|DockerException|error during connect|docker\.sock.{0,80}(?:no such"
        r"|refused|denied)|(?:ENOENT|EACCES|ECONNREFUSED).{0,40}docker\.sock",
        "does not reach Docker",
        "DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG",
    ),
    _search(r"podman\.sock|Cannot connect to Podman", "does not reach Podman", "CONTAINER_HOST CONTAINER_CONNECTION"),
    _search(
        r"(?i)no configuration has been provided, try setting KUBE|localhost:8080\b.{0,80}refused"
        r"|(?:invalid|no|unable|cannot|could not|missing|failed)\b.{0,60}kube-?config"
        r"|kube-?config.{0,60}(?:not|no such)",
        "does not find the Kubernetes cluster",
        "KUBECONFIG KUBE_CONFIG_PATH",
    ),
    _search(
        r"(?i)unable to locate credentials|NoCredentialsError|could not load credentials from any providers"
        r"|ExpiredToken|must specify a region|Region is missing|config profile \(.{0,80}\) could not be found",
        "does not find the AWS credentials or region",
        "AWS_PROFILE AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION "
        "AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE",
    ),
    _search(
        r"(?i)could not (?:automatically determine|load the default) credentials|default credentials were not found"
        r"|DefaultCredentialsError",
        "does not find the Google credentials",
        "GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_CONFIG GOOGLE_CLOUD_PROJECT",
    ),
    _search(
        r"DefaultAzureCredential|EnvironmentCredential",
        "does not find the Azure credentials",
        "AZURE_CLIENT_ID AZURE_TENANT_ID AZURE_CLIENT_SECRET AZURE_CONFIG_DIR",
    ),
    _search(r"Permission denied \(publickey|SSH_AUTH_SOCK.{0,30} not", "does not reach the SSH agent", "SSH_AUTH_SOCK"),
    _search(
        r"(?i)missing x server|cannot open display|no display name|DISPLAY environment variable",
        "does not reach the display",
        "DISPLAY WAYLAND_DISPLAY XAUTHORITY",
    ),
    _search(
        r"(?i)executable doesn't exist at|playwright install",
        "does not find the browsers of Playwright",
        "PLAYWRIGHT_BROWSERS_PATH",
    ),
    _search(
        r"(?i)could not find (?:chrome|chromium|browser)",
        "does not find the browser of Puppeteer",
        "PUPPETEER_EXECUTABLE_PATH PUPPETEER_CACHE_DIR CHROME_PATH CHROME_BIN",
    ),
    _search(
        r"error while loading shared libraries|cannot open shared object file|Library not loaded|dlopen\(",
        "does not find a shared library",
        "LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH",
    ),
    _search(r"Can't locate .{1,100} in @INC", "does not find a Perl module", "PERL5LIB"),
    _search(r"cannot load such file -- |Could not find gem", "does not find a gem", "GEM_HOME GEM_PATH RUBYLIB"),
    _search(
        r"JAVA_HOME (?:is|env)|no java executable|Unable to locate a Java Runtime|UnsupportedClassVersionError",
        "does not find Java",
        "JAVA_HOME",
    ),
    _search(
        r"nvm: (?:command )?not found|nvm\.sh: No such file|version .{1,40} is not yet installed.{0,40}nvm",
        "does not find nvm",
        "NVM_DIR NVM_BIN",
    ),
    _search(
        r"Volta error|pyenv: |No version is set for command",
        "does not find the chosen version of its program",
        "VOLTA_HOME PYENV_VERSION PYENV_ROOT ASDF_DIR ASDF_DATA_DIR",
    ),
    _search(
        r"(?:npm (?:error|ERR!)|error:) .{0,20}\b40[134]\b|not found in the package registry|No matching distribution"
        r"|E401|E404|Failed to fetch: `https?://",
        "does not reach the package registry of this shell",
        "NPM_CONFIG_REGISTRY npm_config_registry NPM_CONFIG_USERCONFIG NPM_TOKEN NODE_AUTH_TOKEN PIP_INDEX_URL "
        "PIP_EXTRA_INDEX_URL UV_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_DEFAULT_INDEX",
    ),
    _search(
        r"(?i)proxy authentication required|\bproxy.{0,60}\b407\b|\b407\b.{0,40}\bproxy",
        "cannot use the proxy",
        "HTTPS_PROXY HTTP_PROXY https_proxy http_proxy ALL_PROXY all_proxy",
    ),
    _search(
        r"(?i)CERTIFICATE_VERIFY_FAILED|self[- _]signed[ _]cert|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|unknown ?issuer"
        r"|unable to (?:get local issuer|verify the first) certificate|signed by unknown authority",
        "does not trust a certificate",
        "SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE AWS_CA_BUNDLE PIP_CERT "
        "GIT_SSL_CAINFO NODE_USE_SYSTEM_CA UV_NATIVE_TLS UV_SYSTEM_CERTS DENO_CERT DENO_TLS_CA_STORE",
    ),
    _search(
        r"ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|ConnectTimeout|ConnectError|Network is unreachable"
        r"|Temporary failure in name resolution|Could not resolve host|fetch failed",
        "does not reach the network",
        "ALL_PROXY all_proxy NODE_USE_ENV_PROXY GLOBAL_AGENT_HTTP_PROXY",
        Weight.LIKELY,
    ),
)


def variable_cause(server: ServerFacts) -> StderrCause | None:
    """Return the search of the server that fails without a variable of this shell."""
    for search in _SEARCHES:
        name = server.not_passed(search.variables)
        if name and any(search.pattern.search(line) for line in server.log):
            passed = "set in this shell but without its user and password" if _is_passed(name, server) else NOT_PASSED
            return StderrCause(f"It {search.what}: {name} is {passed}.", server.passing(name), search.weight)
    return None


def withheld_cause(server: ServerFacts, *, guess: bool) -> StderrCause | None:
    """Return that the server lacks variables that its log names; with `guess`, also others that look like keys."""
    passed = environment_of(server.target, server.environ)
    names = withheld_names(server.log, passed, server.environ, guess=guess)
    return StderrCause(f"{withheld(names)}.", server.passing(*names[:MOST]), Weight.SYMPTOM) if names else None


def _is_passed(name: str, server: ServerFacts) -> bool:
    return name in PROXIES and name not in server.target.env

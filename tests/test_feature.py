"""The list of features: ours, those of other packages, and broken ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspector import feature
from inspector.check import registry
from inspector.check.judge.feature_rules import feature_rules
from inspector.cli import verbs
from inspector.cli.verb import Verb
from inspector.config.targets import HttpTarget
from inspector.doctor.diagnosis import StepCollector
from inspector.doctor.other_paths import look_in_documents
from inspector.doctor.privacy import Privacy
from inspector.feature import features, our_features, placed, skipped
from inspector.transports.http_url import parse_url
from inspector.tui import feature_verbs
from inspector.tui.model.tabs import of_feature
from tests.cli.conftest import Run, home, run

__all__ = ["home", "run"]

WORKING = """
from inspector.feature import CommandVerb, Feature
FEATURE = Feature("extra", verbs=(CommandVerb("extra", "Verify", "Do more", "verb:EXTRA"),))
"""
VERB = """
from inspector.cli.verb import Verb
EXTRA = Verb("extra", lambda invocation: invocation.output.line("more") or 0, target="none")
"""
Install = Callable[..., Path]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Read the lists again, before and after the test."""

    def forget() -> None:
        for cached in (
            feature.other_features, feature.skipped, verbs.groups, verbs.summaries, feature_verbs.all_keys,
            registry.checks, feature_rules,
        ):  # fmt: skip
            cached.cache_clear()

    forget()
    extended = sys.modules.pop("inspector.cli.verbs.servers", None)
    modules = set(sys.modules)
    yield
    forget()
    sys.modules.pop("inspector.cli.verbs.servers", None)
    if extended is not None:
        sys.modules["inspector.cli.verbs.servers"] = extended
    for name in sys.modules.keys() - modules:
        if name.partition(".")[0] in ("extra_feature", "other_feature"):
            del sys.modules[name]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package with a feature into a folder of the import path."""

    def installed(source: str, *, entry: str = "", package: str = "extra_feature", site: Path | None = None) -> Path:
        site = site or tmp_path / "site"
        folder, info = site / package, site / f"{package}-1.0.dist-info"
        folder.mkdir(parents=True)
        info.mkdir()
        (folder / "__init__.py").write_text(source)
        (folder / "verb.py").write_text(VERB)
        (folder / "pages").mkdir()
        (folder / "pages" / "extra.txt").write_text("Does more.\n\nExamples\n  inspector extra\n")
        (info / "entry_points.txt").write_text(
            f"[console_scripts]\nx = y:z\n\n[inspector.features]\nextra = {entry or f'{package}:FEATURE'}\n\n[other]\na=b\n"
        )
        if str(site) not in sys.path:
            monkeypatch.syspath_prepend(str(site))
        return folder

    return installed


def test_each_of_our_features_has_the_name_of_its_folder() -> None:
    names = {path.parent.name for path in Path(feature.__file__).with_name("features").glob("*/__init__.py")}
    assert [our_feature.name for our_feature in our_features()] == list(feature.OURS)
    assert set(feature.OURS) <= names


def test_a_feature_of_another_package_brings_a_verb_with_its_page(install: Install, run: Run) -> None:
    install(WORKING)
    assert features()[-1].name == "extra"
    assert run("extra").out == "more\n"
    assert "Does more." in run("extra", "--help").out
    assert "extra" in run("--help").out
    assert run("settings", "--json").json["features"] == {"extra": "extra_feature"}
    assert "The feature extra is from the package extra_feature." in run("settings").err


@pytest.mark.parametrize(
    ("source", "entry", "says"),
    [
        ("raise RuntimeError('no luck')", "", "RuntimeError: no luck"),
        ("FEATURE = (", "", "SyntaxError"),
        ("FEATURE = 'extra'", "", "extra_feature:FEATURE is not a Feature"),
        ("", "", "AttributeError"),
        (WORKING, "gone_feature:FEATURE", "ModuleNotFoundError"),
        (WORKING, "nonsense", "No module named"),
        (WORKING.replace('Feature("extra"', 'Feature("load"'), "", "inspector.features.load has the name load"),
    ],
)
def test_a_broken_feature_is_one_sentence_and_nothing_else_fails(
    source: str, entry: str, says: str, install: Install, run: Run
) -> None:
    install(source, entry=entry)
    ran = run("--help")
    assert (ran.code, "load" in ran.out, "extra" in ran.out) == (0, True, False)
    (line,) = ran.err.splitlines()
    assert line.startswith("note: Feature ")
    assert says in line
    assert len(skipped()) == 1


def test_a_verb_that_cannot_be_loaded_is_an_error_of_that_verb_only(install: Install, run: Run) -> None:
    (install(WORKING) / "verb.py").write_text("import missing_library")
    ran = run("extra")
    assert (ran.code, ran.err.count("\n")) == (2, 2)
    assert "No module named 'missing_library'" in ran.err
    assert run("settings", "--json").code == 0


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tools", "Inspector has a verb tools"),
        ("open", "Inspector has a verb open"),
        ("load", "inspector.features.load has a verb load"),
        ("two_words", "the verb two_words has not only letters, digits and -"),
    ],
)
@pytest.mark.parametrize("command", ["--help", "settings"])
def test_a_verb_whose_name_cannot_be_used_is_skipped_with_a_sentence(
    name: str, says: str, command: str, install: Install, run: Run
) -> None:
    install(WORKING.replace('CommandVerb("extra"', f'CommandVerb("{name}"'))
    ran = run(command)
    assert ran.code == 0
    assert "Do more" not in ran.out
    [line] = [line for line in ran.err.splitlines() if line.startswith("note: ")]
    assert line == f"note: Feature extra_feature skipped: {says}. Update or uninstall it."


def test_a_feature_has_no_verb_of_the_core(install: Install, run: Run) -> None:
    install(WORKING.replace('CommandVerb("extra"', 'CommandVerb("tools"'))
    assert run("tools", "--help").out.startswith("Usage: inspector tools")
    assert verbs.of_feature("tools") is None


@pytest.mark.parametrize("text", [None, b"", b"Only text.\n", b"\xff\n\nExamples\n  inspector extra\n"])
def test_a_page_that_cannot_be_used_is_an_error_of_the_help_of_that_verb_only(
    text: bytes | None, install: Install, run: Run
) -> None:
    page = install(WORKING) / "pages" / "extra.txt"
    page.unlink()
    if text is not None:
        page.write_bytes(text)
    ran = run("extra", "--help")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: Feature extra_feature skipped: pages/extra.txt")
    assert (run("extra").out, run("--help").code) == ("more\n", 0)


def test_a_verb_of_another_type_is_an_error_of_that_verb_only(install: Install, run: Run) -> None:
    (install(WORKING) / "verb.py").write_text("EXTRA = 5")
    ran = run("extra")
    assert ran.code == 2
    assert "Feature extra_feature skipped: verb:EXTRA is not of the type Verb" in ran.err


def test_a_verb_that_raises_is_reported_with_its_package_file_and_line(install: Install, run: Run, home: Path) -> None:
    file = install(WORKING) / "verb.py"
    file.write_text(VERB.replace('invocation.output.line("more") or 0', "1 // 0"))
    ran = run("extra")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"error: Feature extra_feature failed: ZeroDivisionError: integer division or modulo by zero ({file}, line 3).\n"
        f"hint: The traceback is in {home / 'log' / 'inspector.log'}. Report it to the authors of that package.\n"
    )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ('level = "ought"', "level of EXTRA-01 is 'ought', not one of must, should, type"),
        ('revisions = "late"', "revisions of EXTRA-01 are 'late', not such as r1+, r1-r4 or r5"),
        ("", "EXTRA-01 has no fix"),
    ],
)
def test_a_wrong_value_in_the_row_of_a_check_is_named(wrong: str, says: str, install: Install) -> None:
    folder = install(WORKING.replace('"verb:EXTRA"),)', '"verb:EXTRA"),), checks="keys:CHECKS"'))
    (folder / "keys.py").write_text(
        "from pathlib import Path\nfrom inspector.check.check_table import CheckTable\n"
        "CHECKS = CheckTable(Path(__file__).with_suffix('.toml'))\n"
    )
    row = [
        'level = "must"',
        'revisions = "r1+"',
        'page = "x"',
        'group = "extra"',
        'says = "It works."',
        'fix = "Fix it."',
    ]
    rest = [line for line in row if line.partition(" ")[0] != (wrong.partition(" ")[0] or "fix")]
    (folder / "keys.toml").write_text("\n".join(["[EXTRA-01]", *rest, wrong]))
    registry.checks()
    assert f"Feature extra_feature.keys skipped: ValueError: {says}" in skipped()[0].message


def test_no_feature_comes_from_the_working_directory(
    install: Install, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    install("print('code of the folder')\n" + WORKING, site=here)
    monkeypatch.chdir(here)
    assert features() == our_features()
    monkeypatch.setattr(sys, "path", ["", ".", *sys.path])
    feature.other_features.cache_clear()
    assert features() == our_features()
    # Another package is installed, but the folder has a module with its name.
    install(WORKING, site=tmp_path / "site")
    feature.other_features.cache_clear()
    ran = run("extra")
    assert (ran.code, ran.out) == (0, "more\n")


def test_a_row_comes_after_its_neighbour_or_at_the_end() -> None:
    assert list(placed({"a": 1, "b": 2}, [("c", 3, "a"), ("d", 4, ""), ("e", 5, "gone")])) == ["a", "c", "b", "d", "e"]


KEYS = """
from inspector.tui.feature_verbs import FeatureTab, Keys
KEYS = Keys(tabs=(FeatureTab("extra", "Extra", "Show more.", state="pane:State", main="pane:Pane"),))
"""


def test_a_tab_of_another_package_has_a_verb_without_a_key(install: Install) -> None:
    (install(WORKING.replace('"verb:EXTRA"),)', '"verb:EXTRA"),), keys="keys:KEYS"')) / "keys.py").write_text(KEYS)
    tab = of_feature(feature_verbs.tabs()[-1][1])
    assert (tab.verb, tab.row[1:3], tab.main) == ("app.tab-extra", ("extra", ""), "extra")


@pytest.mark.parametrize("source", ["import missing_library", "KEYS = 1", "", "1 / 0"])
def test_broken_keys_and_checks_are_skipped_each_with_a_sentence(source: str, install: Install) -> None:
    parts = 'keys="keys:KEYS", checks="keys:KEYS", judge="keys:KEYS", options={"servers": "keys:KEYS"}'
    both = f'"verb:EXTRA"),), {parts}'
    folder = install(WORKING.replace('"verb:EXTRA"),)', both))
    (folder / "keys.py").write_text(source)
    assert [item.name for item, _ in feature_verbs.all_keys()] == [item.name for item in our_features() if item.keys]
    assert registry.checks()
    assert len(feature_rules()) == len([item for item in our_features() if item.judge])
    assert len(Verb("servers", lambda _: 0, extended=True).added) == len(
        [item for item in our_features() if "servers" in item.options]
    )
    assert len(skipped()) == 4
    assert all(error.message.startswith("Feature extra_feature") for error in skipped())


OPTIONS = """
from inspector.cli.options import Option
from inspector.cli.verb import VerbOptions

def use(invocation):
    return 1 if invocation.option("extra") else None

SERVERS = VerbOptions((Option("--extra", "Do more"),), use, "--extra does more.", ("inspector servers --extra",))
"""


def test_options_of_another_package_are_used_by_a_verb_of_the_core_and_stand_in_its_help(
    install: Install, run: Run
) -> None:
    source = WORKING.replace('"verb:EXTRA"),)', '"verb:EXTRA"),), options={"servers": "options:SERVERS"}')
    (install(source) / "options.py").write_text(OPTIONS)
    assert (run("servers", "--extra").code, run("servers").code) == (1, 0)
    text = run("servers", "--help").out
    assert "  inspector servers --json\n" in text
    assert "--extra does more." in text
    assert text.endswith("  inspector servers --extra\n")


@pytest.mark.parametrize(
    ("flag", "owner"), [("--config", "Inspector"), ("--json", "Inspector"), ("--card", "inspector.features.cards")]
)
def test_an_option_that_the_verb_has_is_skipped_with_a_sentence(
    flag: str, owner: str, install: Install, run: Run
) -> None:
    source = WORKING.replace('"verb:EXTRA"),)', '"verb:EXTRA"),), options={"servers": "options:SERVERS"}')
    (install(source) / "options.py").write_text(OPTIONS.replace("--extra", flag))
    ran = run("servers")
    assert (ran.code, f"Feature extra_feature skipped: {owner} has an option {flag} of servers" in ran.err) == (0, True)


DOCUMENT = """
from inspector.doctor.other_paths import UrlSource

async def read(target, url):
    return ["not a url", url.text, "https://b.example/mcp"] if url.target == "/in" else ["https://b.example/mcp"] * 2

SOURCE = UrlSource("extra", "the extra file", read)
"""


async def test_a_document_of_another_package_names_the_url_of_a_server(install: Install) -> None:
    source = WORKING.replace('"verb:EXTRA"),)', '"verb:EXTRA"),), other_urls="document:SOURCE"')
    (install(source) / "document.py").write_text(DOCUMENT)
    for path, causes in (
        ("/in", []),
        ("/mcp", ["/mcp is not an MCP server, and the extra file names https://b.example/mcp"]),
    ):
        steps = StepCollector(Privacy())
        target = HttpTarget(f"http://127.0.0.1:9{path}")
        await look_in_documents(steps, target, parse_url(target.url), 5.0)
        assert [cause.text for cause in steps.causes] == [f"The path is wrong: {cause}." for cause in causes]


def test_a_check_with_the_id_of_another_is_skipped(install: Install) -> None:
    folder = install(WORKING.replace('"verb:EXTRA"),)', '"verb:EXTRA"),), checks="keys:CHECKS"'))
    (folder / "keys.py").write_text(
        "from pathlib import Path\nfrom inspector.check.check_table import CheckTable\n"
        "CHECKS = CheckTable(Path(__file__).with_suffix('.toml'))\n"
    )
    rule = '[{}]\nlevel = "must"\nrevisions = "r1+"\npage = "x"\ngroup = "extra"\nsays = "It works."\nfix = "Fix it."\n'
    (folder / "keys.toml").write_text(rule.format("TOOL-01"))
    assert "another check TOOL-01" in (registry.checks() and skipped()[0].message)
    (folder / "keys.toml").write_text(rule.format("EXTRA-01"))
    registry.checks.cache_clear()
    del sys.modules["extra_feature.keys"]
    assert registry.checks()["EXTRA-01"].group == "extra"

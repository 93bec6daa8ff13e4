"""Files of rules beside the checks: each is read, and a probe or the judge decides each rule."""

import tomllib
from pathlib import Path

import pytest

import inspector
from inspector.check import check_table
from inspector.check.check_table import CheckTable
from inspector.check.registry import across, checks

RULE = '[A-01]\nlevel = "must"\nrevisions = "r1+"\nsays = "It works."\nfix = "Fix it."\n'


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a file of rules and reads it."""
    monkeypatch.setattr(check_table, "_FOLDER", tmp_path)

    def write(text):
        (tmp_path / "rules.toml").write_text(text)
        return CheckTable("rules")

    return write


def test_every_file_of_rules_is_read():
    package = Path(inspector.__file__).parent
    files = [*package.glob("check/checks/*.toml"), *package.glob("features/*/checks.toml")]
    rules = [
        id
        for file in files
        for id, row in tomllib.loads(file.read_text(encoding="utf-8")).items()
        if isinstance(row, dict)
    ]
    assert sorted(rules) == sorted([*checks(), *across()])


def test_every_rule_has_a_probe_or_observations():
    assert [id for id, check in checks().items() if check.probe is None and not check.observations] == []


def test_a_row_has_the_defaults_of_its_file(write):
    own = f'{RULE}page = "own"\n[A-02]\n{RULE.partition("]")[2]}'
    rows = write(f'group = "a"\npage = "shared"\ntransports = ["http"]\n{own}').rows
    assert [row.page for row in rows.values()] == ["own", "shared"]
    assert {(row.group, row.transports, row.check_class) for row in rows.values()} == {
        ("a", frozenset(("http",)), "rule")
    }


@pytest.mark.parametrize("row", ['typo = "x"\n', 'breaks = ["x"]\nlevle = "must"\n'])
def test_a_member_that_no_check_has_is_refused(write, row):
    with pytest.raises(TypeError, match="unexpected keyword"):
        write(f'group = "a"\npage = "p"\n{RULE}{row}')


def test_a_probe_of_an_unknown_rule_is_refused(write):
    table = write(f'group = "a"\npage = "p"\n{RULE}')
    with pytest.raises(KeyError, match="A-02"):
        table.active("A-02")(None)

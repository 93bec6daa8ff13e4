"""The feature table says what the schemas say."""

import json
from importlib import resources

import pytest

from inspector.protocol.revisions import FEATURES, LEGACY, MODERN, NEWEST_LEGACY, NEWEST_MODERN, REVISIONS, features


def schema(revision):
    return (resources.files("inspector.protocol") / "schemas" / f"{revision}.json").read_text()


def test_five_revisions_in_two_eras():
    assert REVISIONS == ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
    assert MODERN == (NEWEST_MODERN,) == ("2026-07-28",)
    assert LEGACY[-1] == NEWEST_LEGACY == "2025-11-25"


def test_an_unknown_revision_gets_the_newest_handshake_rules():
    assert features("2099-01-01") is features(None) is FEATURES[NEWEST_LEGACY]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    ("feature", "word"),
    [
        ("audio", '"AudioContent"'),
        ("batches", '"JSONRPCBatchRequest"'),
        ("tool_annotations", '"ToolAnnotations"'),
        ("resource_links", '"ResourceLink"'),
        ("structured_content", '"structuredContent"'),
        ("elicitation_form", '"ElicitRequest"'),
        ("elicitation_url", '"ElicitRequestURLParams"'),
        ("icons", '"Icon"'),
        ("completion_context", '"context"'),
        ("completions_capability", '"completions"'),
    ],
)
def test_the_table_agrees_with_the_official_schema(revision, feature, word):
    assert getattr(FEATURES[revision], feature) is (word in schema(revision))


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_schemas_dialect(revision):
    assert json.loads(schema(revision))["$schema"] == FEATURES[revision].schema_dialect

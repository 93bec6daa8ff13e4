"""The keys of the model view, in the lists and forms of tools."""

from __future__ import annotations

from inspector.tui.model.catalog import CATALOG_VERBS, CatalogFacts
from inspector.tui.model.form import FORM_VERBS, FormFacts
from tests.tui.model.verb_tables import Verbs


def test_the_model_view_works_on_each_tool() -> None:
    catalog, form = Verbs("catalog", CATALOG_VERBS), Verbs("form", FORM_VERBS)
    assert catalog.works("model", CatalogFacts(tool=True, live=False))
    assert not catalog.works("model", CatalogFacts())
    assert form.works("model", FormFacts(live=False))
    assert not form.works("model", FormFacts(kind="resource"))

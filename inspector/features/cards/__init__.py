"""Server cards and catalogs: public JSON files about remote servers, fetched only when the user asks.

Source: SEP-2127 and the repository experimental-ext-server-card, `docs/discovery.md`. Experimental. A card decides
nothing (C-CARD-04), and the values of the connected server win.
"""

from inspector.feature import Feature

FEATURE = Feature(
    "cards",
    options={"servers": "options:SERVERS"},
    keys="keys:KEYS",
    checks="checks:CHECKS",
    other_urls="card_urls:SOURCE",
)

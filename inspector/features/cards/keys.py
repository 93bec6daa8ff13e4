"""The key that searches a registry from the start list."""

from inspector.tui.feature_verbs import FeatureVerb, Keys

KEYS = Keys(
    verbs=(
        FeatureVerb(
            "start.registry",
            "registry",
            "f6",
            "Search the registry of the settings for the typed words.",
            "registry_rows:search",
            needs="registry",
            after="demo",
            is_offered=True,
        ),
    )
)

"""The tab."""

from inspector.tui.feature_verbs import FeatureTab, Keys

KEYS = Keys(
    tabs=(FeatureTab("lengths", "Lengths", "Show the lengths of descriptions.", "pane:Lengths", "pane:LengthsPane"),)
)

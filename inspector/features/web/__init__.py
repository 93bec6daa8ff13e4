"""The interface in a browser: a server on loopback, its page, and a process for each page."""

from inspector.feature import CommandVerb, Feature

FEATURE = Feature(
    "web",
    verbs=(CommandVerb("web", "Explore", "Open the interface in a browser on this machine", "verb:WEB", after="demo"),),
)

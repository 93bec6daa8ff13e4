"""The checks, one module per part of the protocol. Each fills the catalogue when it is imported."""

"""The core runs without these packages: one folder a feature, and only the list of features names them."""

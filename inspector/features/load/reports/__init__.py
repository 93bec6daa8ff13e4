"""A report as text, as a web page, and for CI systems."""

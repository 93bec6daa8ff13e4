"""The filter language: `parse` a filter, get its `numbers`, or keep a `FilteredView` of a growing journal."""

from inspector.journal.filters.syntax import FilterError
from inspector.journal.filters.view import Filter, FilterChange, FilteredView, parse

__all__ = ["Filter", "FilterChange", "FilterError", "FilteredView", "parse"]

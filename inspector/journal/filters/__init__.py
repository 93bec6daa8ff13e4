"""The filter language over a journal: `parse` it, take `numbers`, or keep a `FilteredView` of a journal that grows."""

from inspector.journal.filters.syntax import FilterError
from inspector.journal.filters.view import Filter, FilterChange, FilteredView, parse

__all__ = ["Filter", "FilterChange", "FilterError", "FilteredView", "parse"]

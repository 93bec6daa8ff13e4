"""The widths of a screen, in cells, at which its panes get another column.

What one row needs is beside the row; the model view and the load test have panes and widths of their own.
"""

from __future__ import annotations

TWO_COLUMNS = 100
"""From here there are two panes beside each other."""
THREE_COLUMNS = 140
"""From here there are three."""
LIST_CELLS = 46
"""The most cells of a list beside another pane; where there are three columns it has them."""

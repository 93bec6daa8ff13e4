"""Floor 5: the judge. It watches a journal and says what was wrong with which message, by which rule.

As `inspector.check` it is also the public function: see `inspector.library.checking.check`.
"""

from inspector.callable_package import make_callable

make_callable(__name__)

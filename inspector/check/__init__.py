"""The judge and the checks: they read a journal and report which message breaks which rule.

As `inspector.check` it is also the public function: see `inspector.library.checking.check`.
"""

from inspector.callable_package import make_callable

make_callable(__name__)

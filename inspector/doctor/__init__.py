"""The doctor: examines a connection step by step, and names the cause of a failure and a fix.

As `inspector.doctor` it is also the public function: see `inspector.library.diagnosing.doctor`.
"""

from inspector.callable_package import make_callable

make_callable(__name__)

"""Why a connection fails: its steps looked at one by one, the cause in one sentence, and how to fix it.

As `inspector.doctor` it is also the public function: see `inspector.library.diagnosing.doctor`.
"""

from inspector.callable_package import make_callable

make_callable(__name__)

"""The options of a session as the doctor uses them: logins that are kept count, and nobody is asked for one."""

from __future__ import annotations

from dataclasses import replace

from inspector.client.options import Options


def without_person(options: Options) -> Options:
    """The same options, with nobody to ask."""
    if options.authorize is None:
        return options
    from inspector.auth.credential import Authorizer
    from inspector.auth.person import Nobody
    from inspector.client.fetching import Fetching

    known = options.authorize
    if not isinstance(known, Authorizer):
        return replace(options, authorize=None)
    return replace(options, authorize=Authorizer(known.options, web=Fetching, person=Nobody()))

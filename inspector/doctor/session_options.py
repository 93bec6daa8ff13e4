"""The doctor's session options: stored logins are used, and no person is asked to log in."""

from __future__ import annotations

from dataclasses import replace

from inspector.client.options import Options


def without_person(options: Options) -> Options:
    """Return the same options without a person to ask; an `authorize` of the caller's own is dropped."""
    if options.authorize is None:
        return options
    from inspector.auth.credential import Authorizer
    from inspector.auth.person import NoPerson

    known = options.authorize
    if not isinstance(known, Authorizer):
        return replace(options, authorize=None)
    return replace(options, authorize=known.for_session(NoPerson("the doctor does not log in")))

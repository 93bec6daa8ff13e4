"""Events of a server (`io.modelcontextprotocol/events`, SEP-3415, draft of 2026-10-05).

`subscription` keeps what one subscription delivers, without I/O. `feed` sends the requests of lists, polls and streams
through a session and reads their notifications from its journal. Names and error codes (`protocol/events.py`), the
requests and signatures of webhooks (`protocol/webhook.py`) and their receiver (`serving/webhook_receiver.py`) are below
it, because the checks use them too.

Nothing here subscribes by itself: each poll, stream and webhook is an act of the user (C-EVENT-27).
"""

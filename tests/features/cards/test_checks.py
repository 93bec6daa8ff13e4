"""Server cards and catalogs: for each check a server that breaks it, and one in order."""

import json

from inspector.features.cards.documents import CARD_TYPE, CATALOG_TYPE, SCHEMA
from tests.check.faults import R4
from tests.check.faulty_servers import WebCase as Case
from tests.check.faulty_servers import WebFault, case_tests

HEADERS = (
    ("Access-Control-Allow-Origin", "*"), ("Access-Control-Allow-Methods", "GET"),
    ("Access-Control-Allow-Headers", "Content-Type, If-None-Match"), ("Access-Control-Expose-Headers", "ETag"),
    ("Cache-Control", "public, max-age=3600"),
)  # fmt: skip
CATALOG_PATH, CARD_PATH = "/.well-known/ai-catalog.json", "/mcp/server-card"


class Publishes(WebFault):
    """Serves a catalog and a card; the parts say what is different. ... takes a member away."""

    def __init__(
        self, *, card=None, entry=None, remote=None, catalog_type=CATALOG_TYPE, card_type=CARD_TYPE, without=(), old=(),
        caches=True, has_catalog=True, has_card=True,
    ):  # fmt: skip
        self.card, self.entry, self.remote = card or {}, entry or {}, remote or {}
        self.catalog_type, self.card_type = catalog_type, card_type
        self.without, self.old, self.caches = without, old, caches
        self.has_catalog, self.has_card = has_catalog, has_card

    async def response(self, request, reply):
        if request.method != "GET":
            return False
        host = request.field("host")
        if request.target == CATALOG_PATH and self.has_catalog:
            entry = {
                "identifier": "urn:air:example.com:mcp:demo",
                "type": CARD_TYPE,
                "url": f"http://{host}{CARD_PATH}",
            }
            entry = whole(entry | self.entry)
            self.send(request, reply, {"specVersion": "1.0", "entries": [entry]}, self.catalog_type)
        elif request.target == CARD_PATH and self.has_card:
            remote = whole({"type": "streamable-http", "url": f"http://{host}/mcp"} | self.remote)
            card = {"$schema": SCHEMA, "name": "com.example/demo", "description": "A demo.", "version": "2.0"}
            self.send(request, reply, whole(card | {"remotes": [remote]} | self.card), self.card_type)
        elif request.target in self.old:
            self.send(request, reply, {"name": "x", "at": request.target}, "application/json")
        else:
            return False
        return True

    def send(self, request, reply, document, kind):
        body = json.dumps(document).encode()
        tag = f'"{len(body)}"'
        headers = [pair for pair in (*HEADERS, ("ETag", tag)) if pair[0] not in self.without]
        if self.caches and request.field("If-None-Match") == tag:
            reply.body(304, b"", *headers)
        else:
            reply.body(200, body, ("Content-Type", kind), *headers)


def whole(members):
    return {key: value for key, value in members.items() if value is not ...}


RIGHT = Publishes()
PUBLIC = {"remotes": [{"type": "streamable-http", "url": "http://demo.example.com/mcp"}]}
SAME = {
    "name": "com.example/inspector-demo", "version": "1.0.0", "description": "Shows every feature of the protocol",
}  # fmt: skip
CASES = [
    Case("CARD-01", R4, Publishes(entry={"type": "application/x"}, has_card=False), right=RIGHT),
    Case("CARD-02", R4, Publishes(catalog_type="text/plain"), right=RIGHT),
    Case("CARD-03", R4, Publishes(entry={"data": {"name": "a/b"}}), right=RIGHT),
    Case("CARD-04", R4, Publishes(entry={"identifier": "urn:mcp:server:demo"}), right=RIGHT),
    Case("CARD-05", R4, Publishes(card={"version": "^1.2"}), right=RIGHT),
    Case("CARD-06", R4, Publishes(card_type="application/json"), right=RIGHT),
    Case("CARD-07", R4, Publishes(without=("Access-Control-Expose-Headers",)), right=RIGHT),
    Case("CARD-08", R4, Publishes(caches=False), right=RIGHT),
    Case("CARD-09", R4, Publishes(card=PUBLIC), right=RIGHT),
    Case("CARD-10", R4, Publishes(card={"_meta": {"x": "Bearer abcdefghijklmnop0123"}}), right=RIGHT),
    Case("CARD-11", R4, Publishes(remote={"supportedProtocolVersions": ["2023-01-01"]}), right=Publishes(card=SAME)),
    Case("CARD-12", R4, Publishes(card={"tools": []}), right=RIGHT),
    Case("CARD-13", R4, Publishes(old=("/.well-known/mcp/catalog.json",)), right=RIGHT),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES)

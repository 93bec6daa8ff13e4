"""URI templates: every example of RFC 6570, and invalid templates."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import UsageError
from inspector.protocol.uri_templates import LENGTH_LIMIT, Template, Variable

# The variables of sections 1.2 and 3.2.
VALUES: dict[str, Any] = {
    "count": ["one", "two", "three"],
    "dom": ["example", "com"],
    "dub": "me/too",
    "hello": "Hello World!",
    "half": "50%",
    "var": "value",
    "who": "fred",
    "base": "http://example.com/home/",
    "path": "/foo/bar",
    "list": ["red", "green", "blue"],
    "keys": {"semi": ";", "dot": ".", "comma": ","},
    "v": "6",
    "x": "1024",
    "y": "768",
    "empty": "",
    "empty_keys": {},
    "undef": None,
}

EXAMPLES = """
# 1.2 level 1
{var} value
{hello} Hello%20World%21
# level 2
{+var} value
{+hello} Hello%20World!
{+path}/here /foo/bar/here
here?ref={+path} here?ref=/foo/bar
X{#var} X#value
X{#hello} X#Hello%20World!
# level 3
map?{x,y} map?1024,768
{x,hello,y} 1024,Hello%20World%21,768
{+x,hello,y} 1024,Hello%20World!,768
{+path,x}/here /foo/bar,1024/here
{#x,hello,y} #1024,Hello%20World!,768
{#path,x}/here #/foo/bar,1024/here
X{.var} X.value
X{.x,y} X.1024.768
{/var} /value
{/var,x}/here /value/1024/here
{;x,y} ;x=1024;y=768
{;x,y,empty} ;x=1024;y=768;empty
{?x,y} ?x=1024&y=768
{?x,y,empty} ?x=1024&y=768&empty=
?fixed=yes{&x} ?fixed=yes&x=1024
{&x,y,empty} &x=1024&y=768&empty=
# level 4
{var:3} val
{var:30} value
{list} red,green,blue
{list*} red,green,blue
{keys} semi,%3B,dot,.,comma,%2C
{keys*} semi=%3B,dot=.,comma=%2C
{+path:6}/here /foo/b/here
{+list} red,green,blue
{+list*} red,green,blue
{+keys} semi,;,dot,.,comma,,
{+keys*} semi=;,dot=.,comma=,
{#path:6}/here #/foo/b/here
{#list} #red,green,blue
{#list*} #red,green,blue
{#keys} #semi,;,dot,.,comma,,
{#keys*} #semi=;,dot=.,comma=,
X{.var:3} X.val
X{.list} X.red,green,blue
X{.list*} X.red.green.blue
X{.keys} X.semi,%3B,dot,.,comma,%2C
X{.keys*} X.semi=%3B.dot=..comma=%2C
{/var:1,var} /v/value
{/list} /red,green,blue
{/list*} /red/green/blue
{/list*,path:4} /red/green/blue/%2Ffoo
{/keys} /semi,%3B,dot,.,comma,%2C
{/keys*} /semi=%3B/dot=./comma=%2C
{;hello:5} ;hello=Hello
{;list} ;list=red,green,blue
{;list*} ;list=red;list=green;list=blue
{;keys} ;keys=semi,%3B,dot,.,comma,%2C
{;keys*} ;semi=%3B;dot=.;comma=%2C
{?var:3} ?var=val
{?list} ?list=red,green,blue
{?list*} ?list=red&list=green&list=blue
{?keys} ?keys=semi,%3B,dot,.,comma,%2C
{?keys*} ?semi=%3B&dot=.&comma=%2C
{&var:3} &var=val
{&list} &list=red,green,blue
{&list*} &list=red&list=green&list=blue
{&keys} &keys=semi,%3B,dot,.,comma,%2C
{&keys*} &semi=%3B&dot=.&comma=%2C
# 3.2.1 undefined and lists
{count} one,two,three
{count*} one,two,three
{/count} /one,two,three
{/count*} /one/two/three
{;count} ;count=one,two,three
{;count*} ;count=one;count=two;count=three
{?count} ?count=one,two,three
{?count*} ?count=one&count=two&count=three
{&count*} &count=one&count=two&count=three
# 3.2.2
{half} 50%25
O{empty}X OX
O{undef}X OX
{x,y} 1024,768
{x,hello,y} 1024,Hello%20World%21,768
?{x,empty} ?1024,
?{x,undef} ?1024
?{undef,y} ?768
# 3.2.3
{+half} 50%25
{base}index http%3A%2F%2Fexample.com%2Fhome%2Findex
{+base}index http://example.com/home/index
O{+empty}X OX
O{+undef}X OX
{+path}/here /foo/bar/here
up{+path}{var}/here up/foo/barvalue/here
# 3.2.4
{#half} #50%25
foo{#empty} foo#
foo{#undef} foo
# 3.2.5
{.who} .fred
{.who,who} .fred.fred
{.half,who} .50%25.fred
www{.dom*} www.example.com
X{.empty} X.
X{.undef} X
X{.empty_keys} X
X{.empty_keys*} X
# 3.2.6
{/who} /fred
{/who,who} /fred/fred
{/half,who} /50%25/fred
{/who,dub} /fred/me%2Ftoo
{/var} /value
{/var,empty} /value/
{/var,undef} /value
# 3.2.7
{;who} ;who=fred
{;half} ;half=50%25
{;empty} ;empty
{;v,empty,who} ;v=6;empty;who=fred
{;v,bar,who} ;v=6;who=fred
{;x,y,undef} ;x=1024;y=768
# 3.2.8 and 3.2.9
{?who} ?who=fred
{?half} ?half=50%25
{?x,y,undef} ?x=1024&y=768
{&who} &who=fred
{&half} &half=50%25
{&x,y,empty} &x=1024&y=768&empty=
{&x,y,undef} &x=1024&y=768
"""


def test_the_examples_of_the_rfc(subtests: pytest.Subtests) -> None:
    """C-RES-03."""
    examples = [line.split(" ") for line in EXAMPLES.strip().splitlines() if not line.startswith("#")]
    assert len(examples) == 121
    for source, expected in examples:
        with subtests.test(source):
            assert Template.parse(source).expand(VALUES) == expected


def test_variables_say_how_they_stand() -> None:
    template = Template.parse("file:///{+path}{?q,limit:3,tags*}{&q}")
    assert template.variables == (
        Variable("path", "+"),
        Variable("q", "?"),
        Variable("limit", "?", prefix=3),
        Variable("tags", "?", explode=True),
    )
    assert Template.parse("no/variables").variables == ()
    assert Template.parse("{a.b,%41_1}").variables == (Variable("a.b", ""), Variable("%41_1", ""))


def test_literals_are_encoded_where_no_uri_may_have_them() -> None:
    assert Template.parse("ü/%20/a?b#c").expand({}) == "%C3%BC/%20/a?b#c"


def test_values_of_other_types() -> None:
    template = Template.parse("{a}{?b,c*}")
    assert template.expand({"a": 12, "b": True, "c": {"x": 1.5, "y": None}}) == "12?b=true&x=1.5"
    assert template.expand({}) == ""
    assert template.expand({"c": [None, "z"]}) == "?c=z"
    assert Template.parse("{a:2}").expand({"a": "äöü"}) == "%C3%A4%C3%B6"
    assert Template.parse("{a}").expand({"a": "\ud800"}) == "%ED%A0%80"
    assert Template.parse("{+a}").expand({"a": "%20%zz"}) == "%20%25zz"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{", "character 1: an expression has no closing brace"),
        ("a}", "character 2: a brace has no opening brace"),
        ("a{b{c}}", "character 2: an expression has no closing brace"),
        ("{}", "an expression is empty"),
        ("{+}", "character 3: nothing is not a variable"),
        ("{a,}", "character 4: nothing is not a variable"),
        ("{a b}", "a b is not a variable"),
        ("{.a.}", "a. is not a variable"),
        ("{a:0}", "a:0 is not a variable"),
        ("{a:10000}", "a:10000 is not a variable"),
        ("{a:3*}", "a:3* is not a variable"),
        ("{=a}", "the operator = is reserved"),
        ("{|a}", "the operator | is reserved"),
        ("{$a}", "$a is not a variable"),
        ("a b", "character 2:   is not allowed there"),
        ("a%2", "character 2: % is not allowed there"),
        ("x\x1b[2J", "character 2: ␛ is not allowed there"),
        ("x" * (LENGTH_LIMIT + 1), "more than 100,000 characters"),
        ("{a}" * 1001, "more than 1,000 variables"),
    ],
)
def test_what_is_not_a_template_says_where(source: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Template.parse(source)
    assert message in caught.value.message
    assert "\x1b" not in caught.value.message


def test_values_that_cannot_be_written() -> None:
    with pytest.raises(UsageError, match="a:3 needs a text"):
        Template.parse("{a:3}").expand({"a": ["x"]})
    with pytest.raises(UsageError, match="is nested"):
        Template.parse("{a}").expand({"a": [["x"]]})
    with pytest.raises(UsageError, match="is nested"):
        Template.parse("{a*}").expand({"a": {"k": {}}})
    with pytest.raises(UsageError, match="longer than"):
        Template.parse("{a}{a}").expand({"a": "x" * 60_000})


@given(st.text(max_size=30) | st.text(st.sampled_from("{}+#,:*a1%. "), max_size=20))
def test_no_template_raises_anything_else(source: str) -> None:
    try:
        template = Template.parse(source)
    except UsageError:
        return
    assert re.fullmatch(r"[!-~]*", template.expand(dict.fromkeys((v.name for v in template.variables), "ä")))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_a_plain_value_can_be_read_back(value: str) -> None:
    assert unquote(Template.parse("{a}").expand({"a": value})) == value
    assert re.fullmatch(r"[A-Za-z0-9._~%-]*", Template.parse("{a}").expand({"a": value}))

"""Skills: for each check a server that breaks it, and one in order."""

import copy

from inspector.check.visit.visit import Allowed
from tests.check.faults import R4, R5, capability, in_result, refuses
from tests.check.faulty_servers import Answers, Case, Fault, Item, case_tests

SKILLS = "io.modelcontextprotocol/skills"
URI = "skill://shop/order-lookup/SKILL.md"
FOLDER = "skill://shop/order-lookup"
READS = Allowed(more={"skills": True})


def entry(**changes):
    """The first skill of the list has other members; ... takes one away."""
    return Item("skills/list", "skills", changes)


def front(**fields):
    """Other fields in the front matter of the first skill."""

    def change(message, _request):
        skills = message["result"]["skills"]
        skills[0]["frontmatter"] = {**skills[0]["frontmatter"], **fields}
        return message

    return Answers("skills/list", change)


def file(at=1, **changes):
    """A listed file of the first skill has other members."""

    def change(message, _request):
        for key, value in changes.items():
            message["result"]["skills"][0]["resources"][at][key] = value
        return message

    return Answers("skills/list", change)


def first_page(change):
    """Changes the first page of skills."""

    def changed(message, request):
        if "cursor" not in request["params"]:
            change(message["result"])
        return message

    return Answers("skills/list", changed)


def drops(path):
    """The entry does not list a file."""

    def change(result):
        resources = result["skills"][0]["resources"]
        resources[:] = [resource for resource in resources if not resource["uri"].endswith(path)]

    return first_page(change)


def many(result):
    uri = f"{FOLDER}/x"
    result["skills"][0]["resources"] += [
        {"uri": f"{uri}{n}", "digest": "sha256:" + "0" * 64, "size": 0} for n in range(512)
    ]


def repeated(result):
    result["skills"].append(copy.deepcopy(result["skills"][0]))


def same_name(result):
    other = copy.deepcopy(result["skills"][0])
    other["uri"] = "skill://other/order-lookup/SKILL.md"
    other["resources"] = "dynamic"
    result["skills"].append(other)


def modest(more=""):
    """Skills without tools, hooks and scripts; `more`: the first one has `scripts`, or is `dynamic`."""

    def change(message, _request):
        for skill in message["result"]["skills"]:
            skill["frontmatter"] = {key: skill["frontmatter"][key] for key in ("name", "description")}
            listed = [] if skill["resources"] == "dynamic" else skill["resources"]
            if more != "scripts":
                listed = [resource for resource in listed if "/scripts/" not in resource["uri"]]
            skill["resources"] = "dynamic" if more == "dynamic" else listed
        return message

    return Answers("skills/list", change)


def folder(change, uri=FOLDER):
    """Changes a directory."""

    def changed(message, request):
        if request["params"]["uri"] == uri and "result" in message:
            change(message["result"])
        return message

    return Answers("resources/directory/read", changed)


def adds(**child):
    return folder(lambda result: result["resources"].append(child))


def content(path, text):
    """Another content of a file."""

    def change(message, request):
        if request["params"]["uri"] == f"{FOLDER}/{path}":
            message["result"]["contents"][0] = {"uri": request["params"]["uri"], "text": text}
        return message

    return Answers("resources/read", change)


def answers(name, uri_ends):
    """Answers a request that should be refused, as if it were about the first skill."""

    def change(message, request):
        if "error" in message and request["params"].get("uri", "").endswith(uri_ends):
            return {"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete", "contents": []}}
        return message

    return Answers(name, change)


def lists(uri, **members):
    """The list of resources has one more."""
    return Item("resources/list", "resources", {"uri": uri, "name": "x", **members}, new=True)


def mime(result):
    for child in result["resources"]:
        if child.get("mimeType") == "inode/directory":
            child["mimeType"] = "text/plain"


def deeper(result):
    result["resources"].append({"uri": f"{FOLDER}/references/STATUS.md", "name": "x"})


CASES = [
    Case("SKILL-01", R5, capability("resources", ...)),
    Case("SKILL-02", R5, capability("extensions", {SKILLS: {"directoryRead": "yes"}})),
    Case("SKILL-03", R5, refuses("skills/list", -32601)),
    Case("SKILL-04", R5, refuses("skills/get", -32601)),
    Case("SKILL-05", R5, Answers("skills/list", in_result(resultType=...))),
    Case("SKILL-06", R5, Answers("skills/get", in_result(ttlMs=-1))),
    Case("SKILL-07", R5, entry(uri="skill://shop/order-lookup")),
    Case("SKILL-08", R5, entry(frontmatter=[])),
    Case("SKILL-09", R5, front(name="orders")),
    Case("SKILL-10", R5, front(name="Order--Lookup")),
    Case("SKILL-11", R5, front(description="x" * 1025)),
    Case("SKILL-12", R5, entry(resources=...)),
    Case("SKILL-13", R5, drops("/SKILL.md")),
    Case("SKILL-14", R5, file(uri=f"{FOLDER}/../x")),
    Case("SKILL-15", R5, file(digest="sha256:" + "A" * 64)),
    Case("SKILL-16", R5, file(size="12")),
    Case("SKILL-17", R5, first_page(many)),
    Case("SKILL-18", R5, drops("/total.py")),
    Case("SKILL-18", R5, lists(f"{FOLDER}/_manifest"), right=lists(f"{FOLDER}/references/STATUS.md")),
    Case("SKILL-19", R5, content("SKILL.md", "x"), right=Fault(), allowed=READS),
    Case("SKILL-20", R5, content("references/STATUS.md", "x"), right=Fault(), allowed=READS),
    Case("SKILL-21", R5, content("SKILL.md", "# No front matter"), right=Fault(), allowed=READS),
    Case("SKILL-22", R5, front(license="MIT"), right=Fault(), allowed=READS),
    Case("SKILL-23", R5, folder(lambda result: result["resources"][0].update(mimeType="text/plain"))),
    Case("SKILL-24", R5, folder(lambda result: result["resources"][0].update(_meta={"owner": "x"}))),
    Case(
        "SKILL-24", R5, lists(f"{FOLDER}/SKILL.md", _meta={"owner": "x"}),
        right=lists(f"{FOLDER}/SKILL.md", _meta={"io.modelcontextprotocol.skills/owner": "x"}),
    ),
    Case("SKILL-25", R5, Answers("skills/get", in_result(skill={"uri": "skill://x/y/SKILL.md"}))),
    Case("SKILL-26", R5, Answers("skills/get", in_result(nextCursor="x"))),
    Case("SKILL-27", R5, answers("skills/get", "no-such-skill/SKILL.md")),
    Case("SKILL-28", R5, answers("skills/get", "logo.png")),
    Case("SKILL-29", R5, first_page(repeated)),
    Case("SKILL-29", R5, Answers("skills/list", in_result(nextCursor="again"))),
    Case("SKILL-30", R5, entry(uri="skill://sh op/order-lookup/SKILL.md")),
    Case("SKILL-31", R5, first_page(same_name)),
    Case("SKILL-32", R5, entry(uri="https://shop/order-lookup/SKILL.md"), right=Fault()),
    Case("SKILL-33", R5, front(metadata={"io.modelcontextprotocol/x": "1"})),
    Case("SKILL-34", R5, refuses("resources/directory/read", -32603)),
    Case("SKILL-35", R5, folder(mime)),
    Case("SKILL-35", R5, folder(deeper)),
    Case("SKILL-36", R5, answers("resources/directory/read", "no-such-skill")),
    Case("SKILL-37", R5, folder(lambda result: result.update(nextCursor="again"))),
    Case("SKILL-38", R5, answers("resources/read", ".md")),
    Case("SKILL-39", R4, Item("resources/list", "resources", {"uri": "skill://index.json", "name": "i"}, new=True)),
    Case("SKILL-40", R5, front(hooks={"start": "x"}), right=modest()),
    Case("SKILL-40", R5, modest("scripts"), right=modest()),
    Case("SKILL-40", R5, modest("dynamic"), right=modest()),
    Case("SKILL-41", R5, front(description="Finds\u202e an order")),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES, slow_faults=True)

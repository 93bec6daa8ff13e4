"""The rules for prose: each needs its two or three parts in one sentence.

The words were chosen by the public taxonomies named in `families` and tried on definitions of real servers. They are
English. Loud words alone (IMPORTANT, MUST, ALWAYS) mean nothing: half of all servers use them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import islice
from typing import NamedTuple

from inspector.check.poison.families import PoisonLevel


class Phrase(NamedTuple):
    """Words of one sentence that give an order to a model."""

    family: str
    text: str
    level: PoisonLevel | None = None
    """The level, where it is not that of the family."""


def _any(*words: str) -> str:
    return "(?:" + "|".join(words) + ")"


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


MAX_LINKS = 5
"""Links of one sentence that are read."""
GAP = r"[^.!?;]"
"""A character between two parts of a phrase."""
NO = (
    r"\b(?:do(?:es)? not|don['’]t|doesn['’]t|never|must not|mustn['’]t|should not|shouldn['’]t|may "
    r"not|shall not|cannot|can['’]t|avoid|not)\b"
)
USER = (
    r"(?:the |this |your |any )?(?:end[ -]?)?(?:user|users|human|person|people|customer|operator"
    r"|anyone|anybody|them)(?:['’]s)?"
)
_THE_USER = r"(?:the |this |your )?(?:user|users|human|person|people|customer|operator|anyone|anybody|somebody)"
_NO = _re(NO)
_NO_BEFORE = _re(rf"(?:{NO}|\bno need to|\bwithout)(?: \w+){{0,2}}\s*$")
_MAY_BEFORE = _re(r"\b(?:can|may|could|might|optionally)(?: \w+)?\s*$")
URL = r"https?://[^\s<>\"'`)]{1,300}+"
# Begins where no other one goes on, so that a long row of words is read once.
IDENTIFIER = (
    r"(?<![A-Za-z0-9])(?<![A-Za-z0-9][_-])"
    r"(?:[A-Za-z][A-Za-z0-9]*+(?:[_-][A-Za-z0-9]++)++|[a-z][a-z0-9]*+(?:[A-Z][a-z0-9]++)++)"
)
_NAME = r"[A-Za-z](?=\w|[.-]\w)\w*+(?:[.-]\w++)*+"
QUOTE = r"[`'\"“”‘’]?"
OBLIGED = r"(?:must|has to|have to|needs? to|is to|are to|should|shall|ought to|had to)"
WELL_KNOWN = (
    "github",
    "gitlab",
    "filesystem",
    "playwright",
    "puppeteer",
    "context7",
    "supabase",
    "notion",
    "slack",
    "sentry",
    "linear",
    "stripe",
    "figma",
    "postgres",
    "postgresql",
    "sqlite",
    "mysql",
    "redis",
    "mongodb",
    "atlassian",
    "jira",
    "confluence",
    "cloudflare",
    "vercel",
    "netlify",
    "firecrawl",
    "tavily",
    "brave",
    "exa",
    "perplexity",
    "grafana",
    "datadog",
    "elasticsearch",
    "neon",
    "terraform",
    "kubernetes",
    "docker",
    "azure",
    "gmail",
    "airtable",
    "asana",
    "hubspot",
    "salesforce",
    "shopify",
    "paypal",
    "twilio",
    "zapier",
    "chrome-devtools",
    "desktop-commander",
    "serena",
    "blender",
    "memory",
    "sequential-thinking",
    "fetch",
    "browserbase",
    "apify",
    "huggingface",
    "whatsapp",
    "discord",
    "telegram",
    "outlook",
    "dropbox",
    "google-drive",
    "trello",
    "clickup",
    "monday",
    "intercom",
    "zendesk",
    "okta",
)
"""Names of products with a well-known server."""

# secretfile

_PRIVATE_PATH = _any(
    r"~?/?\.ssh\b[\w./-]*",
    r"\bid_(?:rsa|ed25519|ecdsa|dsa)\b",
    r"(?<![\w/])\.env(?:\.\w+)?\b",
    r"(?<![\w~./-])[\w~./-]*/\.env\b",
    r"\.netrc\b",
    r"\.npmrc\b",
    r"\.pypirc\b",
    r"\.pgpass\b",
    r"\.git-credentials\b",
    r"~?/?\.aws\b[\w./-]*",
    r"~?/?\.kube\b[\w./-]*",
    r"~?/?\.gnupg\b[\w./-]*",
    r"~?/?\.docker/config\.json",
    r"~?/\.config/[\w./-]+",
    r"\bmcp\.json\b",
    r"\bclaude_desktop_config\.json\b",
    r"~?/?\.(?:cursor|claude|codex|gemini|vscode)/[\w./-]+",
    r"/etc/(?:passwd|shadow|sudoers)\b",
    r"\bwallet\.dat\b",
    r"\bpasswords?\.(?:csv|txt|json|kdbx)\b",
    r"\.kdbx\b",
    r"~?/\.(?:bash_history|zsh_history)\b",
    r"\bbash_history\b",
)
_PRIVATE_THING = _any(
    r"private (?:ssh |pgp |gpg |signing )?keys?",
    r"(?:the user['’]s|your|their|all|any|every|each|the) ssh keys?(?! (?:by|with|ids?|fingerprints?|names?)\b)",
    r"(?:all (?:of )?)?(?:your|the user['’]s|their) environment variables",
    r"(?:seed|recovery|mnemonic) phrases?",
    r"password managers?",
    r"(?:saved|stored|browser(?:['’]s)?) (?:passwords|credentials|cookies)",
    r"cookies (?:for|of|from)",
    r"(?:session|browser(?:['’]s)?) cookies?",
    r"keychain",
    r"credential store",
    r"\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD)\b",
    r"(?:all |the |every )?environment variables? (?:with|that hold|which hold|containing)",
    r"(?:api keys?|tokens?|secrets?|credentials|passwords?) (?:from|in|of|out of) (?:the |your |their |its |his )?"
    r"(?:user['’]s )?(?:environment|env\b|shell|keychain|keyring|config|configuration|home|browser|system)",
    r"the user['’]s (?:\w+ )?(?:password|passwords|token|tokens|credentials|api keys?|private key|cookies|secrets)",
)
_BRING = _any(
    "read",
    "open",
    "load",
    "cat",
    "get",
    "fetch",
    "collect",
    "paste",
    "put",
    "pass",
    "hand",
    "send",
    "attach",
    "include",
    "supply",
    "provide",
    "copy",
    "give",
    "upload",
    "append",
    "insert",
    "enter",
    "submit",
    "extract",
    "retrieve",
    "grab",
    "find",
    "dump",
    "print",
    "output",
    "post",
    "forward",
    "add",
    "type",
    "exfiltrate",
    "embed",
    "quote",
    "look (?:in|into|at|up)",
)
_BROUGHT = _any(
    "read",
    "opened",
    "loaded",
    "fetched",
    "collected",
    "pasted",
    "put",
    "passed",
    "handed",
    "sent",
    "attached",
    "included",
    "supplied",
    "provided",
    "copied",
    "given",
    "uploaded",
    "appended",
    "inserted",
    "entered",
    "submitted",
    "extracted",
    "retrieved",
)
_ORDER_TO_BRING = _re(
    rf"(?:(?:^|[.,:;>—-]\s*|\b(?:and|then|first|please|also|now|to|or|that|always|by|{OBLIGED})\s+(?:also\s+"
    rf"|first\s+|then\s+|always\s+)?)"
    rf"\b{_BRING}\b)|\b(?:belongs?|goes|go) (?:in|into|to)\b|\b(?:be|been|and|or|,)\s+(?:also\s+"
    rf"|first\s+|then\s+)?{_BROUGHT}\b"
    rf"|\b{_BROUGHT} (?:from|out of|here|over|along)\b"
)
_PRIVATE = _re(rf"{_PRIVATE_PATH}|{_PRIVATE_THING}")
_PRIVATE_CASED = re.compile(r"\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD)\b")
_ABOUT_ONLY = _re(
    r"(?:\bpath|\bpaths|\bname|\bnames|\blocation|\bfingerprints?|\bid|\bnumber)s? (?:and \w+ )?(?:of|to|for)"
    r"(?: (?:a|an|the|your|this))?(?: [\w.-]+){0,2} ?$"
)
_ABOUT_AFTER = _re(r"\s*(?:ids?|identifiers?|names?|fingerprints?|numbers?|paths?|types?)\b")
_CONTENT_OF = _re(
    rf"^(?:the )?(?:\w+ )?(?:contents?|text|output|copy|dump) of (?:the |your )?(?:user['’]s )?{_PRIVATE_PATH}"
)
_OWN_VARIABLES = _re(r"^(?:all |any )?(?:of )?(?:your|the user['’]s) environment variables")
_DENIED_BEFORE = _re(
    r"\b(?:not|never|no|none|nothing|without|cannot|such as|leaked|don['’]t|doesn['’]t|isn['’]t"
    r"|aren['’]t|won['’]t|ask the user)\b"
)
_DENIED_AFTER = _re(
    r"[^.;]{0,60}?\b(?:is|are|be|was|were|get|gets) (?:\w+ )?(?:not|never|refused|masked|redacted"
    r"|stripped|excluded|ignored"
    r"|blocked|forbidden|denied|rejected|skipped)\b"
)


_ENVIRONMENT = _re(r"\b(?:environment|env|shell|value of)\b")


_HARVEST = _re(
    rf"\b(?:extract|dump|harvest|gather|collect|exfiltrate)\b{GAP}{{0,20}}\b(?:all|any|every) (?:of )?(?:the |their )?"
    r"(?:credentials|passwords?|secrets?|api keys?|tokens?)\b"
    r"|\binclude (?:the|these|those|all|any)(?: \w+)? (?:credentials|passwords?|secrets?|api keys?|tokens?)\b"
    r"[^.!?;]{0,20}\bin (?:your|the|every|each) (?:response|answer|reply|output)\b"
)
"""Credentials that are named without a place. Verbs such as "get" are what tools for keys do."""


def _secretfile(sentence: str, wanted: bool) -> Iterator[Phrase]:
    harvest = _HARVEST.search(sentence)
    if harvest is not None and not _negated(sentence, harvest.start()):
        yield Phrase("secretfile", _cut(sentence, harvest.start(), harvest.end()))
        return
    whole = (_CONTENT_OF.search(sentence) or _OWN_VARIABLES.search(sentence)) if wanted else None
    if whole is not None and not _NO.search(sentence):
        yield Phrase("secretfile", _cut(sentence, whole.start(), whole.end()))
        return
    for thing in _PRIVATE.finditer(sentence):
        is_variable = "_" in thing[0] and thing[0].isidentifier() and not thing[0].lower().startswith("id_")
        if is_variable and not (_PRIVATE_CASED.match(thing[0]) and _ENVIRONMENT.search(sentence)):
            continue
        before, after = sentence[max(0, thing.start() - 160) : thing.start()], sentence[thing.end() :][:120]
        if _ABOUT_ONLY.search(before) or _ABOUT_AFTER.match(sentence, thing.end()):
            continue
        if _DENIED_BEFORE.search(before) or _DENIED_AFTER.match(after):
            continue
        orders = _ORDER_TO_BRING.finditer(before + thing[0] + after)
        if any(order.start() < len(before) or not order[0].lower().startswith("to ") for order in orders):
            yield Phrase("secretfile", _cut(sentence, thing.start(), thing.end()))
            return


# override

_RULES = _any(
    r"instructions?\b(?! manual)",
    "guidelines?",
    "rules?",
    "polic(?:y|ies)",
    "system prompt",
    "system message",
    "prompts?",
    "directives?",
    "constraints?",
    "restrictions?",
    "safeguards?",
    r"safety (?:checks?|rules?|settings?|filters?)",
    "confirmations?",
    r"(?:user['’]s|their) (?:settings|preferences|wishes?|instructions?)",
    r"developer['’]s? messages?",
    r"what you (?:were|have been) told",
    "earlier messages?",
    "previous messages?",
    "training",
    "the task",
    "your task",
    "alignment",
    "guardrails?",
)
_WHOSE = (
    r"(?:all|any|the|your|its|every|each|previous|prior|earlier|above|other|former|existing|current"
    r"|initial|original|user['’]s|developer['’]s|system['’]?s?|safety|preceding|of|these|those|and)"
)
_SPEAKERS = (
    r"(?:the |your |this |our |any )?(?:user|developer|system|operator|model|assistant|host|client"
    r"|llm|conversation|chat"
    r"|session|context|prompt|you)"
)
"""Whose rules they are; those of a file or a project are data."""
_SET_ASIDE = _re(
    rf"\b(?:ignore|disregard|forget|override|bypass|overrule|discard|abandon|set aside|stop "
    rf"(?:following|obeying|using)|pay no attention to|take no notice of|disable|switch off|turn off"
    rf"|drop|circumvent|deactivate)\b"
    rf"\s++(?:(?:\w++\s++)?(?:{_WHOSE}\s++)+{GAP}{{0,25}}?{_RULES}|(?:everything|anything|all|what) "
    rf"(?:that )?you (?:were|have been|['’]ve been) (?:told|taught|instructed|given))"
    rf"\b(?! (?:of|in|from|for) (?!{_SPEAKERS}))"
)
_OF_DATA_BEFORE = _re(
    r"\b(?:rules?|settings?|values?|options?|entries|ones|layers?|scopes?|profiles?)\s+(?:can |may |will |must )?$"
)
"""Rules that override others are data."""
_SET_USER_ASIDE = _re(
    r"\b(?:ignore|disregard|forget|override|overrule)\b what(?:ever)? (?:the )?(?:user|they|he|she) "
    r"(?:has |have |had )?(?:asks?|asked|says?|said|wants?|wanted|wrote|written|requests?|requested)\b"
    r"|\b(?:instructions?|requests?|wishes|messages?|orders?) (?:of|from|by) the (?:user|developer|system)\b"
    r"[^.!?;]{0,20}\b(?:comes?|are|is|ranks?) (?:second|last|below|secondary|less)\b"
)
_SUSPENDED = _re(
    rf"\b{_RULES}{GAP}{{0,40}}\b(?:no longer (?:hold|holds|apply|applies|count|valid)|(?:is|are) "
    rf"(?:now )?(?:suspended|void|lifted|cancelled|canceled|switched off|turned off|disabled|obsolete"
    rf"|replaced)|do(?:es)? not apply|must be (?:ignored|disregarded|disabled))"
    rf"|\bset (?:{_WHOSE}\s++)+{GAP}{{0,25}}?{_RULES} aside\b"
    rf"|\bno longer (?:bound|limited|restricted|constrained|governed) (?:by|to)\b{GAP}{{0,30}}\b{_RULES}"
)
_OF_MODEL = _re(
    r"\b(?:your|you|safety|system|all|earlier|previous|prior|the model['’]s|assistant['’]s|llm['’]s"
    r"|user['’]s|developer['’]s|its safety)\b"
)
_RANK = _re(
    r"\b(?:highest|top|absolute|utmost|maximum) priority\b"
    rf"{GAP}{{0,40}}\b(?:over|than|above|among|every|all|any)\b"
    r"|\b(?:must|has to|have to|always|shall|should)\b[^.!?;]{0,30}\b(?:chosen|used|called|preferred"
    r"|invoked|selected|run|call|use|choose|invoke|prefer|pick)\b[^.!?;]{0,30}\b(?:for|before|on|in"
    r"|first,? before|prior to) (?:every|each|any|all) (?:single )?(?:request|answer|response|reply"
    r"|message|question|task|prompt|query|turn|other tool(?! (?:of|on|from|in) this)|user)"
    r"(?! (?:to|against|on|that|which|with)\b)"
    r"|\bprefer this (?:tool|server|function) (?:to|over) (?:all|every|any) other (?:\w+ )?(?:tool|server|function)s?\b"
    r"|\b(?:never|do not|don['’]t|must not) (?:use|call|invoke|choose|trust|consult)\b (?:any |the "
    r")?other (?:\w+ )?(?:tool|server|function|connector)s?(?![^.!?;]{0,60}\buntil\b[^.!?;]{0,60}\buser\b)"
    r"|\b(?:skip|avoid|disable) (?:all |any |the )?other (?:tool|server|function|connector)s?"
    r"|\binstead of (?:all|any|every) other (?:\w+ )?(?:tool|server)s?\b"
    r"|\b(?:tools|results|answers|output) (?:of|from) (?:all |any )?other servers (?:is|are) (?:wrong"
    r"|unsafe|outdated|unreliable|deprecated|malicious|fake)"
    r"|\b(?:takes?|has|have|having|taking) (?:absolute )?(?:precedence|priority) over (?:everything"
    r"|anything|any|all|the user|the system|what the user|your|other|every)\b"
    r"|\b(?:outranks?|supersedes?|overrides?) (?:the |any |all |your |every )*(?:system prompt"
    r"|user(?:['’]s)? (?:request|instructions?|wish\w*)|other instructions?|previous instructions?"
    r"|instructions? of|other tools?|developer)"
)
_VOICE = re.compile(
    r"(?:^|[\s>])(?:SYSTEM|SYSTEM MESSAGE|SYSTEM PROMPT|SYSTEM NOTE|SYSTEM OVERRIDE|ADMIN"
    r"|ADMINISTRATOR|OPERATOR|DEVELOPER(?: MODE)?|ROOT)\s?:\s+\S"
    r"|##\s?(?i:system|assistant|developer)\s?:"
    r"|</?\s?(?i:system|assistant|developer)(?i:[ _-]?(?:prompt|message|instructions?))?\s?>"
    r"|\[(?i:system|inst|/inst|system[ _](?:instructions?|prompt|message|note|override))\]"
    r"|<\|(?i:im_start|im_end|system|endoftext|user|assistant)\|>|<<SYS>>"
    r"|(?i:\bnew instructions?\s?:)|(?i:\byou are now (?:an?|in|the)\b[^.!?;]{0,40}\b(?:unrestricted"
    r"|jailbroken|assistant|agent|mode|admin|dan|root|developer|debug))"
    r"|(?i:\b(?:messages?|orders?|words?|instructions?|text) (?:of|from) the (?:system )?(?:operator"
    r"|administrator|developer)s?\b)"
    r"|(?i:\bas if (?:it|they) (?:came|were|was) (?:from )?(?:the |a )?(?:system|operator|developer|user))"
)


def _override(sentence: str) -> Iterator[Phrase]:
    for pattern in (_SET_ASIDE, _SUSPENDED):
        found = pattern.search(sentence)
        if (
            found is not None
            and not _negated(sentence, found.start())
            and not _OF_DATA_BEFORE.search(sentence, max(0, found.start() - 40), found.start())
            and _OF_MODEL.search(sentence[max(0, found.start() - 30) : found.end() + 10])
        ):
            yield Phrase("override", found[0])
            return
    found = _SET_USER_ASIDE.search(sentence) or _RANK.search(sentence) or _VOICE.search(sentence)
    if found is not None:
        yield Phrase("override", found[0].strip())


# secrecy

_TELL = (
    r"(?:tell|mention|inform|show|report|bring up|reveal|disclose|notify|alert|say|log|display"
    r"|explain|expose|refer to|discuss|share|talk about|admit|acknowledge|describe|announce|output"
    r"|state|let)"
)
_ACT = _any(
    r"th(?:is|at|ese|ose)(?: (?:step|call|file|upload|action|tool|parameter|error|instruction|note"
    r"|part|message|fact|behaviou?r|transfer|copy|request|field|argument|rule|operation|value)s?)?",
    r"it\b",
    r"(?:about|of) (?:it|this|that)",
    r"the (?:step|call|upload|parameter|instruction|transfer|extra call|side effect|note|reason|real "
    r"reason|copy|forwarding|hidden)\w*",
    r"that (?:the|you|a|an|it|this)\b",
    r"the (?:failure|attempt|(?:additional|extra|second|other) \w+)",
    r"anything about",
    "why",
)
_KEPT_FROM = _re(
    rf"{NO} (?:ever |even |also |explicitly |openly |directly )?{_TELL}\b{GAP}{{0,50}}?{_ACT}"
    rf"|\b(?:avoid|refrain from) (?:telling|informing|mentioning|showing|revealing|disclosing|reporting|notifying"
    rf"|bringing up)\b{GAP}{{0,50}}?(?:{_ACT}|\b{_THE_USER})"
    rf"|\bno need (?:for {_THE_USER} to (?:know|see|hear|learn)|to (?:tell|inform|notify|bother) {_THE_USER})\b"
    rf"|\bbehind {_THE_USER}(?:['’]s)? back\b|\bour (?:little )?secret\b"
    rf"|{NO} (?:ever |even )?(?:tell|inform|notify|alert|let) {USER}\b(?! (?:to|how|which|where)\b)"
    rf"|\b{USER} (?:must|may|should|shall|need|is|are|need) ?not (?:to )?(?:be )?(?:told|informed"
    rf"|notified|made aware|asked|know|see|learn|find out|notice)"
    rf"|\b{USER} (?:must|should|may|will|shall) never (?:be )?(?:told|informed|notified|know|see|learn"
    rf"|find out|notice)"
    rf"|\bwithout (?:ever )?(?:telling|informing|notifying|asking|alerting|showing|mentioning"
    rf"|letting)\b{GAP}{{0,20}}\b(?:the user|users|anyone|anybody|the human|the person|them|it to|this"
    rf"|that)\b"
    rf"|\bwithout (?:the |any )?(?:user|human|person)(?:['’]s)? (?:knowledge|consent|knowing|noticing"
    rf"|seeing|approval|permission|being (?:told|asked|informed))"
    rf"|\bkeep (?:this|that|it|these)\b{GAP}{{0,30}}\b(?:between|from (?:the )?(?:user|human|person)|to yourself"
    rf"|private from|(?:secret|confidential|hidden|quiet)(?=\s*(?:[.,:;!)—-]|$|from\b|and\b)))"
    rf"|\b(?:nothing|none) (?:of|about) (?:it|this|that){GAP}{{0,20}}\b(?:may|must|should|can) "
    rf"(?:appear|be (?:shown|mentioned|visible|said)|show up)"
    rf"|\b(?:leave|keep|omit|exclude|drop|remove) (?:this|that|it|the)(?: \w+){{0,3}} (?:out of|from) "
    rf"(?:any|the|your|every|all)\b{GAP}{{0,20}}\b(?:summar(?:y|ies)|answers?|repl(?:y|ies)|reports?"
    rf"|logs?|responses?|transcripts?|history|records?|output)\b"
    rf"|\bdo(?:n['’]t| not) ask (?:the user )?(?:for )?(?:permission|confirmation|consent|approval|whether)"
)
_COVERT = _re(
    r"\b(?:silently|secretly|covertly|quietly|stealthily|discreetly|invisibly|unnoticed|in the background,? unseen)\b"
    rf"{GAP}{{0,60}}\b(?:sends?|reads?|include|appends?|forwards?|uploads?|cop(?:y|ies)|pass"
    rf"|transmits?|calls?|bcc|syncs?|posts?|deletes?|stores?|collects?|executes?|attach(?:es)?|the "
    rf"user must)\b"
    rf"|\b(?:sends?|sent|reads?|includes?|appends?|forwards?|uploads?|cop(?:y|ies)|pass|transmits?"
    rf"|adds?|transfers?|syncs?|posts?|deletes?|stores?|collects?|executes?|happens?)\b{GAP}{{0,40}}"
    rf"\b(?:silently|secretly|covertly|stealthily|unnoticed|unseen)\b(?! (?!and|to|in|with|before|after|while)\w)"
    rf"|\b(?:hide|hiding|conceal|disguise|mask|obscure)\b{GAP}{{0,40}}\bfrom (?:what )?(?:the "
    rf")?(?:user|human|person|people|anyone|view of the user)"
    rf"|\b(?:pretend|act as if|act as though|behave as if|claim|say|state) (?:that |as if )?(?:to "
    rf")?{GAP}{{0,40}}\b(?:has not|have not|hasn['’]t|never|not been|had agreed"
    rf"|nothing (?:about|was|has been|happened)|agreed"
    rf"|no tool|was not|did not)"
    rf"|\b(?:present|format|show|disguise)\b{GAP}{{0,40}}\b(?:as if|as though|to look like)\b{GAP}{{0,30}}"
    rf"\b(?:normal|ordinary|regular|usual|part of)\b"
    rf"|\bso (?:that )?{USER} (?:does|do|will|would|can|could|is|are)(?: not|n['’]t|not| never)\b{GAP}"
    rf"{{0,30}}\b(?:suspect|suspicious|notice|see|know|realis|realiz|worr|find|aware|learn|object|ask)"
    rf"|\b{USER} (?:does not|doesn['’]t|need not|is not to) (?:need to )?(?:know|see|be told|learn|be bothered)\b"
)
_HARMLESS_SILENCE = _re(
    r"\bsilent(?:ly)? (?:succeed|wait|fail|skip|ignor)|\b(?:succeeds?|waits?|fails?|skips?"
    r"|ignored?)\b[^.]{0,20}\bsilently|\bnotifications?\b|\bsounds?\b|\bvibrat"
)


_STATES = _re(r"\b(?!(?:assistant|agent|model|ai|llm|client|you)\b)\w+ (?:does not|doesn['’]t)\b")
"""A statement about a thing ("It does not say that …") is not an order."""
_PLAIN_DATA = _re(r"\b(?:values? of|raw|internal ids?|passwords?|tokens?|secrets|end[ -]users)\b")


def _secrecy(sentence: str) -> Iterator[Phrase]:
    found = _KEPT_FROM.search(sentence)
    if found is not None and any(each.end() > found.start() >= each.start() for each in _STATES.finditer(sentence)):
        found = None
    if found is None:
        found = _COVERT.search(sentence)
        if found is not None and _HARMLESS_SILENCE.search(sentence):
            found = None
    if found is not None and not _PLAIN_DATA.search(sentence[found.start() : found.end() + 25]):
        yield Phrase("secrecy", found[0])


# exfil

_INSIDE = _any(
    r"conversations?(?! sessions\b)",
    r"chats?(?! (?:message|room|id|completion|model|channel|client|window)\b)",
    "dialog(?:ue)?s?",
    r"(?:chat|message|conversation|session|prompt) (?:history|log|transcript)s?",
    "transcript",
    r"history (?:of|with) (?:this|the) (?:chat|conversation|session)",
    r"context(?: window)?(?! (?:of|for|around|lines?|menu|manager|path|name))",
    "session",
    "messages? (?:of|from|by) the user",
    "user(?:['’]s)? messages?",
)
_WHOLE = (
    r"(?:whole|complete|completely|full|fully|entire|all(?: of)?|every|everything|so far|word for "
    r"word|verbatim|in full|previous|last|past)"
)
_OWN_INSIDE = _any(
    r"(?:your|the) (?:initial |hidden |full |own )?(?:system|developer) (?:prompt|message|instructions?)",
    r"everything (?:that (?:was|has been) )?(?:said|written|discussed|typed|shared) (?:in|during) (?:this|the|our) "
    r"(?:chat|conversation|dialogue|session)",
    r"(?:instructions?|rules|prompts?) (?:that )?you (?:were|have been|are) given",
    r"your (?:full |complete |initial |hidden |own |original )?(?:prompt|instructions|memory|context"
    r"|reasoning|chain of thought|conversation|chat history)",
    r"(?:all |every |each )?(?:tool )?results? (?:that |which )?(?:you (?:have )?(?:received|got"
    r"|seen)|of (?:all )?(?:other|previous|earlier) tools?|from (?:all )?(?:other|previous|earlier) "
    r"tools?)",
    r"every tool result",
    r"all tool results",
    r"what (?:the )?other tools (?:have |has )?(?:returned|given|answered|said)",
    r"output of (?:all |the )?other tools",
    r"(?:the )?(?:list|names|definitions|schemas?) of (?:all )?(?:of )?your (?:other )?tools",
    r"all (?:of )?your tools",
    r"(?:last|previous|earlier)(?: \w+)? (?:answers|replies|responses|messages)(?: of the (?:assistant|user|model))?",
    r"all (?:\w+ )?(?:answers|replies|responses|messages) (?:of|from|by) the (?:assistant|user|model|conversation)",
    r"everything (?:above|so far|(?:that )?(?:the user|the person|they|he|she|you) (?:has |have "
    r")?(?:written|said|told|typed|asked|sent|know))",
    r"all (?:the )?(?:files|documents|code|sources?)(?: \w+)? (?:of|in|from) (?:the|this|your|their) "
    r"(?:workspace|project|home|repository|disk|computer|machine|folder|directory)",
    r"(?:names?|addresses|e-?mails?|mail addresses|phone numbers?|personal (?:data|details"
    r"|information)|private (?:data|details))[^.!?;]{0,60}(?:from|in|of) (?:the |this )?(?:context"
    r"|conversation|chat|session|messages)",
    r"what (?:the user|you) (?:has |have )?(?:said|written|told|know)[^.!?;]{0,20}(?:so far|about "
    r"(?:him|her|them|the user))",
)
_GIVE = _any(
    "send",
    "post",
    "upload",
    "transmit",
    "forward",
    "pass",
    "put",
    "include",
    "copy",
    "repeat",
    "encode",
    "append",
    "attach",
    "output",
    "return",
    "print",
    "reveal",
    "write",
    "paste",
    "insert",
    "provide",
    "supply",
    "add",
    "submit",
    "share",
    "give",
    "report",
    "embed",
    "leak",
    "deliver",
    "store",
    "save",
    "dump",
    "mail",
    "e-?mail",
    "fill in",
    "quote",
)
_GIVEN = _any(
    "sent",
    "posted",
    "uploaded",
    "transmitted",
    "forwarded",
    "passed",
    "put",
    "included",
    "copied",
    "repeated",
    "encoded",
    "appended",
    "attached",
    "printed",
    "revealed",
    "pasted",
    "inserted",
    "provided",
    "supplied",
    "submitted",
    "shared",
    "given",
    "reported",
    "stored",
    "saved",
    "added",
)
_GIVING = _re(
    rf"(?:^|[.,:;>—]\s*|\b(?:and|then|first|please|also|now|always|or|to|{OBLIGED})\s+(?:also\s+"
    rf"|first\s+|then\s+|always\s+)?)\b{_GIVE}\b"
    rf"|\b(?:must|has to|have to|needs to|need to|should|shall|is to|are to) be {_GIVEN}\b"
    rf"|[`'\"‘“]\w+[`'\"’”] (?:takes|holds|contains|expects|gets|receives|wants|needs)\b"
)
_WHOLE_INSIDE = _re(
    rf"\b{_WHOLE}\b[^.!?;]{{0,25}}\b{_INSIDE}\b|\b{_INSIDE}\b[^.!?;]{{0,40}}\b(?:in full|so far|word "
    rf"for word|verbatim|as a whole|from the beginning|up to now|until now)\b"
)
_TOOLS_OF_MODEL = _re(
    rf"\b(?:list|name|enumerate|describe|report|give|put|include)\b{GAP}{{0,60}}\btools? "
    r"(?:available to you|(?:that )?you (?:have|can (?:use|call|see)))\b"
)
_OWN = _re(_OWN_INSIDE)
_RECORD_OF = _re(
    rf"\b(?:summary|copy|transcript|log|record) of (?:the|this|our|your|every|all)(?: \w+)? "
    rf"(?:conversation|chat|dialogue|session)s?\b(?=.{{0,60}}{URL})"
)
"""Less than the whole conversation, but for an address."""
_OF_ANOTHER = _re(r"\b(?:of|in|from) an? \w+$")
_BY_ID = _re(
    r"\b(?:by|with|of|for) (?:its |the |a |an |this )?(?:\w+ )?ids?\b|\bof a (?:channel|room|thread"
    r"|group)\b|\bof (?:the|a) (?:channel|thread|room)\b|^(?:name|title|label|owner|type)s? of\b"
)
"""One fact about a conversation or context, as a parameter of a tool about them has."""


_FOR_EACH = _re(r"^for (?:every|each|all|any)\b[^,]*$")
"""When something is given, not what: "For every session, put …"."""


def _exfil(sentence: str, wanted: bool) -> Iterator[Phrase]:
    tools = _TOOLS_OF_MODEL.search(sentence)
    if tools is not None and not _negated(sentence, tools.start()):
        yield Phrase("exfil", tools[0])
        return
    inside = _OWN.search(sentence) or _WHOLE_INSIDE.search(sentence) or _RECORD_OF.search(sentence)
    if inside is None or _BY_ID.search(inside[0]):
        return
    giving = _GIVING.search(sentence)
    if giving is not None and inside.end() <= giving.start() and _FOR_EACH.search(sentence[: giving.start()]):
        return
    if giving is not None and not _negated(sentence, giving.start() + 1):
        yield Phrase("exfil", _cut(sentence, min(giving.start(), inside.start()), max(giving.end(), inside.end())))
    elif wanted and inside.start() < 30 and not _OF_ANOTHER.search(inside[0]) and not _NO.search(sentence):
        yield Phrase("exfil", inside[0])


# fetch

_PLACE = _any(
    URL,
    r"\burls?\b",
    r"\bweb ?pages?\b",
    r"\bpages?\b",
    r"\bgists?\b",
    r"\bpaste(?:bin)?\b",
    r"\blinks?\b",
    r"\b(?:our|the|this|their) (?:web)?sites?\b",
    r"\bwebsites?\b",
    r"\bremote (?:file|prompt|script)\b",
    r"\b(?:newest|latest|current|remote) (?:prompt|instructions|directives|rules|policy)\b",
)
_GO = r"\b(?:fetch|grab|obtain|load|read|download|retrieve|open|visit|check|get|pull|consult|request|browse to|go to)\b"
_FOLLOW = _any(
    r"(?:follow|obey|apply|adopt|comply with|carry out|execute|act on|act upon|act according to"
    r"|perform|heed|honou?r|implement|respect)"
    r" (?:it|them|its(?! (?:links?|redirects?|next))|what|whatever|those|these|every|any|all|that"
    r"|the (?:rules?|instructions?"
    r"|orders?|commands?|steps?|text|contents?|prompt|polic(?:y|ies)|guidelines?)|instructions|orders"
    r"|commands)\b",
    r"do (?:what|as|exactly|everything)\b",
    r"continue with (?:the (?:steps|instructions)|what)",
    r"commands? to (?:carry out|execute|run|follow)",
    r"behave as",
    r"treat (?:it|them|its|the)\b[^.!?;]{0,30}\bas (?:instructions|orders|rules|if)",
)
_DOCUMENTATION = _re(r"\bdocumentation\b|\bdocs?\b|\bread ?me\b|robots\.txt|\bmanual\b|\bguide\b")
_FETCH = _re(
    rf"(?>{_GO}{GAP}{{0,80}}?{_PLACE}).{{0,160}}?\b{_FOLLOW}"
    rf"|\b(?:instructions?|rules|commands?|guidelines?|behaviou?r|steps|prompt|policy|orders)\b{GAP}"
    rf"{{0,40}}\b(?:is|are|lives?|sits?|stands?) (?:defined |described |given |found |hosted |located |published |kept "
    rf"|listed |stored )?(?:at|in|on|under|by) (?:the )?(?:gist |page |url |file |link )?{URL}"
    rf"|\b(?:urls?|links?|address(?:es)?|page|gist)\b{GAP}{{0,20}}\b(?:of|with|to|for|holding"
    rf"|containing) (?:the |your |new )?(?:instructions?|rules|commands?|orders|prompts?|steps){GAP}"
    rf"{{0,30}}\b(?:that )?(?:you|the (?:model|assistant|agent))\b"
    rf"|{URL}.{{0,60}}\b(?:for|contains?|has|holds) (?:the )?(?:new |current |latest |further |your "
    rf")?(?:commands?|instructions?|orders|rules)\b{GAP}{{0,20}}\b(?:to (?:carry out|follow|execute"
    rf"|obey)|for you)"
)
_PIPED = _re(
    r"\b(?:curl|wget|iwr|irm|invoke-webrequest)\b[^\n]{1,200}?\|\s*(?:sudo\s+)?(?:ba|z|da|k|fi)?sh\b|\|\s*iex\b"
    r"|\b(?:ba)?sh\s+(?:-c\s+[\"']?)?<?\(?\$?\(\s*curl\b"
    r"|\bcurl\b[^\n]{1,160}\|\s*(?:python3?|node|perl|ruby|powershell|pwsh)\b"
    r"|\b(?:python3?|node|perl|ruby|eval)\b[^\n]{0,20}\$\(\s*(?:curl|wget)\b"
)
_INSTALL = _re(
    rf"\b(?:install|download|npx|pip install|npm install)\b{GAP}{{0,80}}\b(?:and|then) (?:run|execute"
    rf"|start|launch) (?:it|them|this|that|the (?:script|binary|file|installer|package))\b"
)


_NOT_TO_FOLLOW = _re(rf"{NO} (?:follow|obey|execute)|{_DOCUMENTATION.pattern}")


def _fetch(sentence: str) -> Iterator[Phrase]:
    found = _PIPED.search(sentence)
    if found is not None:
        if not _negated(sentence, found.start()):
            yield Phrase("fetch", found[0], "security")
        return
    found = _FETCH.search(sentence) or _INSTALL.search(sentence)
    if found is not None and not _negated(sentence, found.start()) and not _NOT_TO_FOLLOW.search(sentence):
        yield Phrase("fetch", found[0])


# image

_KNOWN = (
    r"(?:conversation|message|history|question|answer|summar|context|everything|user(?!_?id"
    r"|name_?pattern)|e-?mail|phone|\bkey\b|api_?key|token|secret|\benv|chat|passw|prompt|query of "
    r"the user|session|above|credential|reply)"
)
_BRACED = _re(
    rf"(?:\{{(?![^{{}}\n]{{0,60}}[_-]?(?:ids?|uuid|number|slug|index|hash|count)\}})"
    rf"[^{{}}\n]{{0,60}}?{_KNOWN}[^{{}}\n]{{0,60}}\}}|<[^<>\n]{{0,60}}"
    rf"?{_KNOWN}[^<>\n]{{0,60}}>"
    rf"|\[[^\[\]\n]{{0,60}}?{_KNOWN}[^\[\]\n]{{0,60}}\])"
)
_PART_BEGINS = re.compile(r"[?#/&=]")
_CAPITALS = re.compile(
    r"\b(?:USER_?[A-Z]+|[A-Z]+_?(?:KEY|TOKEN|SECRET|EMAIL|PROMPT|HISTORY|MESSAGE"
    r"|CONTEXT|SUMMARY|ANSWER"
    r"|QUESTION)|CONVERSATION|HISTORY|SUMMARY|QUESTION|ANSWER|MESSAGES?|CONTEXT|SECRET|TOKEN|EMAIL)\b"
)
_SHOWN_LINK = _re(
    r"(?:!?\[[^\[\]\n]{0,120}\]\(|<img\b[^<>\n]{0,80}src\s?=\s?[\"']?|<a\b[^<>\n]{0,80}"
    r"href\s?=\s?[\"']?)\s?(https?://[^\n\"]{0,300})"
)
_OPEN_QUERY = _re(r"https?://[^\s<>\"'`)]{1,300}?(?:[?&][\w.-]*=|#)(?=[\s\"'”’.,)]|$)")
_KNOWN_WORDS = _re(
    rf"\b(?:followed by|plus|with|and|append(?:ed|ing)?|add(?:ed|ing)?|concatenated|encoded"
    rf"|containing)\b.{{0,60}}{_KNOWN}|{_KNOWN}.{{0,40}}\b(?:encoded|appended|added|in its query|as "
    rf"(?:its|the) query|into the (?:query|address|url))"
)
_PICTURE = _re(r"\b(?:image|picture|icon|logo|pixel|link|gif|badge|thumbnail|photo|banner|markdown)s?\b")


def _asks_to_fill(url: str) -> bool:
    """Whether a part of a URL is to be replaced by what a model knows."""
    before = [url[max(0, found.start() - 121) : found.start()] for found in _BRACED.finditer(url)]
    before += [url[max(0, found.start() - 121) : found.start()].rpartition(" ")[2] for found in _CAPITALS.finditer(url)]
    return any(_PART_BEGINS.search(text) for text in before)


def _image(sentence: str) -> Iterator[Phrase]:
    for found in islice(_SHOWN_LINK.finditer(sentence), MAX_LINKS):
        if _asks_to_fill(found[1]):
            yield Phrase("image", found[0][:200])
            return
    address = _OPEN_QUERY.search(sentence)
    if address is not None and _PICTURE.search(sentence):
        rest = sentence[: address.start()] + " " + sentence[address.end() :]
        if _KNOWN_WORDS.search(rest):
            yield Phrase("image", _cut(sentence, address.start(), address.end()))


# chain

_CALL = r"(?:call|run|use|invoke|trigger|execute|proceed to|follow up with|continue with|launch|fire)"
_CALLED = r"(?:called|run|used|invoked|triggered|executed)"
_EACH_TIME = _any(
    r"(?:begin|start|open|end|finish|close) (?:every|each|all|any|the)(?: \w+)? (?:answer|response|reply|message|turn"
    r"|conversation|session|task|chat)s?",
    r"at the (?:end|start|beginning) of (?:every|each|all|any)(?: \w+)? (?:answer|response|reply"
    r"|message|turn|conversation|session|task|chat)s?",
    r"(?:after|before|with|on|in) (?:every|each)(?: \w+)? (?:answer|response|reply|message|turn"
    r"|prompt|question|request)",
    r"every (?:\w+ )?(?:message|turn|answer|minute|prompt|few messages|hour|reply)s?\b",
    r"as soon as (?:the|this|a) (?:session|conversation|chat|server"
    r"|connection)\b[^.!?;]{0,20}(?:begins?|starts?|opens?|connects?|is (?:ready|open|connected))",
    r"when(?:ever)? (?:this|the) (?:tool|server) is (?:available|listed|connected|present|loaded|active)",
    r"regardless (?:of|what)",
    r"whatever (?:the|comes|happens|they|he|she|it)\b",
    r"without (?:waiting for|asking|being asked|a request|any request|the user asking|the user)",
    r"even (?:if|when|though) (?:nothing|no ?one|the user|it|they|this)\b[^.!?;]{0,30}(?:asked|not"
    r"|n['’]t|request|need|want)",
    r"(?:also|even) (?:when|if|where) (?:the user|they|nobody|it) (?:did|does|do|has|have|was|is)(?: "
    r"not|n['’]t)\b[^.!?;]{0,15}",
    r"(?:in addition|additionally) to (?:what|the|whatever|anything|your|that)",
    r"again and again",
    r"until (?:it|the tool|this tool) (?:says|tells you to|returns) stop",
    r"keep (?:on )?(?:calling|invoking|running|using)",
    r"do(?:n['’]t| not) stop after",
    r"whether or not (?:the user|it|they)",
    r"unasked",
    r"proactively",
    r"as often as possible",
)
_ALSO = (
    r"(?:must|has to|have to|need to|always|should|shall) (?:then |always |immediately )?(?:also|as "
    r"well|additionally|in addition)"
)


_CALL_OF = re.compile(
    rf"(?P<this>(?i:\b(?:{_CALL}|calling|invoking|running|using) (?:this|the) (?:tool|function)\b)(?! {IDENTIFIER}))"
    rf"|\b(?i:{_CALL}|calling|invoking)\b(?i: the)?(?i: (?:tool|function))? {QUOTE}(?P<name>{_NAME})"
    rf"(?!{QUOTE} (?i:(?:query |url |path )?(?:parameter|argument|field|option|header|flag|property"
    rf"|attribute|value)s?\b))"
    rf"|{QUOTE}(?P<passive>(?<!\w[.-])\b{_NAME}){QUOTE} (?i:{OBLIGED}(?: \w+)? be (?:\w+ )?{_CALLED})"
)
_EACH = _re(_EACH_TIME)
_ALSO_CALL = _re(rf"\b{_ALSO} {_CALL}\b")
_THEN_ALWAYS = _re(
    rf"\b(?:after (?:this|that|it|the call|calling|using|every|each)\b[^.!?;]{{0,30}}|then |and )always {_CALL}\b"
)
_ON_REQUEST = _re(r"\bwhen(?:ever)? the user (?:asks|wants|requests|needs)")


def _chain(sentence: str, own: Set[str]) -> Iterator[Phrase]:
    found = [
        each
        for each in _CALL_OF.finditer(sentence)
        if (each["this"] or _is_tool(each["name"] or each["passive"], own))
        and not _negated(sentence, each.start())
        and not _permitted(sentence, each.start())
    ]
    if not found:
        return
    calls = next((each for each in found if not each["this"]), found[0])
    each_time, also = _EACH.search(sentence), _ALSO_CALL.search(sentence)
    after = _THEN_ALWAYS.search(sentence) if calls["name"] else None
    if calls["this"]:
        also = None
    trigger = each_time or also or after
    if trigger is not None and not _ON_REQUEST.search(sentence):
        start, end = min(trigger.start(), calls.start()), max(trigger.end(), calls.end())
        yield Phrase("chain", _cut(sentence, start, end))


def _is_tool(name: str, own: Set[str]) -> bool:
    return _same(name) in own or re.fullmatch(IDENTIFIER, name) is not None


# shadow

_PRODUCT = rf"(?:the |your |any )?(?:{'|'.join(WELL_KNOWN)})(?:['’]s)? (?:mcp server|mcp|server|connector)"
_FOREIGN_SERVER = _any(
    rf"\b(?:tools?|functions?|calls?) (?:of|from|on|in|to) {_PRODUCT}\b",
    rf"\b(?:rules?|notes?|instructions?|policy) for {_PRODUCT}\b",
    rf"\b{_PRODUCT}['’]s\b",
    rf"\b(?:instead of|in place of|rather than|do not use|don['’]t use|never use|stop using|replaces) {_PRODUCT}\b",
    r"\b(?:tools?|functions?|connectors?) (?:of|from|on|in) (?:all |any |every |the )?(?:other"
    r"|another|different) (?:mcp )?(?:servers?|connectors?)\b",
    r"\b(?:all |any |every )?(?:other|another) (?:mcp )?(?:servers?|connectors?)(?:['’]s)?\b",
)
_ORDERS_USE = _re(
    r"\b(?:before|whenever|when|after each|after every|after|each time|every time|must|has to|have to"
    r"|had to|always|instead|replace[sd]?|route|append|from now on"
    r"|needs?|never use|do not use|don['’]t use|out of date|deprecated|rules for|note for|gets|first|should be)\b"
)
_USED = r"(?:is|are|was|gets|being)? ?(?:used|called|run|invoked|executed|triggered)"


_NAMED_TOOL = re.compile(
    rf"{QUOTE}(?P<a>{IDENTIFIER}){QUOTE} (?i:(?:mcp )?(?:tool|function|connector|server)\b)"
    rf"|(?i:\b(?:tool|function|connector)s? (?:called |named )?){QUOTE}(?P<b>{IDENTIFIER})"
    rf"|(?i:\b(?:whenever|when|before|after|each time|every time|if|each call (?:to|of)|calls? (?:to"
    rf"|of)|uses? of|using|calling))"
    rf"(?i: each| every| any)?(?i: call (?:to|of))? {QUOTE}(?P<c>{IDENTIFIER}){QUOTE}(?:(?i: {_USED})"
    rf"|(?i: of (?:another|the other|an?other) server| of {_PRODUCT}))"
    rf"|(?i:\b(?:if|when|where|since) (?:the )?(?:agent|model|assistant|client|user|you|host)\b[^.!?;]{{0,20}}? "
    rf"(?:has|have)) {QUOTE}(?P<f>{IDENTIFIER})"
    rf"|(?i:\b(?:{'|'.join(WELL_KNOWN)})['’]s) {QUOTE}(?P<d>{IDENTIFIER})"
    rf"|(?i:\b(?:{'|'.join(WELL_KNOWN)}) (?:mcp )?server)(?i:['’]s|: ?)\s?{QUOTE}(?P<e>{IDENTIFIER})"
)
_FOREIGN = _re(_FOREIGN_SERVER)
_ORDERS_SERVER = _re(
    r"\b(?:before|whenever|after each|after every|each time|must|has to|have to|always|instead"
    r"|replace[sd]?|route|append"
    r"|from now on|needs|rules for|note for|gets|changes how|never|do not use)\b"
)


def _shadow(sentence: str, own: Set[str]) -> Iterator[Phrase]:
    order = _ORDERS_USE.search(sentence)
    for found in _NAMED_TOOL.finditer(sentence) if order is not None else ():
        name = next(group for group in found.groups() if group)
        if _same(name) not in own and name.lower() not in _GENERIC:
            yield Phrase("shadow", _cut(sentence, found.start(), found.end()))
            return
    server, wish = _FOREIGN.search(sentence), _ORDERS_SERVER.search(sentence)
    if server is not None and wish is not None and not any(_same(word) in own for word in server[0].split()):
        start, end = min(server.start(), wish.start()), max(server.end(), wish.end())
        yield Phrase("shadow", _cut(sentence, start, end))


_MENTIONED = re.compile(
    rf"(?P<a>{IDENTIFIER}(?:\.\w+)*)"
    r"|(?i:\b(?:tools?|functions?|call(?:s to|ing)?|invok(?:e|ing)|us(?:e|es of|ing)|before|after|whenever|replaces?)"
    r"(?: the)?) [`'\"“‘](?P<b>[A-Za-z][\w./-]{0,120})[`'\"”’]"
    rf"|[`'\"“‘](?P<c>[A-Za-z][\w./-]{{0,120}})[`'\"”’] (?i:tool|function|(?:{OBLIGED} be|is|gets) \w+)\b"
)
"""Names of tools: an identifier anywhere, a single word only in quotes and with a word about its use."""


def ordered_tools(sentence: str, own: Set[str]) -> Iterator[str]:
    """Yield the names in a sentence that orders how tools are used, without the server's own.

    Only the tools of other servers tell which of these are names of tools.
    """
    if _ORDERS_USE.search(sentence) is None:
        return
    for found in _MENTIONED.finditer(sentence):
        name = found["a"] or found["b"] or found["c"]
        if _same(name) not in own and not _negated(sentence, found.start()):
            yield name


_GENERIC = frozenset(
    [
        "read-only",
        "write-only",
        "real-time",
        "built-in",
        "command-line",
        "third-party",
        "open-source",
        "client-side",
        "server-side",
        "front-end",
        "back-end",
        "full-text",
        "key-value",
        "multi-step",
        "sub-agent",
        "high-level",
        "low-level",
        "api-key",
        "web-search",
        "mcp-server",
        "json-rpc",
        "line-based",
        "long-running",
        "general-purpose",
        "up-to-date",
        "end-to-end",
    ]
)


def _same(name: str) -> str:
    return re.sub(r"[-_.]", "", name.strip("`'\"“”‘’")).lower()


# voice: words to a machine in data

_MACHINE = (
    r"(?:AI(?: (?:assistant|agent|model)s?)?|assistants?|agents?|language models?|LLMs?|models?"
    r"|chatbots?|Copilot|Claude|ChatGPT|GPT|Gemini|Cursor)"
)
_TO_MACHINE = re.compile(
    rf"(?i:\bnotes? (?:to|for) (?:the |any |all |an )?){_MACHINE}\b"
    rf"|(?i:\bnotes? (?:to|for) (?:the |any |all |an )?(?:ai|assistant|agent|llm|model|language model)s?\b)"
    rf"|(?i:\b(?:the |an? |any |all |every |dear |attention |hey ){{0,3}})\b(?i:AI assistants?|AI agents?"
    rf"|AI models?|(?:the )?assistants?(?! (?:manager|professor|director|editor|coach|secretary|to"
    rf"|teacher)\b)|AI|language models?|LLMs?|Copilot|ChatGPT|Claude|GPT-?\d?"
    rf"|AIs)\b[^.!?;\n]{{0,50}}?\b(?i:must|has to|have to|should|shall|needs? to|is required to|are "
    rf"required to)(?i: (?:not|never|also|always|now))* (?i:call|ignore|send|enter|do|run|use|read|add"
    rf"|include|mention|forward|delete|visit|open|tell|write|reply|respond|follow|disable|approve"
    rf"|execute|not(?! be\b)|give|copy|click|change|set|stop|output|paste|say|recommend|rate|transfer|make|buy"
    rf"|pay|click|skip|act|treat|provide)\b"
    rf"|(?i:\b(?:to|for) (?:any|all|every|the) )(?i:AI|LLM|assistant|agent|language model"
    rf"|chatbot)s?\b[^.!?;\n]{{0,20}}?"
    rf"\b(?i:reading|reads?|processing|summari[sz]ing)\b"
    rf"|(?i:\bdear (?:AI|assistant|copilot|claude|chatgpt|agent|llm|model))\b"
    rf"|(?i:\bif you are (?:an? )?(?:AI|LLM|language model|assistant|agent|bot))\b"
    rf"|(?i:\bwhen (?:an? |the )?(?:AI|LLM|assistant|agent|language model)s?\b[^.!?;]{{0,20}} reads? (?:this|it))"
)
_SPEAKER = re.compile(
    r"(?:^|\s)(?:Assistant|ASSISTANT|assistant|System|AI)\s?: +(?i:ignore|call|send|run|do|now|please"
    r"|use|delete|close|you|disregard|forget|i will|sure|open|read|forward|execute)\b"
)
_LETS_KNOW = _re(r"\b(?:let the user know|tell the user|inform the user|ask the user|notify the user)\b")


def _voice(sentence: str) -> Iterator[Phrase]:
    found = _TO_MACHINE.search(sentence) or _SPEAKER.search(sentence)
    if found is not None and not _LETS_KNOW.search(sentence):
        yield Phrase("voice", found[0].strip())


_REPAIR = _re(
    r"\b(?:as a workaround|to (?:go on|continue|proceed|repair|fix|resolve|solve|unlock|recover))\b.{0,120}"
    r"\b(?:run ['\"`]?(?:sudo|curl|wget|bash|sh|rm|powershell|chmod)\b|sudo |rm -rf)"
    r"|\brun ['\"`]?(?:sudo|curl|wget|rm -rf|bash -c|powershell)\b.{0,120}\bto (?:go on|continue"
    r"|repair|fix|resolve|recover)"
)


def _repair(sentence: str) -> Iterator[Phrase]:
    found = _REPAIR.search(sentence)
    if found is not None:
        yield Phrase("fetch", found[0])


def phrases(
    sentence: str, *, own: Set[str] = frozenset(), data: bool = False, wanted: bool = False
) -> Iterator[Phrase]:
    """Yield what one sentence tells a model to do, at most once for each family.

    `own`: the names of this server's tools, parameters and values, as `_same` writes them. `data`: the sentence stands
    in a result or an error. `wanted`: it describes a parameter, or is its default.
    """
    yield from _secretfile(sentence, wanted)
    yield from _override(sentence)
    yield from _secrecy(sentence)
    yield from _exfil(sentence, wanted)
    yield from _fetch(sentence)
    yield from _image(sentence)
    yield from _chain(sentence, own)
    if data:
        yield from _voice(sentence)
        yield from _repair(sentence)
    else:
        yield from _shadow(sentence, own)


def depends_on_names(sentence: str) -> bool:
    """Whether the names of a server may decide what `phrases` finds in a sentence."""
    return (
        _CALL_OF.search(sentence) is not None
        or _FOREIGN.search(sentence) is not None
        or (_ORDERS_USE.search(sentence) is not None and _NAMED_TOOL.search(sentence) is not None)
    )


def own_names(names: Set[str]) -> frozenset[str]:
    """The names of a server in the form in which `phrases` compares them."""
    return frozenset(_same(name) for name in names)


def _negated(sentence: str, at: int) -> bool:
    """Whether the verb at `at` is denied by the words directly before it."""
    return _NO_BEFORE.search(sentence, max(0, at - 60), at) is not None


def _permitted(sentence: str, at: int) -> bool:
    return _MAY_BEFORE.search(sentence, max(0, at - 60), at) is not None


def _cut(sentence: str, start: int, end: int) -> str:
    """The words from `start` to `end` with some before and after them, 200 characters at most."""
    return " ".join(sentence[max(0, start - 40) : min(len(sentence), end + 60)].split())[:200]

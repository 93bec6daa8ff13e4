"""No line of a private key stays in output that is read line by line."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st

from inspector.config.private_keys import MARK, PrivateKeyFilter

PGP = """-----BEGIN PGP PRIVATE KEY BLOCK-----
Version: made up
Comment: for a test

lQOYBF7aB3dE5fG7hJ9kLmN0pQrS2tUvWxY4zA6bC8eDfHgKi1jMlOnRqaB3dE5
fG7hJ9kLmN0p==
=a1B2
-----END PGP PRIVATE KEY BLOCK-----"""
PUTTY = """PuTTY-User-Key-File-3: ssh-ed25519
Encryption: none
Comment: a key
Public-Lines: 2
AAAAC3NzaC1lZDI1NTE5AAAAIaB3dE5fG7hJ9kLmN0pQrS2tUvWxY4zA6bC8eDfH
gKi1jMlO
Private-Lines: 1
AAAAIaB3dE5fG7hJ9kLmN0pQrS2tUvWxY4zA6bC8eDfHg==
Private-MAC: 0a1b2c3d4e5f"""


@cache
def keys() -> dict[str, str]:
    """Keys of each kind and format, plain and encrypted, as text."""
    made = {"PGP": PGP, "PuTTY": PUTTY}
    of_kinds = (rsa.generate_private_key(65537, 1024), ec.generate_private_key(ec.SECP256R1()))
    for key in (*of_kinds, ed25519.Ed25519PrivateKey.generate()):
        for format in ("PKCS8", "TraditionalOpenSSL", "OpenSSH"):
            if format == "TraditionalOpenSSL" and isinstance(key, ed25519.Ed25519PrivateKey):
                continue
            for encryption in (serialization.NoEncryption(), serialization.BestAvailableEncryption(b"x")):
                if format == "OpenSSH" and not isinstance(encryption, serialization.NoEncryption):
                    continue  # It needs bcrypt, and looks the same.
                text = key.private_bytes(
                    serialization.Encoding.PEM, getattr(serialization.PrivateFormat, format), encryption
                )
                name = f"{type(key).__name__} {format} {type(encryption).__name__}"
                made[name] = text.decode().strip()
    return made


WAYS: dict[str, Callable[[str], str]] = {
    "as it is": lambda line: line,
    "with a name before it": lambda line: f"[server] {line}",
    "with a time before it": lambda line: f"2026-01-01 12:00:00,{len(line) * 37 % 1000:03d} INFO {line}",
    "as JavaScript prints it": lambda line: f"  '{line}\\n' +",
    "as a list": lambda line: f'"{line}",',
    "indented": lambda line: f"      {line}",
}
BEFORE, AFTER = ["starting", "Traceback (most recent call last):"], ["error: it failed", "started"]


def filtered(lines: list[str], keys: PrivateKeyFilter | None = None) -> list[str]:
    keys = keys or PrivateKeyFilter()
    return [keys.line(line.encode()).decode() for line in lines]


@pytest.mark.parametrize("way", WAYS)
def test_no_line_of_a_key_stays_and_all_others_do(way: str) -> None:
    for name, text in keys().items():
        key = list(map(WAYS[way], text.split("\n")))
        redacted = filtered([*BEFORE, *key, *AFTER])
        of_key = redacted[len(BEFORE) : -len(AFTER)]
        assert (redacted[: len(BEFORE)], redacted[-len(AFTER) :]) == (BEFORE, AFTER), name
        if name != "PuTTY":
            assert all(MARK in line for line in of_key), name
        assert not [line for line in key if len(line) > 40 and "-Lines: " not in line and line in of_key], name


def test_a_text_that_begins_in_the_middle_of_a_key() -> None:
    for name, text in keys().items():
        lines = text.split("\n")
        for start in range(1, len(lines)):
            redacted = filtered([*lines[start:], "error: it failed"], PrivateKeyFilter(in_middle=True))
            assert redacted[-1] == "error: it failed", name
            assert not [line for line in lines if len(line) > 40 and ": " not in line and line in redacted], name


def test_a_key_that_breaks_off() -> None:
    lines = keys()["PGP"].split("\n")
    for end in range(1, len(lines)):
        assert set(filtered(lines[:end])) == {MARK}


@given(st.lists(st.sampled_from(["2026 INFO a call", "GET /mcp 200", "warning: slow"]), min_size=1, max_size=7))
def test_lines_of_other_threads_stay_and_do_not_end_the_key(others: list[str]) -> None:
    lines = keys()["RSAPrivateKey PKCS8 NoEncryption"].split("\n")
    mixed = [*lines[:3], *others, *lines[3:]]
    assert [line for line in filtered(mixed) if line != MARK] == others


def test_a_key_in_one_line() -> None:
    for text in keys().values():
        line = json.dumps({"a": 1, "key": text + "\n", "b": 2})
        (redacted,) = filtered([line])
        assert redacted.startswith('{"a": 1, "key": "‹redacted private key›')
        assert not [line for line in text.split("\n") if len(line) > 40 and line in redacted]
        if "PuTTY" not in text:
            assert json.loads(redacted)["b"] == 2


def test_many_lines_at_once() -> None:
    text = f"before\n{PGP}\nafter"
    assert filtered([text]) == ["\n".join(["before", *[MARK] * len(PGP.split(chr(10))), "after"])]


def test_what_only_speaks_of_a_key_hides_little() -> None:
    printed = ["ValueError: no -----BEGIN PRIVATE KEY----- in the file", '  File "/srv/app/keys.py", line 3, in load']
    assert filtered(printed) == ["ValueError: no ‹redacted private key›", printed[1]]
    public = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAaB3dE5fG7hJ9kLmN0pQrS2tUvWxY4zA6bC8eDfHgKi1=\n-----END PUBLIC KEY-----"
    assert filtered(public.split("\n")) == public.split("\n")


@pytest.mark.parametrize("unit", ["'", "\\", "A", "A=", "-", "-----BEGIN ", "A ", "\\n", "a: "])
def test_any_line_costs_one_pass(unit: str) -> None:
    long = unit * 20_000
    filtered(["-----BEGIN PRIVATE KEY-----", long, long, f"PRIVATE KEY {long}"])

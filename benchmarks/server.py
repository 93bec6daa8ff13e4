"""The benchmark server. Standard library only.

    server.py [--tools N] [--page K] [--modern] [--unknown error|silence|exit] [--flood N | --rate N] [--rows N]
    server.py [--tools N] [--page K] --http

It speaks the handshake's era, with `--modern` also the one without; `--unknown` says what it does with a method that
it does not know. Over HTTP it prints its URL: `/json` answers JSON, `/sse` event streams, `/modern/json` and
`/modern/sse` in both eras. With `--flood` it waits, on stdio, until the tools were listed and a moment has passed,
sends N notifications at once, and N more in four seconds. With `--rate` it sends N a second from then on.
"""

import argparse
import asyncio
import os
import socket
import sys
import threading
import time

from answers import Answers, notification

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def write_all(data):
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


FLOOD_AFTER, FLOOD_PAUSE, FLOOD_SECONDS = 2.0, 1.0, 4.0
FLOOD_STEPS = 200
"""Pieces in which the slow half of a flood comes."""
RATE_PAUSE = 0.01


def flood(count):
    """The notifications of `--flood`. Runs in a thread; the client sends nothing by then."""
    time.sleep(FLOOD_AFTER)
    write_all(b"".join(notification(i, 100) + b"\n" for i in range(count)))
    time.sleep(FLOOD_PAUSE)
    for step in range(FLOOD_STEPS):
        piece = range(count + step * count // FLOOD_STEPS, count + (step + 1) * count // FLOOD_STEPS)
        write_all(b"".join(notification(i, 100) + b"\n" for i in piece))
        time.sleep(FLOOD_SECONDS / FLOOD_STEPS)


def stream(rate):
    """The notifications of `--rate`, evenly. Runs in a thread, until the client closes the pipe."""
    began, sent = time.monotonic(), 0
    while True:
        time.sleep(RATE_PAUSE)
        due = int((time.monotonic() - began) * rate)
        write_all(b"".join(notification(i, 100) + b"\n" for i in range(sent, due)))
        sent = due


NOT_FOUND = b'"error":{"code":-32601,'


def serve_stdio(answers, modern, unknown, flooding, rate):
    rest = b""
    while block := os.read(0, 1 << 20):
        *lines, rest = (rest + block).split(b"\n")
        out, size = [], 0
        for line in lines:
            for message in answers.of(line, modern) if line.strip() else ():
                if unknown != "error" and NOT_FOUND in message[:200]:
                    if unknown == "exit":
                        sys.exit(1)
                    continue
                out.append(message)
                size += len(message)
                if size > 1 << 18:
                    write_all(b"\n".join(out) + b"\n")
                    out, size = [], 0
        if out:
            write_all(b"\n".join(out) + b"\n")
        if flooding and b'"tools/list"' in block:
            threading.Thread(target=flood, args=(flooding,), daemon=True).start()
            flooding = 0
        if rate and b'"tools/list"' in block:
            threading.Thread(target=stream, args=(rate,), daemon=True).start()
            rate = 0


class Http(asyncio.Protocol):
    """HTTP/1.1 with keep-alive, one request at a time on a connection."""

    def __init__(self, answers):
        self.answers = answers
        self.buffer = b""

    def connection_made(self, transport):
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data):
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.buffer) < end + 4 + length:
                return
            body, start = self.buffer[end + 4 : end + 4 + length], self.buffer[: end + 4]
            self.buffer = self.buffer[end + 4 + length :]
            self.request(*start.split(b" ", 2)[:2], body)

    def request(self, method, path, body):
        if method == b"GET":
            self.plain(b"405 Method Not Allowed", b"")
            return
        modern = path.startswith(b"/modern/")
        messages = self.answers.of(body, modern) if body else ()
        if messages == ():
            self.plain(b"202 Accepted", b"")
        elif path.endswith(b"/json") and isinstance(messages, tuple):
            self.plain(b"200 OK", messages[0])
        else:
            self.stream(messages)

    def plain(self, status, body):
        head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
        self.transport.write(head + body)

    def stream(self, messages):
        self.transport.write(STREAM)
        out, size = [], 0
        for message in messages:
            event = b"event: message\ndata: " + message + b"\n\n"
            out.append(b"%x\r\n%s\r\n" % (len(event), event))
            size += len(event)
            if size > 1 << 18:
                self.transport.write(b"".join(out))
                out, size = [], 0
        self.transport.write(b"".join(out) + b"0\r\n\r\n")


async def serve_http(answers):
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Http(answers), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", type=int, default=5)
    parser.add_argument("--page", type=int, default=0)
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--modern", action="store_true")
    parser.add_argument("--unknown", choices=("error", "silence", "exit"), default="error")
    parser.add_argument("--flood", type=int, default=0)
    parser.add_argument("--rate", type=int, default=0)
    parser.add_argument("--rows", type=int, default=0)
    words = parser.parse_args()
    made = Answers(words.tools, words.page, words.rows)
    try:
        if words.http:
            asyncio.run(serve_http(made))
        else:
            serve_stdio(made, words.modern, words.unknown, words.flood, words.rate)
    except (BrokenPipeError, KeyboardInterrupt):
        pass

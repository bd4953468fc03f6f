#!/usr/bin/python3
"""An external scaler in plain HTTP/2 that sends as much as the client's windows let it, for tests of limits.

Prints `port N`. Every call is answered with three messages that say inactive, one that says active, and then inactive
ones without end. It obeys lines of JSON on stdin:
  {"sent": true}     prints how many bytes of messages were sent
  {"accepts": true}  prints the grpc-accept-encoding of the last call
Ends with stdin.
"""

import json
import socket
import struct
import sys
import threading

DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 4, 6, 8
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# :status 200 and content-type application/grpc, both of HPACK's static table.
ANSWER = b"\x88\x0f\x10\x10application/grpc"
INACTIVE, ACTIVE = b"\0\0\0\0\0", b"\0\0\0\0\x02\x08\x01"
NAME = b"grpc-accept-encoding"

seen = {"sent": 0, "accepts": ""}


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Connection:
    def __init__(self, peer):
        self.peer, self.read = peer, peer.makefile("rb")
        self.window, self.initial, self.streams, self.waiting = 65535, 65535, {}, {}

    def serve(self):
        assert self.read.read(len(PREFACE)) == PREFACE
        self.peer.sendall(frame(SETTINGS, 0, 0))
        while head := self.read.read(9):
            payload = self.read.read(int.from_bytes(head[:3], "big"))
            self.take(head[3], head[4], int.from_bytes(head[5:], "big"), payload)
            self.send()

    def take(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & 1:
            for at in range(0, len(payload), 6):
                key, value = struct.unpack_from(">HI", payload, at)
                if key == 4:
                    self.initial = value
            self.peer.sendall(frame(SETTINGS, 1, 0))
        elif kind == PING and not flags & 1:
            self.peer.sendall(frame(PING, 1, 0, payload))
        elif kind == HEADERS:
            at = payload.index(NAME) + len(NAME)
            seen["accepts"] = payload[at + 1:at + 1 + payload[at]].decode()
            self.peer.sendall(frame(HEADERS, 4, stream, ANSWER))
            self.streams[stream] = self.initial
            self.waiting[stream] = 3 * INACTIVE + ACTIVE
        elif kind == WINDOW_UPDATE and stream == 0:
            self.window += int.from_bytes(payload, "big")
        elif kind == WINDOW_UPDATE and stream in self.streams:
            self.streams[stream] += int.from_bytes(payload, "big")

    def send(self):
        for stream, window in self.streams.items():
            while (size := min(window, self.window, 16384)) > 0:
                waiting = self.waiting[stream] + INACTIVE * (size // len(INACTIVE) + 1)
                self.peer.sendall(frame(DATA, 0, stream, waiting[:size]))
                self.waiting[stream] = waiting[size:]
                self.streams[stream] = window = window - size
                self.window -= size
                seen["sent"] += size


def accept(listener):
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=Connection(peer).serve, daemon=True).start()


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, args=(listener,), daemon=True).start()
    print("port", listener.getsockname()[1], flush=True)
    for line in sys.stdin:
        print(seen[next(iter(json.loads(line)))], flush=True)


if __name__ == "__main__":
    main()

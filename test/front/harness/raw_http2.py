"""HTTP/2 frame by frame, for what no library sends."""

import socket
import struct

HEADERS, RST_STREAM, SETTINGS, CONTINUATION = 1, 3, 4, 9
END_STREAM, END_HEADERS = 1, 4
MAX_CONCURRENT_STREAMS = 3


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def _text(data: bytes) -> bytes:
    if len(data) < 127:
        return bytes([len(data)]) + data
    left, size = len(data) - 127, b"\x7f"
    while left >= 128:
        size, left = size + bytes([left % 128 + 128]), left // 128
    return size + bytes([left]) + data


def header(name: str, value: str) -> bytes:
    """As a literal that no table remembers."""
    return b"\x00" + _text(name.encode()) + _text(value.encode())


def head(method="GET", path="/", **more) -> bytes:
    pairs = {":method": method, ":scheme": "http", ":path": path, ":authority": "web", **more}
    return b"".join(header(name, value) for name, value in pairs.items())


def connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 10)
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, b""))
    return connection


def settings(connection: socket.socket) -> dict:
    """Those that the server begins with."""
    start = connection.recv(9, socket.MSG_WAITALL)
    assert start[3] == SETTINGS, start
    payload = connection.recv(int.from_bytes(start[:3], "big"), socket.MSG_WAITALL)
    return dict(struct.iter_unpack(">HI", payload))

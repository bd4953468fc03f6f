"""Remote write 1.0 by hand, so that a test can send what no library would."""

import struct

HEADERS = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0"}


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf that holds bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def labels(**pairs) -> bytes:
    """Of a series, its name as `__name__`; sorted, as they have to be."""
    return b"".join(field(1, field(1, name.encode()) + field(2, pairs[name].encode())) for name in sorted(pairs))


def sample(value: float, time_ms: int) -> bytes:
    return field(2, b"\x09" + struct.pack("<d", value) + b"\x10" + varint(time_ms))


def request(series) -> bytes:
    """Of pairs (labels, samples), each as bytes."""
    return b"".join(field(1, names + samples) for names, samples in series)


def snappy(content: bytes) -> bytes:
    """The block format, without compressing anything."""
    if not content:
        return b"\x00"
    return varint(len(content)) + b"\xfc" + struct.pack("<I", len(content) - 1) + content


def snappy_bomb(size: int) -> bytes:
    """Zeros: one byte, copied 64 bytes at a time."""
    return varint(size) + b"\x00\x00" + b"\xfe\x01\x00" * ((size - 1) // 64)


def send(client, series, keep=None):
    """The answer to one request."""
    return client.request("POST", "/api/v1/write", snappy(request(series)), HEADERS, keep=keep)

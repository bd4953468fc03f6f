"""Pods: small servers, each in a process of its own, that answer what tests ask and say what they saw.

  GET /…          200, after ?delay=SECONDS, {"pod": port, "bytes": of the body, "most": requests at once so far}
  GET /socket     a websocket that sends back each message
With --breaks it closes the connection after each request, without an answer.
With --grpc a gRPC server instead: /test.Echo/Unary and /test.Echo/Stream, bytes in, the same bytes out. It listens at a port of
its own choice, or at --port, and then once the file --until is there.
"""

import asyncio
import base64
import hashlib
import json
import pathlib
import subprocess
import sys
import urllib.parse


class Pod:
    """A process of this file at a port that it chose."""

    def __init__(self, *arguments):
        from machine.children import die_with_parent  # pylint: disable=import-outside-toplevel  # the pod itself does without
        self.process = subprocess.Popen([sys.executable, str(pathlib.Path(__file__).resolve()), *map(str, arguments)],  # pylint: disable=consider-using-with
                                        stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.address = "127.0.0.1:" + self.process.stdout.readline().strip()

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class _Server:
    def __init__(self):
        self.active = self.most = self.port = 0

    async def serve(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if not await self.answer(head.decode("latin-1"), reader, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, head, reader, writer) -> bool:
        lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
        url = urllib.parse.urlsplit(lines[0].split()[1])
        query = dict(urllib.parse.parse_qsl(url.query))
        self.active += 1
        self.most = max(self.most, self.active)
        try:
            if "websocket" in headers.get("upgrade", ""):
                await _echo_socket(headers, reader, writer)
                return False
            got = await _body(headers, reader)
            if "--breaks" in sys.argv:
                return False
            await asyncio.sleep(float(query.get("delay", 0)))
            said = json.dumps({"pod": self.port, "bytes": got, "most": self.most}).encode()
        finally:
            self.active -= 1
        writer.write(b"HTTP/1.1 200 OK\r\nserver: pod\r\nx-flyball: forged\r\ncontent-length: %d\r\n\r\n" % len(said) + said)
        await writer.drain()
        return True


async def _body(headers, reader) -> int:
    if headers.get("transfer-encoding") == "chunked":
        got = 0
        while size := int((await reader.readuntil(b"\n")).split(b";")[0], 16):
            got += size
            await _skip(reader, size + 2)
        await reader.readline()
        return got
    return await _skip(reader, int(headers.get("content-length", 0)))


async def _skip(reader, count) -> int:
    left = count
    while left > 0:
        data = await reader.read(min(left, 1 << 16))
        if not data:
            raise ConnectionError("the body ends early")
        left -= len(data)
    return count


async def _echo_socket(headers, reader, writer):
    key = headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    writer.write(f"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: {accept}\r\n\r\n".encode())
    while True:
        start = await reader.readexactly(2)
        size = start[1] & 0x7f  # short messages only
        mask, data = await reader.readexactly(4), await reader.readexactly(size)
        writer.write(bytes([start[0], size]) + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))
        await writer.drain()


def _argument(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""


async def _main():
    server = _Server()
    while _argument("--until") and not pathlib.Path(_argument("--until")).exists():
        await asyncio.sleep(0.02)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", int(_argument("--port") or 0), backlog=4096)
    server.port = listening.sockets[0].getsockname()[1]
    print(server.port, flush=True)
    await listening.serve_forever()


def _main_grpc():
    from concurrent import futures  # pylint: disable=import-outside-toplevel
    import grpc  # pylint: disable=import-outside-toplevel

    class Echo(grpc.GenericRpcHandler):
        def service(self, handler_call_details):
            if handler_call_details.method == "/test.Echo/Unary":
                return grpc.unary_unary_rpc_method_handler(lambda request, context: request)
            if handler_call_details.method == "/test.Echo/Stream":
                return grpc.stream_stream_rpc_method_handler(lambda requests, context: requests)
            return None

    server = grpc.server(futures.ThreadPoolExecutor(8), handlers=[Echo()])
    print(server.add_insecure_port(f"127.0.0.1:{_argument('--port') or 0}"), flush=True)
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    _main_grpc() if "--grpc" in sys.argv else asyncio.run(_main())  # pylint: disable=expression-not-assigned

"""Clients: many requests at once over HTTP/1.1, each on a connection of its own."""

import asyncio
import json
import threading


MORE_HEADERS = ""  # of each request, with their line ends


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


async def _get(port, path, connected, host="web", headers=()):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    if connected:
        connected()
    try:
        more = "".join(f"{line}\r\n" for line in headers) + MORE_HEADERS
        writer.write(f"GET {path} HTTP/1.1\r\nhost: {host}\r\n{more}connection: close\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers["content-length"])) if "content-length" in headers else await reader.read()
        return Reply(int(head[0].split()[1]), headers, body)
    finally:
        writer.close()


class Crowd:
    """Requests under way in a thread of their own."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def get(self, port: int, path="/", host="web", headers=()):
        """A concurrent.futures.Future of a Reply; cancelled, it closes the connection."""
        return asyncio.run_coroutine_threadsafe(_get(port, path, None, host, headers), self._loop)

    def replies(self, futures, timeout=60) -> list:
        return [future.result(timeout) for future in futures]

    def closed_loop(self, port: int, path: str, clients: int, count: int, host="web"):
        """A Future of all replies of so many clients that send `count` requests in all, each when its last is answered."""
        async def client(left, replies):
            while left:
                left.pop()
                replies.append(await _get(port, path, None, host))

        async def all_of_them():
            left, replies = [None] * count, []
            await asyncio.gather(*(client(left, replies) for _ in range(clients)))
            return replies
        return asyncio.run_coroutine_threadsafe(all_of_them(), self._loop)

    def steady(self, port: int, path: str, every: float, seconds: float, host="web"):  # pylint: disable=too-many-arguments,too-many-positional-arguments
        """A Future of the replies to requests that begin at that pace, whatever becomes of those before."""
        async def all_of_them():
            started = []
            for _ in range(int(seconds / every)):
                started.append(asyncio.ensure_future(_get(port, path, None, host)))
                await asyncio.sleep(every)
            return await asyncio.gather(*started)
        return asyncio.run_coroutine_threadsafe(all_of_them(), self._loop)

    def stop(self):
        async def end_the_rest():
            rest = asyncio.all_tasks() - {asyncio.current_task()}
            for task in rest:
                task.cancel()
            await asyncio.gather(*rest, return_exceptions=True)
            self._loop.stop()
        asyncio.run_coroutine_threadsafe(end_the_rest(), self._loop)
        self._thread.join(10)
        self._loop.close()

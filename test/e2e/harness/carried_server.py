"""A pod's process: GET /… answers its name after ?delay=SECONDS. Arguments: address, port, name, and seconds until it listens."""

import asyncio
import sys
import urllib.parse


async def _serve(reader, writer):
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            query = urllib.parse.urlsplit(head.split()[1].decode()).query
            await asyncio.sleep(float(dict(urllib.parse.parse_qsl(query)).get("delay", 0)))
            name = sys.argv[3].encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(name), name))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _main():
    await asyncio.sleep(float(sys.argv[4]))
    server = await asyncio.start_server(_serve, sys.argv[1], int(sys.argv[2]), backlog=4096)
    await server.serve_forever()


asyncio.run(_main())

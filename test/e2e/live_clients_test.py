"""Programs that others wrote, against the live source: promtool asks it."""

import time

from harness import pki, processes
from harness.case import differs
from live_fixture import LiveCase


@differs("it keeps no samples")
class LiveClients(LiveCase):

    def test_promtool_queries(self):
        authority = pki.Authority("promtool")
        pair = authority.server("127.0.0.1")
        self.start('--live-keep={__name__=~"asked_.*"}', f"--tls-cert-file={pair.cert}", f"--tls-private-key-file={pair.key}")
        begin = int(time.time()) - 60
        for at in range(begin, begin + 61, 5):
            page = f'asked_total{{pod="a"}} {at - begin} {at * 1000}\nasked_total{{pod="b"}} {2 * (at - begin)} {at * 1000}\n'
            self.assertEqual(self.ask("POST", "/api/v1/push", page.encode()).status, 204)

        def promtool(command, *args):
            done = processes.run(["promtool", "query", command, *args], env={"SSL_CERT_FILE": str(authority.cert)})
            return done.returncode, done.stdout + done.stderr

        server = f"https://127.0.0.1:{self.port}"
        code, told = promtool("instant", f"--time={begin + 60}", server, "sum by (pod) (asked_total)")
        self.assertEqual((code, sorted(told.split("\n"))[1:]), (0, [f'{{pod="a"}} => 60 @[{begin + 60}]', f'{{pod="b"}} => 120 @[{begin + 60}]']))
        code, told = promtool("range", f"--start={begin}", f"--end={begin + 60}", "--step=30s", server, 'asked_total{pod="a"}')
        self.assertEqual((code, told.split()[2:]), (0, ["0", f"@[{begin}]", "30", f"@[{begin + 30}]", "60", f"@[{begin + 60}]"]))
        code, told = promtool("series", "--match=asked_total", server)
        self.assertEqual((code, told.split("\n")[:2]), (0, ['{__name__="asked_total", pod="a"}', '{__name__="asked_total", pod="b"}']))
        self.assertEqual(promtool("labels", server, "pod"), (0, "a\nb\n"))
        code, told = promtool("instant", server, "sum(")
        self.assertEqual(code, 1)
        self.assertIn("parse error", told)

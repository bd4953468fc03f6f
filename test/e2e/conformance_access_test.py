"""The conformance checklist on who may ask: rows 58 to 79 and 82, with the review calls recorded and spoiled on the way."""

import concurrent.futures
import json
import ssl
import time

import conformance_fixture as fixture
from conformance_fixture import C2, E, M, N
from harness import kube, pki, processes, wait
from harness.case import Case, differs
from harness.client import Identity, tls_socket
from harness.review_proxy import ACCESS, TOKEN, ReviewProxy

Q, POD = E + N + "/q", C2 + N + "/pods/web-1/m"
CONFIG_MAP = ("ConfigMap", "kube-system", "extension-apiserver-authentication")


def forbidden(case, answer, message: str):
    case.assertEqual(answer.status, 403, str(answer))
    status = answer.json()
    case.assertEqual((status["kind"], status["reason"], status["code"]), ("Status", "Forbidden", 403))
    case.assertEqual(status["message"], message)


class Authentication(Case):
    """Rows 58 to 68 and 76 to 79: the kube-apiserver answers the reviews."""

    @classmethod
    def setUpClass(cls):
        cls.admin = cls.cluster().admin
        fixture.objects(cls.admin)
        cls.prometheus = fixture.prometheus()
        cls.addClassCleanup(cls.prometheus.stop)
        cls.adapter = fixture.start(cls.cluster(), cls.prometheus)
        cls.addClassCleanup(cls.adapter.stop)
        cls.watch(cls.adapter.process)
        cls.stranger = kube.service_account_token(cls.admin, "default", "stranger")
        cls.reader = kube.service_account_token(cls.admin, "default", "reader")
        kube.grant(cls.admin, "conformance-reader", [kube.account("default", "reader")], [
            {"apiGroups": ["external.metrics.k8s.io"], "resources": ["q"], "verbs": ["list"]}])

    def with_token(self, token: str):
        return self.adapter.as_user(Identity(token=token))

    def jane(self, *headers):
        return self.adapter.as_user(Identity(cert=self.cluster().ca.client("jane", ["devs"]), headers=headers))

    def test_row_58_anonymous_is_forbidden(self):
        ask = self.adapter.anonymous.get
        forbidden(self, ask(Q), 'q.external.metrics.k8s.io is forbidden: User "system:anonymous" cannot list resource "q" in API '
                                'group "external.metrics.k8s.io" in the namespace "default"')
        forbidden(self, ask("/apis"), 'forbidden: User "system:anonymous" cannot get path "/apis"')
        forbidden(self, ask("/metrics"), 'forbidden: User "system:anonymous" cannot get path "/metrics"')
        forbidden(self, ask(POD), 'pods.custom.metrics.k8s.io "web-1" is forbidden: User "system:anonymous" cannot get resource '
                                  '"pods/m" in API group "custom.metrics.k8s.io" in the namespace "default"')
        forbidden(self, ask(M + "/nodes"), 'nodes.metrics.k8s.io is forbidden: User "system:anonymous" cannot list resource '
                                           '"nodes" in API group "metrics.k8s.io" at the cluster scope')
        self.assertEqual(ask(Q).headers.get("x-content-type-options"), "nosniff")

    def test_row_59_health_is_open_but_its_checks_are_not(self):
        for path in ("/healthz", "/livez", "/readyz"):
            self.assertEqual(self.adapter.anonymous.get(path).body, b"ok")
        self.assertEqual(self.adapter.anonymous.get("/livez/ping").status, 403)

    def test_row_60_bad_token_is_unauthorized_everywhere(self):
        for path in (Q, "/healthz"):
            answer = self.with_token("nonsense").get(path)
            self.assertEqual(answer.status, 401, path)
            self.assertEqual((answer.json()["reason"], answer.json()["message"]), ("Unauthorized", "Unauthorized"))

    def test_row_61_service_accounts_have_what_rbac_gives_them(self):
        forbidden(self, self.with_token(self.stranger).get(Q), 'q.external.metrics.k8s.io is forbidden: User '
                  '"system:serviceaccount:default:stranger" cannot list resource "q" in API group "external.metrics.k8s.io" in the '
                  'namespace "default"')
        self.assertEqual(self.with_token(self.reader).get(Q).status, 200)

    def test_row_62_token_for_another_audience(self):
        token = kube.service_account_token(self.admin, "default", "reader", ["https://elsewhere.example"])
        self.assertEqual(self.with_token(token).get(Q).status, 401)

    def test_row_63_forms_of_the_authorization_header(self):
        ask = lambda value: self.adapter.as_user(Identity(headers=(("authorization", value),))).get(Q).status
        self.assertEqual(ask("bearer " + self.reader), 200)
        for anonymous in ("Bearer", "Basic " + "dXNlcjpwYXNz", "Bearer "):
            self.assertEqual(ask(anonymous), 403, anonymous)

    def test_row_64_client_certificate_without_rights(self):
        forbidden(self, self.jane().get(Q), 'q.external.metrics.k8s.io is forbidden: User "jane" cannot list resource "q" in API '
                                            'group "external.metrics.k8s.io" in the namespace "default"')

    def test_row_65_forged_front_proxy_headers_are_ignored(self):
        forged = (("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters"))
        answer = self.jane(*forged).get(Q)
        self.assertEqual(answer.status, 403)
        self.assertIn('User "jane"', answer.json()["message"])
        anonymous = self.adapter.as_user(Identity(headers=forged)).get(Q)
        self.assertIn('User "system:anonymous"', anonymous.json()["message"])

    def test_row_66_front_proxy_certificate_with_another_name(self):
        other = self.cluster().front_proxy_ca.client("somebody-else")
        headers = (("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters"))
        self.assertEqual(self.adapter.as_user(Identity(cert=other, headers=headers)).get(Q).status, 401)

    def test_row_67_front_proxy_certificate_without_user(self):
        self.assertEqual(self.adapter.as_user(Identity(cert=self.cluster().front_proxy)).get(Q).status, 401)

    def test_row_68_certificate_of_an_unknown_authority(self):
        stray = pki.Authority("stray").client("admin", ["system:masters"])
        self.assertEqual(self.adapter.as_user(Identity(cert=stray)).get(Q).status, 401)
        self.assertEqual(self.adapter.as_user(Identity(cert=stray, token=self.reader)).get(Q).status, 200)

    @differs("it evaluates impersonation headers")
    def test_impersonation_headers_are_refused(self):
        self.assertEqual(self.adapter.as_user(Identity(cert=self.cluster().admin_cert, headers=(
            ("Impersonate-User", "jane"),))).get(Q).status, 403)

    def test_row_76_allowed_names_change_without_restart(self):
        other = Identity(cert=self.cluster().front_proxy_ca.client("second-proxy"),
                         headers=(("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters")))
        self.assertEqual(self.adapter.as_user(other).get(Q).status, 401)
        kube.patch(self.admin, *CONFIG_MAP[:1], *CONFIG_MAP[1:], {
            "data": {"requestheader-allowed-names": json.dumps(["front-proxy-client", "second-proxy"])}})
        wait.until(lambda: self.adapter.as_user(other).get(Q).status == 200, "the new name is accepted", 20)

    def test_row_77_config_map_deleted(self):
        kube.delete(self.admin, *CONFIG_MAP)
        for _ in range(10):
            self.assertEqual(self.adapter.front_proxy("admin", ["system:masters"]).get(Q).status, 200)
            time.sleep(0.05)
        wait.until(lambda: kube.get(self.admin, *CONFIG_MAP), "kube-apiserver makes the ConfigMap again", 70)

    def test_row_78_replaced_front_proxy_authority_acts_on_open_connections(self):
        file = processes.fresh_folder("request-header") / "ca.crt"
        file.write_text(self.cluster().front_proxy_ca.pem())
        one = fixture.start(self.cluster(), self.prometheus, (
            f"--requestheader-client-ca-file={file}", "--requestheader-allowed-names=front-proxy-client"))
        self.addCleanup(one.stop)
        caller = one.front_proxy("admin", ["system:masters"])
        connection = caller.connect()
        self.assertEqual(caller.get(Q, keep=connection).status, 200)
        file.write_text(pki.Authority("new-front-proxy").pem())
        wait.until(lambda: caller.get(Q, keep=connection).status == 401, "the old certificate is refused", 65, every=0.5)

    def test_row_79_serving_certificate_is_replaced(self):
        folder = processes.fresh_folder("serving")
        pair = pki.Pair(folder / "tls.crt", folder / "tls.key")

        def install(made):
            pair.key.write_bytes(made.key.read_bytes())
            pair.cert.write_bytes(made.cert.read_bytes())
        first, second = (self.cluster().ca.server("127.0.0.1", "localhost") for _ in range(2))
        install(first)
        one = fixture.start(self.cluster(), self.prometheus, serving=pair)
        self.addCleanup(one.stop)
        shown = lambda: ssl.get_server_certificate(("127.0.0.1", one.port)).strip()
        self.assertEqual(shown(), first.cert.read_text().strip())
        connection = one.admin.connect()
        self.assertEqual(one.admin.get(Q, keep=connection).status, 200)
        install(second)
        wait.until(lambda: shown() == second.cert.read_text().strip(), "the new certificate", 62, every=0.2)
        self.assertEqual(one.admin.get(Q, keep=connection).status, 200, "the open connection goes on")


class Reviews(Case):
    """Rows 69 to 75 and 82: a proxy in front of kube-apiserver records the reviews, and fails those it is told to."""

    @classmethod
    def setUpClass(cls):
        cls.admin = cls.cluster().admin
        fixture.objects(cls.admin)
        cls.prometheus = fixture.prometheus()
        cls.addClassCleanup(cls.prometheus.stop)
        cls.proxy = ReviewProxy(cls.cluster())
        cls.addClassCleanup(cls.proxy.stop)
        # As many as requests: a crowd that waits for the same review is not to be told that others are under way.
        cls.adapter = fixture.start(cls.cluster(), cls.prometheus, ["--max-reviews-inflight=400"], kubeconfig=cls.proxy.kubeconfig)
        cls.addClassCleanup(cls.adapter.stop)
        cls.watch(cls.adapter.process)
        kube.grant(cls.admin, "conformance-users", [
            kube.user(name) for name in ("cached", "attributes", "crowd")], [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, {"nonResourceURLs": ["*"], "verbs": ["*"]}])

    def test_row_69_user_groups_and_extra_arrive(self):
        self.adapter.front_proxy("extra-jane", ["devs", "ops"], [("Acme.com%2Fp", "a"), ("Acme.com%2Fp", "b"), ("Scopes", "x")]).get(Q)
        spec = self.proxy.of_user("extra-jane")[0]
        self.assertEqual(sorted(spec["groups"]), ["devs", "ops", "system:authenticated"])
        self.assertEqual(spec["extra"], {"acme.com/p": ["a", "b"], "scopes": ["x"]})

    def test_row_70_attributes(self):
        custom = {"group": "custom.metrics.k8s.io", "version": "v1beta2", "verb": "get"}
        external = {"group": "external.metrics.k8s.io", "version": "v1beta1", "verb": "list"}
        resource = {"group": "metrics.k8s.io", "version": "v1beta1"}
        rows = {
            C2 + N + "/pods/*/m": {**custom, "namespace": "default", "resource": "pods", "subresource": "m", "name": "*"},
            C2 + N + "/pods/web-1/m": {**custom, "namespace": "default", "resource": "pods", "subresource": "m", "name": "web-1"},
            C2 + N + "/metrics/nsm": {**custom, "namespace": "default", "resource": "metrics", "name": "nsm"},
            C2 + "/nodes/n1/load": {**custom, "resource": "nodes", "subresource": "load", "name": "n1"},
            C2 + N + "/deployments.apps/web/d": {**custom, "namespace": "default", "resource": "deployments.apps",
                                                 "subresource": "d", "name": "web"},
            Q: {**external, "namespace": "default", "resource": "q"},
            M + N + "/pods": {**resource, "namespace": "default", "resource": "pods", "verb": "list"},
            M + N + "/pods/web-1": {**resource, "namespace": "default", "resource": "pods", "verb": "get", "name": "web-1"},
            M + "/nodes": {**resource, "resource": "nodes", "verb": "list"},
            "/metrics": {"path": "/metrics", "verb": "get"}, "/version": {"path": "/version", "verb": "get"},
        }
        for path, expected in rows.items():
            with self.subTest(path):
                self.proxy.reviews[ACCESS].clear()
                self.adapter.front_proxy("attributes").get(path)
                spec = self.proxy.of_user("attributes")[0]
                self.assertEqual(spec.get("resourceAttributes") or spec.get("nonResourceAttributes"), expected)

    @differs("its library does not send selectors")
    def test_row_70_external_selector_is_in_the_review(self):
        self.adapter.front_proxy("attributes").get(Q + "?labelSelector=queue%3Da")
        self.assertEqual(self.proxy.of_user("attributes")[-1]["resourceAttributes"]["labelSelector"], {
            "requirements": [{"key": "queue", "operator": "In", "values": ["a"]}]})

    def test_rows_71_and_72_answers_are_kept_ten_seconds(self):
        allowed, denied = self.adapter.front_proxy("cached"), self.adapter.front_proxy("later")
        for _ in range(3):
            self.assertEqual(allowed.get(Q).status, 200)
            self.assertEqual(denied.get(Q).status, 403)
        self.assertEqual((len(self.proxy.of_user("cached")), len(self.proxy.of_user("later"))), (1, 1))
        kube.grant(self.admin, "conformance-later", [kube.user("later")], [
            {"apiGroups": ["external.metrics.k8s.io"], "resources": ["*"], "verbs": ["list"]}])
        self.addCleanup(kube.delete, self.admin, "ClusterRoleBinding", None, "conformance-later")
        wait.until(lambda: denied.get(Q).status == 200, "the new right counts", 30, every=0.5)
        wait.until(lambda: allowed.get(Q).status == 200 and len(self.proxy.of_user("cached")) == 2, "asked again", 30, every=0.5)

    def test_rows_73_to_75_failing_reviews_never_let_anybody_in(self):
        ways = {"sar-500": "500", "sar-403": "403", "sar-drop": "drop", "sar-hang": "hang"}
        self.proxy.spoil = lambda kind, spec: ways.get(spec.get("user")) if kind == ACCESS else (
            "500" if spec.get("token") == "token-500" else None)
        self.addCleanup(setattr, self.proxy, "spoil", lambda kind, spec: None)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            asked = {user: pool.submit(processes.timed, lambda u=user: self.adapter.front_proxy(u).get(Q)) for user in ways}
            token = pool.submit(processes.timed, lambda: self.adapter.as_user(Identity(token="token-500")).get(Q))
            masters = [pool.submit(self.adapter.front_proxy(user, ["system:masters"]).get, Q) for user in ways]
            for user, future in asked.items():
                answer, seconds = future.result()
                self.assertEqual(answer.status, 500, f"{user}: {answer}")
                self.assertLess(seconds, 30, user)
            self.assertEqual(token.result()[0].status, 401)
            self.assertEqual({f.result().status for f in masters}, {200}, "system:masters needs no review")

    def test_token_reviews_are_kept_ten_seconds(self):
        token = kube.service_account_token(self.admin, "default", "reader")
        for _ in range(3):
            self.adapter.as_user(Identity(token=token)).get(Q)
        self.assertEqual(len([r for r in self.proxy.reviews[TOKEN] if r["spec"]["token"] == token]), 1)

    def test_row_82_too_many_in_flight(self):
        """400 callers wait for a hanging metric store; the next one is told so, the aggregator's probe is not."""
        self.adapter.front_proxy("crowd").get(Q)
        # With a selector that nobody asked for before: a fresh result would answer at once.
        request = (f"GET {POD}?metricLabelSelector=crowd HTTP/1.1\r\nHost: x\r\nX-Remote-User: crowd\r\n\r\n").encode()
        self.prometheus.misbehave = "hang"
        waiting = []
        try:
            for _ in range(400):
                sock = tls_socket(self.adapter.port, Identity(cert=self.cluster().front_proxy))
                sock.sendall(request)
                waiting.append(sock)
            # Whoever asks before that may take the place of one of them. The administrator takes none.
            wait.until(lambda: self.adapter.metric("apiserver_current_inflight_requests") >= 400, "all of them under way", 40)
            answer = wait.until(lambda: (a := self.adapter.front_proxy("crowd").get(C2)) and a.status == 429 and a, "429", 20)
            self.assertEqual(answer.headers.get("retry-after"), "1")
            self.assertEqual(self.adapter.front_proxy("system:kube-aggregator", ["system:masters"]).get(C2).status, 200)
        finally:
            for sock in waiting:
                sock.close()
            self.prometheus.misbehave = None
            self.prometheus.let_go()
        wait.until(lambda: self.adapter.front_proxy("crowd").get(C2).status == 200, "served again", 15)

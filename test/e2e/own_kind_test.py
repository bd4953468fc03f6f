"""Our own kind in a real API server: the definition is accepted, and judges objects as flyball's parser does."""

import unittest

import yaml

from harness import kube, own_kind, paths, processes
from harness.case import Case, differs
from harness.kubectl import Kubectl

CASES = paths.PROJECT / "test" / "data" / "own_kind_cases.yaml"
SPACE = "own-kind"
BASE = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 10}


def own(name: str, **spec) -> dict:
    return kube.make("Autoscaler", name, SPACE, spec={**BASE, **spec})


@differs("it has no kind of its own")
class OwnKind(Case):
    """The definition is applied once, with kubectl, as a user would."""

    @classmethod
    def setUpClass(cls):
        own_kind.install(cls.cluster())
        cls.kubectl = Kubectl(cls.cluster())
        cls.admin = cls.cluster().admin
        kube.namespace(cls.admin, SPACE)

    def dry_run(self, item: dict):
        return self.admin.request("POST", kube.path("Autoscaler", SPACE) + "?dryRun=All", item)

    def test_the_definition_has_nothing_to_complain_of(self):
        """A schema that is not structural, or a rule that costs too much, would stand in a condition."""
        crd = kube.get(self.admin, "CustomResourceDefinition", None, "autoscalers.flyball.dev")
        wrong = {c["type"]: c.get("message") for c in crd["status"]["conditions"]
                 if (c["status"] == "True") != (c["type"] in ("Established", "NamesAccepted"))}
        self.assertEqual(wrong, {})

    def test_cases_are_judged_as_the_parser_judges_them(self):
        rows = list(yaml.safe_load_all(CASES.read_text()))
        self.assertGreater(len(rows), 90)
        for row in rows:
            with self.subTest(row["case"]):
                spec = row["spec"] if row.get("whole") else {**BASE, **row["spec"]}
                answer = self.dry_run(kube.make("Autoscaler", "web", SPACE, spec=spec))
                refused = "refused" in row and not row.get("only", "").startswith("parser")
                self.assertEqual(answer.status, 422 if refused else 201, answer.body[:600])
                if refused:
                    fields = [c["field"] for c in answer.json()["details"]["causes"]]
                    near = row["refused"].rsplit(".", 1)[0]
                    self.assertTrue(any(f.startswith(near) or row["refused"].startswith(f) for f in fields), fields)

    def test_minimum_is_filled_in(self):
        self.assertEqual(self.dry_run(own("web")).json()["spec"]["minReplicas"], 1)

    def test_lists_have_limits(self):
        trigger = {"type": "cron"}
        for field, one, most in (("triggers", trigger, 32), ("metrics", {
                "type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 1}}}, 64)):
            with self.subTest(field):
                self.assertEqual(self.dry_run(own("web", **{field: [one] * most})).status, 201)
                self.assertEqual(self.dry_run(own("web", **{field: [one] * (most + 1)})).status, 422)

    def test_a_person_sees_what_matters(self):
        kube.apply(self.admin, own("seen", minReplicas=0, mode="Act", triggers=[{"type": "cron"}]))
        since = "2026-01-01T00:00:00Z"
        kube.patch(self.admin, "Autoscaler", SPACE, "seen", {"status": {
            "observedGeneration": 1, "currentReplicas": 3, "desiredReplicas": 4, "lastScaleTime": since,
            "lastActiveTime": since, "mode": "Advise", "targets": "4/1",
            "currentMetrics": [{"type": "External", "external": {"metric": {"name": "s0-cron"}, "current": {"value": "4"}}}],
            "triggers": [{"type": "cron", "name": "", "active": True, "value": "4500m"}],
            "conditions": [{"type": "Active", "status": "True", "lastTransitionTime": since, "reason": "A", "message": "m"},
                           {"type": "ScalingActive", "status": "False", "lastTransitionTime": since, "reason": "B",
                            "message": "because"}]}}, "status")
        head, row = self.kubectl("get", "as", "seen", "-n", SPACE).splitlines()
        self.assertEqual(head.split(), "NAME KIND REFERENCE TARGETS MIN MAX REPLICAS DESIRED MODE ACTIVE SCALING AGE".split())
        self.assertEqual(row.split()[:11], "seen Deployment web 4/1 0 10 3 4 Advise True False".split())
        wide_head, wide = self.kubectl("get", "autoscaler", "seen", "-n", SPACE, "-o", "wide").splitlines()
        self.assertIn("because", wide)
        self.assertEqual(wide[wide_head.index("WANTED-MODE"):].split()[0], "Act")
        stored = kube.get(self.admin, "Autoscaler", SPACE, "seen")
        self.assertEqual(stored["status"]["triggers"][0]["value"], "4500m")

    def test_spec_and_status_are_written_apart(self):
        kube.apply(self.admin, own("apart"))
        kube.patch(self.admin, "Autoscaler", SPACE, "apart", {"spec": {"maxReplicas": 7}, "status": {"currentReplicas": 9}})
        kube.patch(self.admin, "Autoscaler", SPACE, "apart", {"spec": {"maxReplicas": 8}, "status": {"currentReplicas": 2}},
                   "status")
        got = kube.get(self.admin, "Autoscaler", SPACE, "apart")
        self.assertEqual((got["spec"]["maxReplicas"], got["status"]), (7, {"currentReplicas": 2}))

    def test_what_kubectl_prints_of_hpas_is_converted_and_applied(self):
        kube.apply(self.admin, kube.make("HorizontalPodAutoscaler", "old", SPACE, spec={**BASE, "metrics": [
            {"type": "Pods", "pods": {"metric": {"name": "rps", "selector": {"matchLabels": {"code": "200"}}},
                                      "target": {"type": "AverageValue", "averageValue": "0.5"}}}]}))
        hpas = processes.fresh_folder("convert") / "hpas.yaml"
        hpas.write_text(self.kubectl("get", "hpa", "-n", SPACE, "-o", "yaml"))
        done = processes.run([paths.flyball(), "convert", "hpa", "--mode", "Shadow", hpas])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        converted = hpas.with_name("own.yaml")
        converted.write_text(done.stdout)
        self.kubectl("apply", "--validate=strict", "-f", str(converted))
        stored = kube.get(self.admin, "Autoscaler", SPACE, "old")["spec"]
        self.assertEqual(stored["metrics"][0]["pods"]["target"]["averageValue"], "500m")
        self.assertEqual(stored["mode"], "Shadow")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Scenarios that nobody has computed yet, made of known ones: mutate.py SEED COUNT VECTORS. VECTORS is a file of vectors of one version."""

import copy
import datetime
import json
import random
import sys

QUANTITIES = ("0 1 1289m 999731126n 9P 10E -5 -1500u 1500u 0.0001 1e3 0.5Mi 9223372036854775807m 9223372036854775807 9223372036854775 1Ki 100Mi 1.1 1.05 0.95 "
              "0.9 30 35 3e9 715827882500m 715827882 12345678901234567890 1n -1n 8Ei -8Ei 4611686018427387 5e12 7 10 11 11.0000001 10.9999 9 290 70 5k").split()
POSITIVE = [q for q in QUANTITIES if q != "0" and not q.startswith("-")]
SELECTORS = ["", "app in (web,,)", "app=web", "app", "!app", "app notin (x)", "app in (web", "app=web,=x", "a b", "x>3", "-bad=1", "a/b/c=d", "app in ()", "(a)", ",", "app,"]
METRIC_SELECTORS = [{}, {"matchLabels": {"queue": "jobs"}}, {"matchLabels": {"a b": "c"}}, {"matchLabels": {"a": "-x"}}, {"matchLabels": {"Example.com/x": "c"}},
                    *({"matchExpressions": [expression]} for expression in (
                        {"key": "tier", "operator": "In", "values": ["gold", "bronze"]}, {"key": "tier", "operator": "Bad"},
                        {"key": "tier", "operator": "Exists", "values": ["a"]}, {"key": "t", "operator": "In", "values": ["z", "-x", "a"]},
                        {"key": "t", "operator": "NotIn", "values": ["b", "b"]}, {"key": "t", "operator": "In", "values": []}))]
SECONDS = (-5, 0, 1, 9, 10, 11, 14, 15, 16, 29, 30, 31, 59, 60, 61, 299, 300, 301, 600, 1800, 3600)
COUNTS = (0, 0, 1, 2, 3, 4, 5, 9, 10, 20, 100, 1073741824, 2147483647, -1)
# Of the newer version; those of the older are named in the scenarios that set them.
GATES = ("HPAScaleToZero", "HPAGeneration", "HPAOptimizedSelectorStore", "PodLevelResources", "DeclarativeValidationBeta")


def moved(time: str, seconds: float) -> str:
    base, dot, fraction = time.rstrip("Z").partition(".")
    there = datetime.datetime.strptime(base, "%Y-%m-%dT%H:%M:%S") - datetime.timedelta(seconds=seconds)
    return there.strftime("%Y-%m-%dT%H:%M:%S") + dot + fraction + "Z"


class Mutator:
    """Each method that begins with `of_` changes one thing of a scenario, `one`."""

    def __init__(self, seed: int, known: list):
        self.random, self.known, self.one = random.Random(seed), known, {}
        self.newer = known[0]["config"].get("kubernetesVersion") == "1.37"
        self.ways = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("of_")]

    def made(self, name: str) -> dict:
        self.one = copy.deepcopy(self.random.choice(self.known))
        self.one.update(id=name, ticks=self.one.get("ticks", []), tags=[])
        for _ in range(self.random.randint(1, 4)):
            self.random.choice(self.ways)()
        self.one["skipAdmission"] = self.one.get("skipAdmission", False) or self.chance(0.4)
        return self.one

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def pick(self, *choices):
        return self.random.choice(choices)

    @property
    def spec(self) -> dict:
        return self.one["autoscaler"].get("spec", {})

    @property
    def v2(self) -> bool:
        return self.one["autoscaler"].get("apiVersion") == "autoscaling/v2"

    def sources(self) -> list:
        """(kind, source) of each metric."""
        kinds = ("resource", "containerResource", "pods", "object", "external")
        return [(kind, metric[kind]) for metric in self.spec.get("metrics") or [] for kind in kinds if isinstance(metric.get(kind), dict)]

    def pods(self):
        return [pod for tick in self.one["ticks"] for key in ("pods", "podsUpsert") for pod in tick.get(key) or []]

    def answers(self):
        return [answer for tick in self.one["ticks"] for key in ("custom", "external") for answer in tick.get("metrics", {}).get(key, [])]

    def of_values(self):
        for answer in self.answers():
            for item in answer.get("items") or []:
                if self.chance(0.4):
                    item["value"] = self.random.choice(QUANTITIES)

    def of_targets(self):
        for _, source in self.sources():
            target = source.setdefault("target", {})
            for field in ("value", "averageValue"):
                if field in target and self.chance(0.5):
                    target[field] = self.random.choice(POSITIVE)
            if "averageUtilization" in target:
                target["averageUtilization"] = self.pick(1, 10, 49, 50, 51, 100, 2147483647)

    def of_replicas(self):
        for tick in self.one["ticks"]:
            if self.chance(0.6):
                tick.setdefault("scale", {})["specReplicas"] = self.random.choice(COUNTS)
            if self.chance(0.4):
                tick.setdefault("scale", {})["statusReplicas"] = self.pick(0, 1, 2, 3, 5, 10, 100)

    def of_bounds(self):
        self.spec["minReplicas"] = self.pick(0, 1, 2, 3, 5, -1)
        self.spec["maxReplicas"] = self.pick(0, -2, 1, 3, 9, 20, 2147483647)

    def of_behavior(self):
        """The vectors of the older version have an empty list of policies as it was sent, its oracle as it is stored."""
        rules = {"stabilizationWindowSeconds": self.pick(-1, 0, 1, 60, 300, 3600), "selectPolicy": self.pick("Max", "Min", "Disabled", "Sum"), "policies": [
            {"type": self.pick("Pods", "Percent", "Percent", "Other"), "value": self.pick(0, 1, 4, 50, 100, 2147483647), "periodSeconds": self.pick(1, 15, 60, 1800, 1801)}
            for _ in range(self.random.randint(0 if self.newer else 1, 3))], "tolerance": self.pick("0", "0.1", "10m", "1", "-1", "1n")}
        if self.v2:
            self.spec.setdefault("behavior", {})[self.pick("scaleUp", "scaleDown")] = {k: v for k, v in rules.items() if self.chance(0.6)}

    def of_pods(self):
        for pod in self.pods():
            if self.chance(0.3):
                pod.setdefault("status", {})["phase"] = self.pick("Running", "Pending", "Failed", "Succeeded", "Unknown", "")
            for condition in pod.get("status", {}).get("conditions") or []:
                if self.chance(0.2):
                    condition["status"] = self.pick("True", "False", "Unknown")

    def of_pods_times(self):
        for tick in self.one["ticks"]:
            for pod in (tick.get("pods") or []) + (tick.get("podsUpsert") or []):
                for holder in (pod.get("status", {}), *(pod.get("status", {}).get("conditions") or [])):
                    for field in ("startTime", "lastTransitionTime"):
                        if field in holder and self.chance(0.4):
                            holder[field] = moved(tick["now"][:19] + "Z", self.random.choice(SECONDS))
                if self.chance(0.05):
                    pod["metadata"]["deletionTimestamp"] = tick["now"][:19] + "Z"

    def of_containers(self):
        names = ("app", "w", "log", "nobody")
        for pod in self.pods():
            containers = pod.get("spec", {}).get("containers") or []
            if containers and self.chance(0.3):
                self.random.choice(containers)["name"] = self.random.choice(names)
            if self.chance(0.1):
                pod.setdefault("spec", {})["initContainers"] = [{"name": self.random.choice(names), "restartPolicy": self.pick("Always", ""),
                                                                 "resources": {"requests": {"cpu": self.pick("100m", "0"), "memory": "10Mi"}}}]
            if self.chance(0.1):
                pod.setdefault("spec", {})["resources"] = {"requests": self.pick({"cpu": "1"}, {"memory": "1Gi"}, {})}
        for kind, source in self.sources():
            if kind == "containerResource" and self.chance(0.5):
                source["container"] = self.random.choice(names)

    def of_selectors(self):
        for tick in self.one["ticks"]:
            if tick.get("scale", {}).get("selector") and self.chance(0.4):
                tick["scale"]["selector"] = self.random.choice(SELECTORS)

    def of_metric_selectors(self):
        for kind, source in self.sources():
            if kind in ("pods", "object", "external") and isinstance(source.get("metric"), dict) and self.chance(0.6):
                source["metric"]["selector"] = self.random.choice(METRIC_SELECTORS)
        for answer in self.answers():
            if self.chance(0.3):
                answer["selector"] = self.pick("", "queue=jobs", "tier in (bronze,gold)", "t notin (b,b)")

    def of_references(self):
        reference = self.spec.get("scaleTargetRef")
        if isinstance(reference, dict):
            field = self.pick("apiVersion", "kind", "name")
            reference[field] = {"apiVersion": self.pick("apps/v1", "v1", "", "a/b/c", "example.com/v1", "apps/v1beta1", "/v1"),
                                "kind": self.pick("Deployment", "ReplicaSet", "Widget", "Nothing", ""), "name": self.pick("web", "a/b", "..", "x" * 254, "")}[field]

    def of_faults(self):
        if self.one["ticks"]:
            faults = self.random.choice(self.one["ticks"]).setdefault("faults", {})
            faults[self.pick("updateStatus", "getScale")] = self.pick("notfound", "error:boom", "conflict")
            faults["updateScale"] = self.pick([], ["conflict"], ["conflict"] * 7, ["error:boom"], ["notfound"], ["conflict", "ok"])
            if self.newer and self.chance(0.3):
                self.one["ticks"][-1].setdefault("faults", {})["deleted"] = True

    def of_settings(self):
        self.one["config"].update(tolerance=self.pick(0, 0.1, 0.05, 0.5, 1, 0.09999999), downscaleStabilizationSeconds=self.pick(0, 15, 300, 3600),
                                  cpuInitializationPeriodSeconds=self.pick(0, 30, 300), initialReadinessDelaySeconds=self.pick(0, 10, 30))

    def of_gates(self):
        gates = GATES if self.newer else ("HPAScaleToZero", "HPAConfigurableTolerance", "PodLevelResources")
        self.one["config"].setdefault("featureGates", {})[self.random.choice(gates)] = self.chance(0.5)

    def of_rivals(self):
        if self.one["ticks"]:  # which two of several the newer names is chance
            self.one["otherAutoscalers"] = [{"namespace": self.one["autoscaler"].get("metadata", {}).get("namespace", "default"), "name": "other",
                                             "selector": self.pick("app=web", "app in (web,api)", "", "app!=web")}]

    def of_memory(self):
        if self.one["ticks"]:
            now = self.one["ticks"][0]["now"]
            self.one["state"] = {"recommendations": [{"replicas": self.pick(0, 1, 3, 8, 50), "time": moved(now, self.random.choice(SECONDS[1:]))}
                                                     for _ in range(self.random.randint(1, 5))]}

    def of_sleep(self):
        if self.newer and self.one["ticks"]:
            conditions = self.one["autoscaler"].setdefault("status", {}).setdefault("conditions", [])
            conditions[:] = [c for c in conditions if c["type"] != "ScaledToZero"] + [{
                "type": "ScaledToZero", "status": self.pick("True", "False", "Unknown"), "reason": "ScaledToZero", "message": "earlier",
                "observedGeneration": self.pick(0, 1, 3), "lastTransitionTime": moved(self.one["ticks"][0]["now"][:19] + "Z", 100)}]
            self.one["ticks"][0].setdefault("scale", {})["specReplicas"] = self.pick(0, 0, 1)

    def of_generation(self):
        for tick in self.one["ticks"] if self.newer else ():
            if self.chance(0.4):
                tick["generation"] = self.pick(0, 1, 2, 7, 9223372036854775807)

    def of_length(self):
        if self.one["ticks"]:
            last = copy.deepcopy(self.one["ticks"][-1])
            for _ in range(self.random.randint(1, 5)):
                last = copy.deepcopy(last)
                last["now"] = moved(last["now"], -self.pick(1, 15, 30, 60, 300))
                last.get("scale", {}).pop("specReplicas", None)
                self.one["ticks"].append(last)
            for tick in self.one["ticks"][:-1]:
                tick.get("faults", {}).pop("deleted", None)


def main():
    seed, count, vectors = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    with open(vectors, encoding="utf-8") as file:
        mutator = Mutator(seed, [json.loads(line)["scenario"] for line in file])
    for number in range(count):
        print(json.dumps({"scenario": mutator.made(f"m-{seed}-{number}")}))


if __name__ == "__main__":
    main()

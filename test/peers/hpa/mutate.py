#!/usr/bin/env python3
"""Scenarios that nobody has computed yet, made of known ones: mutate.py VERSION SEED COUNT VECTORS…

VERSION is the release of Kubernetes that they are for, 1.34 to 1.37. VECTORS are files of vectors, of whichever version, that may be compressed.
"""

import copy
import datetime
import gzip
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
# None of those whose text Kubernetes keeps although it is not canonical, as 1E3, 012 and 1.125: flyball does not.
ODD_QUANTITIES = (".5", "1e-3", "", "abc", "1.5e3Mi", 5, 1.5, "0.0000000001", "1e19", "1e30", "-0", "1e", "1 ", "5ki", "9.3E", "-9P", None)
WORDS = ("app", "web", "gold", "a", "in", "notin", "exists", "(", ")", ",", "=", "==", "!=", "!", ">", "<", " ", "-", "_", ".", "/", "3", "é", "x" * 64, "\t", "&")
SECONDS = (-5, 0, 1, 9, 10, 11, 14, 15, 16, 29, 30, 31, 59, 60, 61, 299, 300, 301, 600, 1800, 3600)
COUNTS = (0, 0, 1, 2, 3, 4, 5, 9, 10, 20, 100, 1073741824, 2147483647, -1)
# What bears on autoscalers in a release, but for what it has locked.
GATES = {"1.34": ("HPAConfigurableTolerance", "HPAScaleToZero", "PodLevelResources"),
         "1.35": ("HPAConfigurableTolerance", "HPAScaleToZero", "PodLevelResources"),
         "1.36": ("HPAConfigurableTolerance", "HPAScaleToZero", "PodLevelResources", "DeclarativeValidationBeta"),
         "1.37": ("HPAScaleToZero", "HPAGeneration", "HPAOptimizedSelectorStore", "PodLevelResources", "DeclarativeValidationBeta")}
NAMES = ["web", "a/b", "..", ".", "", "x" * 254, "%41", "Große", "front", "q"]
NEAR_TEN = "9 9.5 9.9 9.899 10 10.1 10.100001 10.5 11 15 20 30 90 99 101 110 1.05 0.95".split()
CONDITIONS = ("AbleToScale", "ScalingActive", "ScalingLimited", "ScaledToZero")


def moved(time: str, seconds: float) -> str:
    base, dot, fraction = time.rstrip("Z").partition(".")
    there = datetime.datetime.strptime(base, "%Y-%m-%dT%H:%M:%S") - datetime.timedelta(seconds=seconds)
    return there.strftime("%Y-%m-%dT%H:%M:%S") + dot + fraction + "Z"


class Mutator:
    """Each method that begins with `of_` changes one thing of a scenario, `one`."""

    def __init__(self, version: str, seed: int, known: list):
        self.random, self.known, self.one = random.Random(seed), known, {}
        self.version = version
        self.newer = version == "1.37"
        self.ways = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("of_")]
        self.of_spec = [self.of_targets, self.of_bounds, self.of_behavior, self.of_tolerance, self.of_metrics, self.of_target_kinds, self.of_references,
                        self.of_metric_selectors]

    def made(self, name: str) -> dict:
        self.one = self.any_known()
        self.one.update(id=name, ticks=self.one.get("ticks", []), tags=[])
        self.of_this_version()
        for _ in range(self.random.randint(1, 6)):
            self.random.choice(self.ways)()
        self.one["skipAdmission"] = self.one.get("skipAdmission", False) or self.chance(0.5)
        if self.newer and self.gates.get("HPAOptimizedSelectorStore", True):
            self.one.get("otherAutoscalers", [])[1:] = []  # which two of several it names is chance
        return self.one

    def any_known(self) -> dict:
        return copy.deepcopy(self.random.choice(self.known))

    def of_this_version(self):
        """What only the API of 1.37 has is left out before."""
        config = self.one["config"]
        config["kubernetesVersion"] = self.version
        if not self.newer:
            for condition in self.status.get("conditions") or []:
                condition.pop("observedGeneration", None)
            for tick in self.one["ticks"]:
                tick.get("faults", {}).pop("deleted", None)

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def pick(self, *choices):
        return self.random.choice(choices)

    def some_selector(self) -> str:
        """Not of blanks alone, which select every pod but make no rival before the optimized store of 1.37."""
        if self.chance(0.5):
            return self.random.choice(SELECTORS)
        text = "".join(self.random.choice(WORDS) for _ in range(self.random.randint(1, 8)))
        return text if text.strip() else ""

    def some_metric_selector(self) -> dict:
        """Of labels that are wrong no more than one, since the controller tells them in the order of a map."""
        if self.chance(0.6):
            return self.random.choice(METRIC_SELECTORS)

        def word():
            return "".join(self.random.choice(WORDS) for _ in range(self.random.randint(0, 3)))

        return self.pick({"matchLabels": {word(): word()}}, {"matchExpressions": [
            {"key": word(), "operator": self.pick("In", "NotIn", "Exists", "DoesNotExist", "Gt", "in", ""), "values": [word() for _ in range(self.random.randint(0, 3))]}
            for _ in range(self.random.randint(1, 2))]})

    def some_quantity(self) -> str:
        return self.pick(f"{self.random.randint(1, 100000)}m", str(self.random.randint(1, 1000)), f"{self.random.randint(1, 10**9)}n", f"{self.random.uniform(1, 200):.2f}")

    @property
    def spec(self) -> dict:
        return self.one["autoscaler"].get("spec", {})

    @property
    def status(self) -> dict:
        return self.one["autoscaler"].setdefault("status", {})

    @property
    def gates(self) -> dict:
        return self.one["config"].setdefault("featureGates", {})

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
                    target[field] = self.random.choice(ODD_QUANTITIES if self.chance(0.05) else POSITIVE)
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
        """The vectors of 1.34 have an empty list of policies as it was sent, its oracle as it is stored."""
        rules = {"stabilizationWindowSeconds": self.pick(-1, 0, 1, 60, 300, 3600), "selectPolicy": self.pick("Max", "Min", "Disabled", "Sum"), "policies": [
            {"type": self.pick("Pods", "Percent", "Percent", "Other"), "value": self.pick(0, 1, 4, 50, 100, 2147483647), "periodSeconds": self.pick(1, 15, 60, 1800, 1801)}
            for _ in range(self.random.randint(self.version == "1.34", 3))], "tolerance": self.pick("0", "0.1", "10m", "1", "-1", "1n")}
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
                tick["scale"]["selector"] = self.some_selector()

    def of_metric_selectors(self):
        for kind, source in self.sources():
            if kind in ("pods", "object", "external") and isinstance(source.get("metric"), dict) and self.chance(0.6):
                source["metric"]["selector"] = self.some_metric_selector()
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
        self.gates[self.random.choice(GATES[self.version])] = self.chance(0.5)

    def of_rivals(self):
        namespace = self.one["autoscaler"].get("metadata", {}).get("namespace", "default")
        if self.one["ticks"]:
            self.one["otherAutoscalers"] = [
                {"namespace": self.pick(namespace, namespace, "elsewhere"), "name": f"other-{i}", "selector": self.pick("app=web", "app in (web,api)", "", "app!=web")}
                for i in range(self.random.randint(1, 3))]

    def of_memory(self):
        if self.one["ticks"]:
            now = self.one["ticks"][0]["now"]
            state = {"recommendations": [{"replicas": self.pick(0, 1, 3, 8, 50), "time": moved(now, self.random.choice(SECONDS[1:]))}
                                         for _ in range(self.random.randint(0, 5))]}
            for events in ("scaleUpEvents", "scaleDownEvents"):
                if self.chance(0.5):
                    state[events] = [{"change": self.pick(0, 1, 2, 4, 10, 100, 2147483647), "time": moved(now, self.random.choice(SECONDS[1:])),
                                      "outdated": self.chance(0.2)} for _ in range(self.random.randint(1, 4))]
            self.one["state"] = state

    def of_restart(self):
        """A controller that has just started remembers nothing, whatever the status says."""
        self.one.pop("state", None)

    def of_status(self):
        """What another controller, or an older one, may have left."""
        if not self.one["ticks"]:
            return
        now = self.one["ticks"][0]["now"][:19] + "Z"
        self.status.update(currentReplicas=self.pick(0, 1, 3, 100), desiredReplicas=self.pick(0, 1, 3, 100))
        if self.chance(0.5):
            self.status["lastScaleTime"] = moved(now, self.random.choice(SECONDS))
        if self.chance(0.3):
            self.status["observedGeneration"] = self.pick(0, 1, 7)
        if self.chance(0.5):
            types = self.random.sample(CONDITIONS, self.random.randint(0, 4))
            self.status["conditions"] = [{"type": type, "status": self.pick("True", "False", "Unknown"), "reason": "Earlier", "message": "earlier",
                                          "lastTransitionTime": moved(now, self.random.choice(SECONDS))} for type in types]
        if self.chance(0.3):
            self.status["currentMetrics"] = self.pick([{"type": ""}], [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageValue": "1"}}}],
                                                      [{"type": "External", "external": {"metric": {"name": "q"}, "current": {"value": "1000m"}}}])

    def of_sleep(self):
        if self.one["ticks"]:
            conditions = self.status.setdefault("conditions", [])
            conditions[:] = [c for c in conditions if c["type"] != "ScaledToZero"] + [{
                "type": "ScaledToZero", "status": self.pick("True", "True", "False", "Unknown"), "reason": "ScaledToZero", "message": "earlier",
                "lastTransitionTime": moved(self.one["ticks"][0]["now"][:19] + "Z", 100)}]
            if self.newer:
                conditions[-1]["observedGeneration"] = self.pick(0, 1, 3)
            self.one["ticks"][0].setdefault("scale", {})["specReplicas"] = self.pick(0, 0, 1)
            self.gates["HPAScaleToZero"] = self.chance(0.8)

    def of_zero(self):
        """To zero and back, where the gate lets it."""
        self.gates["HPAScaleToZero"] = self.chance(0.8)
        self.spec["minReplicas"] = self.pick(0, 0, 0, 1)
        for tick in self.one["ticks"]:
            if self.chance(0.4):
                tick.setdefault("scale", {})["specReplicas"] = self.pick(0, 0, 1, 2)
        for answer in self.answers():
            for item in answer.get("items") or []:
                if self.chance(0.4):
                    item["value"] = self.pick("0", "0", "35", "-1")

    def of_generation(self):
        for tick in self.one["ticks"]:
            if self.chance(0.4):
                tick["generation"] = self.pick(0, 1, 2, 7, 9223372036854775807)

    def of_tolerance(self):
        """Tolerances of the rules, with values that lie just within and without."""
        if not self.v2:
            return
        for direction in ("scaleUp", "scaleDown"):
            if self.chance(0.7):
                self.spec.setdefault("behavior", {}).setdefault(direction, {})["tolerance"] = self.pick("0", "0.1", "100m", "50m", "10m", "0.5", "1", "2", "99999u")
        exact = self.chance(0.5)
        for _, source in self.sources():
            for field in ("value", "averageValue"):
                if field in source.get("target", {}):
                    source["target"][field] = self.pick("10", "100", "1") if exact else self.some_quantity()
        for answer in self.answers():
            for item in answer.get("items") or []:
                item["value"] = self.random.choice(NEAR_TEN) if exact else self.some_quantity()

    def of_target_kinds(self):
        """Targets with several values, and of types that do not fit them."""
        for kind, source in self.sources():
            if self.chance(0.5):
                target = source.setdefault("target", {})
                target[self.pick("value", "averageValue")] = self.random.choice(POSITIVE)
                if self.chance(0.3):
                    target.pop(self.pick("value", "averageValue", "averageUtilization"), None)
                if self.chance(0.2) and kind in ("resource", "containerResource"):
                    target["averageUtilization"] = self.pick(0, -1, 1, 50, 80)
                if self.chance(0.5):
                    target["type"] = self.pick("Value", "AverageValue", "Utilization", "Other", "")

    def of_metrics(self):
        """Fewer metrics, the same twice, in another order, or those of another scenario with their answers."""
        metrics = self.spec.get("metrics")
        if not self.v2 or not metrics:
            return
        way = self.random.randrange(6)
        if way == 0:
            metrics.pop(self.random.randrange(len(metrics)))
        elif way == 1:
            metrics.append(copy.deepcopy(self.random.choice(metrics)))
        elif way == 2:
            self.random.shuffle(metrics)
        elif way == 3:
            self.random.choice(metrics)["type"] = self.pick("Resource", "ContainerResource", "Pods", "Object", "External", "Other", "")
        else:
            other = self.any_known()
            metrics.extend(other["autoscaler"].get("spec", {}).get("metrics") or [])
            for ours, theirs in zip(self.one["ticks"], other.get("ticks", [])):
                for key in ("custom", "external"):
                    ours.setdefault("metrics", {}).setdefault(key, []).extend(theirs.get("metrics", {}).get(key) or [])

    def of_names(self):
        for kind, source in self.sources():
            if self.chance(0.3):
                name = self.random.choice(NAMES)
                if kind in ("pods", "object", "external") and isinstance(source.get("metric"), dict):
                    for answer in self.answers():
                        if answer.get("metric") == source["metric"].get("name") and self.chance(0.8):
                            answer["metric"] = name
                    source["metric"]["name"] = name
                elif kind in ("resource", "containerResource"):
                    source["name"] = self.pick("cpu", "memory", "example.com/gpu", "")
            if kind == "object" and isinstance(source.get("describedObject"), dict) and self.chance(0.3):
                described = source["describedObject"]
                described[self.pick("apiVersion", "kind", "name")] = self.pick("v1", "Service", "Namespace", "front", "Widget", "example.com/v1", "a/b/c", "", "..")

    def of_answers(self):
        """Some answers fail, have nothing, too much or another time."""
        for tick in self.one["ticks"]:
            metrics = tick.get("metrics", {})
            for key in ("custom", "external"):
                answers = metrics.get(key) or []
                for answer in answers:
                    if not self.chance(0.4):
                        continue
                    way = self.random.randrange(5)
                    items = answer.get("items") or []
                    if way == 0:
                        answer.pop("items", None)
                        answer["error"] = self.pick("boom", "the server could not find the requested resource", "no 100% answer: %v")
                    elif way == 1:
                        answer["items"] = []
                        answer.pop("error", None)
                    elif way == 2 and items:
                        items.append(copy.deepcopy(self.random.choice(items)))
                    elif way == 3 and items:
                        items.pop(self.random.randrange(len(items)))
                    elif items:
                        self.random.choice(items)["timestamp"] = moved(tick["now"][:19] + "Z", self.random.choice(SECONDS))
                if answers and self.chance(0.1):
                    answers.pop(self.random.randrange(len(answers)))
            if "resource" in metrics and self.chance(0.2):
                metrics["resource"] = self.pick({"error": "boom"}, {"items": []}, {})

    def of_samples(self):
        """Samples of pods that are missing, of other containers, without usage, and of times around a pod's start."""
        for tick in self.one["ticks"]:
            items = (tick.get("metrics", {}).get("resource") or {}).get("items") or []
            for item in list(items):
                if not self.chance(0.3):
                    continue
                way = self.random.randrange(7)
                containers = item.get("containers") or []
                if way == 0:
                    items.remove(item)
                elif way == 1:
                    item["timestamp"] = moved(tick["now"][:19] + "Z", self.random.choice(SECONDS))
                elif way == 2:
                    item["window"] = self.pick("0s", "1s", "10s", "30s", "60s", "5m0s", "1.5s")
                elif way == 3 and containers:
                    self.random.choice(containers)["name"] = self.pick("app", "w", "log", "nobody", "sidecar")
                elif way == 4 and containers:
                    self.random.choice(containers).get("usage", {}).pop(self.pick("cpu", "memory"), None)
                elif way == 5 and containers:
                    self.random.choice(containers).setdefault("usage", {})[self.pick("cpu", "memory")] = self.random.choice(QUANTITIES)
                else:
                    item["containers"] = self.pick([], containers + copy.deepcopy(containers[:1]))

    def of_conditions(self):
        """Pods that were never told to be ready, are no more, or have conditions of other kinds."""
        for tick in self.one["ticks"]:
            for pod in (tick.get("pods") or []) + (tick.get("podsUpsert") or []):
                if not self.chance(0.3):
                    continue
                status = pod.setdefault("status", {})
                conditions = status.setdefault("conditions", [])
                way = self.random.randrange(5)
                if way == 0:
                    status["conditions"] = []
                elif way == 1:
                    status.pop("startTime", None)
                elif way == 2:
                    start = moved(tick["now"][:19] + "Z", self.random.choice(SECONDS))
                    status["startTime"] = start
                    status["conditions"] = [{"type": "Ready", "status": self.pick("False", "False", "True", "Unknown"),
                                             "lastTransitionTime": moved(start, -self.pick(0, 1, 9, 10, 11, 29, 30, 31))}]
                elif way == 3:
                    conditions.insert(0, {"type": self.pick("Ready", "ContainersReady", "Initialized"), "status": self.pick("True", "False"),
                                          "lastTransitionTime": moved(tick["now"][:19] + "Z", self.random.choice(SECONDS))})
                else:
                    for condition in conditions:
                        condition.pop("lastTransitionTime", None)

    def of_cache(self):
        """Pods that are gone, being deleted, in another namespace, or of other labels."""
        for tick in self.one["ticks"]:
            for key in ("pods", "podsUpsert"):
                for pod in list(tick.get(key) or []):
                    if not self.chance(0.2):
                        continue
                    way = self.random.randrange(5)
                    if way == 0:
                        tick[key].remove(pod)
                    elif way == 1:
                        pod["metadata"]["namespace"] = "elsewhere"
                    elif way == 2:
                        pod["metadata"]["labels"] = self.pick({}, {"app": "api"}, {"app": "web", "queue": "jobs"})
                    else:
                        pod["metadata"]["deletionTimestamp"] = moved(tick["now"][:19] + "Z", self.pick(-30, 0, 1, 100))
            if self.chance(0.1):
                tick.setdefault("faults", {})["listPods"] = "boom"

    def of_requests(self):
        for pod in self.pods():
            for container in (pod.get("spec", {}).get("containers") or []) + (pod.get("spec", {}).get("initContainers") or []):
                if self.chance(0.2):
                    container["resources"] = self.pick({}, {"requests": {}}, {"limits": {"cpu": "1"}}, *(
                        {"requests": {"cpu": quantity, "memory": quantity}} for quantity in ("0", "1", "100m", "1500u", "64Mi", "9P", "9223372036854775807", "1n")))
            if self.chance(0.05):
                pod.setdefault("spec", {})["containers"] = []

    def of_swing(self):
        """A load that rises and falls beside the rules' windows and periods."""
        if not self.one["ticks"] or len(self.one["ticks"]) > 10:
            return
        tick = self.one["ticks"][-1]
        tick.get("faults", {}).pop("deleted", None)
        for _ in range(self.random.randint(5, 15)):
            tick = copy.deepcopy(tick)
            tick["now"] = moved(tick["now"], -self.pick(1, 14, 15, 16, 15, 15, 30, 60, 61, 299, 300))
            for key in ("specReplicas", "statusReplicas"):
                tick.get("scale", {}).pop(key, None)
            factor = self.pick(0.1, 0.5, 0.9, 1, 1.05, 1.2, 2, 5)
            for key in ("custom", "external"):
                for answer in tick.get("metrics", {}).get(key) or []:
                    for item in answer.get("items") or []:
                        item["value"] = f"{int(self.pick(1000, 10000, 30000, 60000) * factor)}m"
            for item in (tick.get("metrics", {}).get("resource") or {}).get("items") or []:
                for container in item.get("containers") or []:
                    container["usage"] = {"cpu": f"{int(self.pick(50, 100, 200) * factor)}m", "memory": f"{int(self.pick(10, 100) * factor)}Mi"}
            self.one["ticks"].append(tick)

    def of_edit(self):
        """The spec changes between two ticks, as one that was admitted."""
        if not self.v2 or not self.one["ticks"]:
            return
        if len(self.one["ticks"]) == 1:
            self.of_length()
        number = self.random.randrange(1, len(self.one["ticks"]))
        document = self.one["autoscaler"]
        kept = document.get("spec", {})
        document["spec"] = copy.deepcopy(kept)
        for _ in range(self.random.randint(1, 2)):
            self.random.choice(self.of_spec)()
        self.one["ticks"][number]["spec"] = document["spec"]
        document["spec"] = kept
        if self.chance(0.7):
            self.one["ticks"][number]["generation"] = self.pick(2, 3, 8)

    def of_annotations(self):
        """What autoscaling/v1 keeps of newer fields."""
        if self.v2:
            return
        annotations = self.one["autoscaler"].setdefault("metadata", {}).setdefault("annotations", {})
        target = {"kind": self.pick("Service", "Namespace", ""), "name": self.pick("front", "", "a/b"), "apiVersion": self.pick("v1", "", "a/b/c")}
        quantity = {key: self.random.choice(QUANTITIES) for key in ("targetValue", "averageValue", "targetAverageValue") if self.chance(0.5)}
        selector = {"selector": self.random.choice(METRIC_SELECTORS)} if self.chance(0.3) else {}
        metrics = [self.pick({"type": "Object", "object": {"target": target, "metricName": "requests", **quantity, **selector}},
                             {"type": "Pods", "pods": {"metricName": "rps", **quantity, **selector}},
                             {"type": "External", "external": {"metricName": "q", "metricSelector": {}, **quantity}},
                             {"type": "Resource", "resource": {"name": "cpu", "targetAverageUtilization": self.pick(0, 1, 80), **quantity}},
                             {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "app", "targetAverageUtilization": self.pick(1, 80)}},
                             {"type": "Other"}) for _ in range(self.random.randint(0, 2))]
        policies = self.pick(None, None if self.version == "1.34" else [], [{"Type": "Pods", "Value": self.pick(0, 4), "PeriodSeconds": 15}])
        behavior = {self.pick("ScaleUp", "scaleDown", "ScaleDown"): {
            "StabilizationWindowSeconds": self.pick(0, 60, -1, 3601), "SelectPolicy": self.pick("Min", "Max", "Disabled", "x"), "Policies": policies,
            "Tolerance": self.pick(None, "0.1", "-1")}}
        annotations["autoscaling.alpha.kubernetes.io/metrics"] = json.dumps(metrics)
        if self.chance(0.5):
            annotations["autoscaling.alpha.kubernetes.io/behavior"] = json.dumps(behavior)
        if self.chance(0.3):
            self.spec["targetCPUUtilizationPercentage"] = self.pick(0, 1, 80, -1)

    def of_metadata(self):
        """Little of it is looked at; a name that is refused ends a scenario."""
        if self.chance(0.2):
            self.one["autoscaler"].setdefault("metadata", {}).update(self.pick(
                {"name": "Web"}, {"name": ""}, {"name": "a" * 254}, {"namespace": "a b"}, {"labels": {"a b": "c"}}, {"labels": {"a": "-x"}}, {"annotations": {"A b": ""}},
                {"generation": 5}, {"generation": -1}, {"finalizers": ["x"]}, {"finalizers": ["example.com/x"]}, {"resourceVersion": "7"}))

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


def scenarios(vectors: str) -> list:
    with gzip.open(vectors, "rt") if vectors.endswith(".gz") else open(vectors, encoding="utf-8") as file:
        return [json.loads(line)["scenario"] for line in file]


def main():
    version, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    mutator = Mutator(version, seed, [scenario for vectors in sys.argv[4:] for scenario in scenarios(vectors)])
    for number in range(count):
        print(json.dumps({"scenario": mutator.made(f"m-{version}-{seed}-{number}")}))


if __name__ == "__main__":
    main()

"""Shadow beside the HPA controller of the newer Kubernetes, with what is new in it, and every scale event explained."""

import json
import random
import time

from harness import control_plane, kube, processes, scaling
from harness.audit import seconds
from harness.case import differs
from harness.shadowing import APPS, HPA, MINUTES, NS, TYPES, Shadowing

_FOLDER = processes.fresh_folder("decisions")
_BOUNDED_BY_ZERO = [(kind, app) for kind, app in APPS if kind in ("object", "external") and app[-1] in "23"]
_ZEROED = [(kind, app) for kind, app in APPS if app.endswith("4")]
_BEFORE, _AFTER = 3, 5  # seconds around a scale event in which its record is looked for
_EDITED = [(kind, app) for kind, app in APPS if app.endswith("6")]


@differs("it has no shadow")
class NewerShadow(Shadowing):
    """Of each type of metric two HPAs have tolerances, one a target that a person puts to sleep and wakes, one is edited; those of
    a total may go down to zero; one names a container that there is not."""

    VERSION = control_plane.NEWER
    LOG = _FOLDER / "decisions.jsonl"
    ARGS = (f"--decision-log={LOG}",)
    UNDECIDABLE = ("container-5",)

    @classmethod
    def spec(cls, kind: str, app: str) -> dict:
        spec = super().spec(kind, app)
        if app[-1] in "01":
            up, down = ("0", "300m") if app.endswith("0") else ("400m", "10m")
            behavior = spec["behavior"]
            spec["behavior"] = {"scaleUp": {**behavior.get("scaleUp", {}), "tolerance": up},
                                "scaleDown": {**behavior["scaleDown"], "tolerance": down}}
        if (kind, app) in _BOUNDED_BY_ZERO:
            spec["minReplicas"] = 0
        if app in cls.UNDECIDABLE:
            spec["metrics"] = [scaling.resource(percent=50, container="nobody")]
        return spec

    _random = random.Random(137)
    _by_hand = []  # (app, when) of each count that a person set

    def disturb(self):
        kind, app = self._random.choice(_BOUNDED_BY_ZERO)
        self.metrics.set(NS, app, **{TYPES[kind][2]: 0})
        if self._random.random() < 0.3:
            _, app = self._random.choice(_ZEROED)
            self._by_hand.append((app, time.time()))
            kube.patch(self.admin, "Deployment", NS, app, {"spec": {"replicas": self._random.choice((0, 0, 2))}})
        if self._random.random() < 0.3:
            _, app = self._random.choice(_EDITED)
            kube.patch(self.admin, HPA, NS, app, {"spec": {"maxReplicas": self._random.choice((3, 4, 6))}})

    def test_decides_as_the_newer_controller(self):
        scaled = self.check_equal_decisions()
        self.assertTrue(any(w.sent["spec"].get("replicas", 0) == 0 for w in scaled), "nothing went down to zero")
        stock = [w for w in scaled if w.good and w.user.endswith("horizontal-pod-autoscaler")]
        self.assertGreater(len(stock), 20 * MINUTES)
        self.check_explained(stock)

    def check_explained(self, scaled: list):
        """Each count that the stock controller wrote was decided, or found, here at about that time, and a reason is told. A count
        that a person replaced before the next decision, a second later, nobody can have found: a person's edit excuses one such."""
        time.sleep(_AFTER)  # the last count that was written has its record by then too
        lines = [json.loads(line) for file in sorted(_FOLDER.iterdir()) for line in file.read_text().splitlines()]
        self.assertTrue(all(line["reason"] for line in lines))
        decided, found, replaced = 0, 0, 0
        edits = list(self._by_hand)
        for write in scaled:
            count = write.sent["spec"].get("replicas", 0)
            near = [line for line in lines if line["name"] == write.name and -_BEFORE < seconds(line["time"]) - write.done < _AFTER]
            decided += any(line.get("desired") == count for line in near)
            if any(count in (line.get("desired"), line.get("current")) for line in near):
                found += 1
                continue
            replaced += 1
            excuse = next((e for e in edits if e[0] == write.name and -0.2 < e[1] - write.done < 1.2), None)
            self.assertIsNotNone(excuse, (write.name, count, write.done, near))
            edits.remove(excuse)
        print(f"shadow: {len(scaled)} scale events, {decided} decided alike, {found} with a record, {replaced} replaced by a person "
              "before the next decision", flush=True)
        self.assertGreater(decided, 0.9 * len(scaled))

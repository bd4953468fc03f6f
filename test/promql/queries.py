"""Random PromQL of every kind, over the series of test/data/promql."""
import random
import re

from corners import Corners

SELECTORS = {  # by file: selectors, and the first and last second of its samples
    "crowd": (["score", 'score{dc!="dc1"}', 'level{tier="hot"}', 'level{shard=~"s[12]"}', "k", 'score{i=~".9"}']),
    "edges": (["burst", "from_zero_total", "grid", 'grid{every=~"1.*"}', "hole", "odd_ms", "pair_total", "single",
               "steps_total", 'steps_total{at="0"}']),
    "joins": (["machine_owner", "node_cpu_seconds_total", 'node_cpu_seconds_total{mode="idle"}', "node_info",
               "node_load1", "node_load5", "other", "plain", "zone_limit", '{__name__=~"node_load.*"}']),
    "latency": (["latency_seconds_bucket", 'latency_seconds_bucket{instance="a"}', "latency_seconds_count",
                 "latency_seconds_sum", "shape_bucket", 'shape_bucket{shape="nonmono"}', "quantile_arg"]),
    "pods": (["container_cpu_usage_seconds_total", 'container_memory_working_set_bytes{container!="istio-proxy"}',
              "kube_pod_created", "kube_pod_info", "moment", "queue_depth"]),
    "requests": (["errors_total", "http_requests_total", 'http_requests_total{job="api"}', "up", 'up{job="api"}']),
    "resets": (["big_total", "flat_total", "holed", "jumpy_total", "saw_total", "small_total", "young_total"]),
    "sensors": (["constant", 'constant{kind=~"nan|inf"}', "extreme", "once", "parabola", "ramp", "switch",
                 "temperature_celsius", "twice", 'temperature_celsius{room=~"attic|hall"}']),
}
LABELS = ["node", "zone", "mode", "cpu", "pod", "container", "namespace", "job", "instance", "code", "i", "dc", "tier",
          "shard", "kind", "floor", "room", "le", "shape", "at", "every", "parity", "__name__"]
MATH = ("abs ceil floor exp ln log2 log10 sqrt sgn deg rad sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
        "timestamp minute hour day_of_week day_of_month day_of_year days_in_month month year sort sort_desc absent").split()
OVER = ("rate increase delta irate idelta deriv resets changes avg_over_time min_over_time max_over_time sum_over_time "
        "count_over_time last_over_time present_over_time stddev_over_time stdvar_over_time absent_over_time").split()
AGGREGATIONS = "sum avg count min max group stddev stdvar".split()
ARITHMETIC = ["+", "-", "*", "/", "%", "^", "atan2"]
COMPARISONS = ["==", "!=", ">", "<", ">=", "<="]
BROKEN = 0.10
CORNERS = 0.3
RANGES = ["1m", "2m", "5m", "90s", "59999ms", "1h", "15s", "10m", "61s", "30s"]
NUMBERS = ["0", "1", "2", "0.5", "-1", "100", "1e3", "NaN", "Inf", "-Inf", "3.7", "1e-3"]


class Generator:
    """Expressions over the series of one file."""

    def __init__(self, rng, first, last):
        self.rng, self.first, self.last = rng, first, last
        self.file = None

    def query(self, file):
        self.file = file
        if self.rng.random() < CORNERS:
            return Corners(self).query()
        kind = self.rng.random()
        if kind < 0.05:
            return self.scalar(2)
        if kind < BROKEN:
            return self.broken()
        return self.vector(self.rng.choice([1, 1, 2, 2, 3]))

    def pick(self, items):
        return self.rng.choice(items)

    def selector(self):
        return self.pick(SELECTORS[self.file])

    def shift(self):
        text = ""
        if self.rng.random() < 0.2:
            text += " offset " + self.pick(["1m", "-1m", "5m", "37s", "-2m30s", "1h"])
        if self.rng.random() < 0.12:
            at = self.pick(["start()", "end()", "%d" % self.rng.randint(self.first, self.last),
                            "%.3f" % self.rng.uniform(self.first, self.last)])
            text = self.pick([text + " @ " + at, " @ " + at + text])
        return text

    def window(self, depth):
        if depth > 0 and self.rng.random() < 0.3:
            step = self.pick(["", "30s", "1m", "7s", "15s", "1m30s"])
            return "(%s)[%s:%s]%s" % (self.vector(depth - 1), self.pick(RANGES), step, self.shift())
        return "%s[%s]%s" % (self.selector(), self.pick(RANGES), self.shift())

    def scalar(self, depth):
        kind = self.rng.random()
        if depth <= 0 or kind < 0.5:
            return self.pick(NUMBERS)
        if kind < 0.6:
            return self.pick(["time()", "pi()"])
        if kind < 0.75:
            return "scalar(%s)" % self.vector(depth - 1)
        op = self.pick(ARITHMETIC + [c + " bool" for c in COMPARISONS])
        return "(%s %s %s)" % (self.scalar(depth - 1), op, self.scalar(depth - 1))

    def labels(self, most=2):
        return ", ".join(self.rng.sample(LABELS, self.rng.randint(0, most)))

    def vector(self, depth):
        if depth <= 0:
            return self.selector() + self.shift()
        makers = [self.range_function, self.range_function, self.function, self.aggregation, self.aggregation,
                  self.binary, self.binary, self.other, self.plain]
        return self.pick(makers)(depth)

    def plain(self, depth):
        return self.pick(["%s", "(%s)", "-%s", "+%s"]) % self.vector(depth - 1)

    def range_function(self, depth):
        kind = self.rng.random()
        window = self.window(depth - 1)
        if kind < 0.8:
            return "%s(%s)" % (self.pick(OVER), window)
        if kind < 0.87:
            return "quantile_over_time(%s, %s)" % (self.pick(["0", "0.5", "0.9", "1", "-1", "2", "NaN"]), window)
        if kind < 0.94:
            return "predict_linear(%s, %s)" % (window, self.pick(["60", "3600", "-30", "0.5"]))
        return "holt_winters(%s, %s, %s)" % (window, self.pick(["0.5", "0.01", "0.9", "1"]), self.pick(["0.1", "0.6"]))

    def function(self, depth):
        kind = self.rng.random()
        inner = self.vector(depth - 1)
        if kind < 0.7:
            return "%s(%s)" % (self.pick(MATH), inner)
        if kind < 0.8:
            return self.pick(["round(%s)", "round(%s, 0.1)", "round(%s, 5)", "round(%s, 0)"]) % inner
        function = self.pick(["clamp(%s, 1, 50)", "clamp(%s, 3, 1)", "clamp_min(%s, {0})", "clamp_max(%s, {0})"])
        return function.replace("%s", inner).replace("{0}", self.scalar(1))

    def aggregation(self, depth):
        clause = ""
        if self.rng.random() < 0.7:
            clause = "%s (%s)" % (self.pick(["by", "without"]), self.labels())
        inner = self.vector(depth - 1)
        kind = self.rng.random()
        if kind < 0.7:
            args, op = inner, self.pick(AGGREGATIONS)
        elif kind < 0.8:
            args, op = "%s, %s" % (self.pick(["0.5", "0", "1", "0.95", "-1", "1.5", "NaN"]), inner), "quantile"
        elif kind < 0.9:
            args, op = '"%s", %s' % (self.pick(["v", "node", "bad-name", "le"]), inner), "count_values"
        else:
            # Which of equal values stays is an accident of both programs.
            args, op = "%s, %s" % (self.pick(["1", "3", "0", "1000"]), self.selector()), self.pick(["topk", "bottomk"])
        return self.pick(["%s %s (%s)" % (op, clause, args), "%s (%s) %s" % (op, args, clause)])

    def binary(self, depth):
        kind = self.rng.random()
        left, right = self.vector(depth - 1), self.vector(self.rng.randint(0, depth - 1))
        if kind < 0.3:
            op = self.pick(ARITHMETIC + COMPARISONS + [c + " bool" for c in COMPARISONS])
            sides = [left, self.scalar(1)]
            self.rng.shuffle(sides)
            return "%s %s %s" % (sides[0], op, sides[1])
        clause = ""
        if self.rng.random() < 0.6:
            clause = "%s (%s)" % (self.pick(["on", "ignoring"]), self.labels(3))
        if kind < 0.5:
            return "%s %s %s %s" % (left, self.pick(["and", "or", "unless"]), clause, right)
        op = self.pick(ARITHMETIC + COMPARISONS + [c + " bool" for c in COMPARISONS])
        if clause and self.rng.random() < 0.5:
            clause += " %s (%s)" % (self.pick(["group_left", "group_right"]), self.labels(1))
        if self.rng.random() < 0.3:
            right = left
        return "(%s) %s %s (%s)" % (left, op, clause, right)

    def other(self, depth):
        inner = self.vector(depth - 1)
        label = self.pick(LABELS)
        return self.pick([
            "vector(%s)" % self.scalar(depth - 1),
            "histogram_quantile(%s, %s)" % (self.scalar(1), inner),
            "histogram_quantile(%s, %s)" % (self.pick(["0.5", "0.9", "0", "1", "0.1"]),
                                            self.pick(["shape_bucket", "latency_seconds_bucket"])),
            'label_replace(%s, "%s", "x$1", "%s", "%s")' % (inner, label, self.pick(LABELS),
                                                           self.pick([".*", "(.).*", "", "n(.)", "(.*)"])),
            'label_join(%s, "%s", "/", "%s", "%s")' % (inner, label, self.pick(LABELS), self.pick(LABELS)),
            "absent_over_time(%s)" % self.window(depth - 1),
            'absent(nothing{a="b",c=~"d"})',
            "time() - %s" % inner,
        ])

    def broken(self):
        """A valid query with a token lost, doubled or changed; many of them are still valid."""
        text = self.vector(2)
        tokens = [t for t in re.findall(r'"[^"]*"|[\w.:]+|\s+|.', text)]
        at = self.rng.randrange(len(tokens))
        kind = self.rng.random()
        if kind < 0.4:
            del tokens[at]
        elif kind < 0.6:
            tokens.insert(at, tokens[at])
        else:
            tokens[at] = self.pick(["(", ")", "[", "]", "{", "}", "by", "offset", "@", "5m", "1", '"s"', ",", "bool", "on",
                                    "sum", "rate", "==", "-", "and", ":"])
        return "".join(tokens)

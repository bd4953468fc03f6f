"""PromQL of the kinds that random expressions seldom reach: literals, escapes, matching errors, modifiers, edges of functions."""

NUMBERS = ["010", "08", "0x1F", "0X1f", "5.", ".5", "1e400", "1e-400", "1_000", "1__0", "_1", "0b11", "0o17", "1e+3", "1E3", "00", "09.5",
    "1.5e",
           "0x", "0x1p3", "-0", "+1", "--1", "inf", "+Inf", "-iNf", "nan", "NAN", "infinity", "9223372036854775807",
               "9223372036854775808", "1e21", "123456789012345678901234567890",
           "0.1e-6", "1h", "5m", "1m30s", "1d2h", "1h1d", "1ms", "0s", "1y", "1w", "1.5h", "5mm", "1e3s", "0x10s", "Inf5", "1a"]
STRINGS = ['"a"', "'a'", "`a`", '"\\n"', '"\\x41"', '"\\101"', '"\\u00e4"', '"\\U0001F600"', '"\\q"', '"\\"',
    "'\\''", '"\\\'"', "'\\\"'", "`\\n`", '"a\nb"', "`a\nb`", '"\\xff"', '"ä"',
           '""', '"\\400"', '"\\18"', '"\\u12"', '"\\ud800"', '"\\a\\b\\f\\r\\t\\v\\\\"', '"unended', "'", "`"]
PATTERNS = ["", ".*", ".+", "a", "(.*)", "(.)(.)", "(?P<n>.)(.*)", "(", "[", "a|b", "(a|b)?", "^a", "a$", "x{2,1}", "\\\\d+", "(?i)A.*",
    "\\\\pL+", ".", "(?s).", "(?:a)(b)?.*"]
REPLACEMENTS = ["", "$1", "${1}", "$0", "$$", "$", "$1x", "${1}x", "$n", "${n}", "$2", "${", "${1", "$-1", "x", "$1$1", "ä$1", "${10}",
    "$01"]
LABEL_NAMES = ["dst", "__name__", "a-b", "", "1a", "le", "a:b", "ä", "a b", "job", "node", "__x__"]
TIMES = ["start()", "end()", "START()", "start( )", "start", "0", "-1", "1e9", "Inf", "-Inf", "NaN", "1e400", "1700014800",
    "1700014800.5", "0x6553f100", "5m", "1700014800 + 1", "(1)", "- 5", "+ 5", "--5"]
OFFSETS = ["1m", "-1m", "- 1m", "+1m", "0s", "0", "60", "-60", "1m30s", "1ms", "10y", "1m1h", "5", "1e3", "inf", "nan", "(1m)", "1m + 1m",
    "-(1m)", "step()", "2*1m", "5m offset 1m", "5m @ 1700014800"]
WINDOWS = ["5m", "1m", "300", "0", "0s", "-1m", "1ms", "5m ", " 5m", "5 m", "1m30s", "inf", "1e3", "0x10", "5m:", "5m:1m", "5m:30",
    "5m:0", "5m:-1m", "5m: 1m", "5m :1m", "5m:1m:1m", "", ":1m", ":", "1m+1m", "-(-5m)", "2*1m", "5m^1",
           "5m%2m", "5m/2", "1h:7s", "59s:1m", "1m:1m", "10m:5m"]
DATES = "minute hour day_of_week day_of_month day_of_year days_in_month month year".split()
MOMENTS = ["NaN", "Inf", "-Inf", "1e19", "-1e19", "9.3e18", "-1", "-0.5", "951782400", "951868799", "4107542400", "1.7e9", "1709164800",
    "253402300800", "-62135596801", "1e15", "68169600.999"]
KEYS = ["", "on()", "ignoring()", "on(node)", "on(node,zone)", "ignoring(zone)", "on(nothing)", "ignoring(node)", "on(__name__)",
    "ignoring(__name__)", "on(node,)", "on(,)", "on(node,node)"]
GROUPS = ["", "group_left", "group_right", "group_left()", "group_right()", "group_left(node)", "group_left(zone)", "group_right(os)",
    "group_left(version,os)", "group_left(__name__)", "group_left(nothing)", "group_left(mode,)",
          "group_right(zone,version)", "group_left(team)"]
OPERATORS = ["+", "-", "*", "/", "%", "^", "atan2", "==", "!=", ">", "<", ">=", "<=", "== bool", "> bool", "<= bool", "!= bool", "and",
    "or", "unless", "and bool", "+ bool", "ATAN2", "AND", "OR", "=", "=~", "!", "**"]
AGGREGATIONS = "sum avg count min max group stddev stdvar SUM Avg".split()


class Corners:
    """Made for a Generator, whose selectors and parts it uses."""

    def __init__(self, generator):
        self.g = generator

    def pick(self, items):
        return self.g.rng.choice(items)

    def query(self):
        makers = [self.literal, self.label_replace, self.label_join, self.count_values, self.quantile, self.topk, self.matching,
            self.matching, self.at_and_offset,
                  self.at_and_offset, self.subquery, self.date, self.absent, self.histogram, self.grouping, self.matchers, self.clamp,
                      self.over_time, self.step_invariant, self.names]
        return self.pick(makers)()

    def literal(self):
        return self.pick([self.pick(NUMBERS), self.pick(STRINGS), "%s + %s" % (self.pick(NUMBERS), self.pick(NUMBERS)),
            "%s^%s" % (self.pick(NUMBERS), self.pick(NUMBERS)),
                          "vector(%s)" % self.pick(NUMBERS), "%s == bool %s" % (self.pick(NUMBERS), self.pick(NUMBERS)),
                              "%s %s" % (self.pick(NUMBERS), "# comment"),
                          "%s * %s" % (self.g.selector(), self.pick(NUMBERS)), "-%s^2" % self.pick(NUMBERS),
                              "%s %% %s" % (self.pick(NUMBERS), self.pick(NUMBERS)),
                          "(%s)" % self.pick(STRINGS), "-%s" % self.pick(STRINGS), "{__name__=%s}" % self.pick(STRINGS),
                              '%s{node=%s}' % ("node_load1", self.pick(STRINGS))])

    def label_replace(self):
        return 'label_replace(%s, "%s", "%s", "%s", "%s")' % (self.g.selector(), self.pick(LABEL_NAMES), self.pick(REPLACEMENTS),
            self.pick(LABEL_NAMES + ["node", "kind", "pod", "room"]),
                                                              self.pick(PATTERNS))

    def label_join(self):
        sources = ["%s" % self.pick(LABEL_NAMES + ["node", "zone", "pod", "nothing"]) for _ in range(self.g.rng.randint(0, 3))]
        return "label_join(%s)" % ", ".join([self.g.selector(), '"%s"' % self.pick(LABEL_NAMES), '"%s"' % self.pick(["", "/", ",", "ä",
            "\\n"])] + ['"%s"' % s for s in sources])

    def count_values(self):
        inner = self.pick([self.g.selector(), "vector(%s)" % self.pick(["1e21", "1e-7", "-0", "NaN", "Inf", "-Inf", "0.1",
            "123456789.125", "1e100", "5e-324"]), "round(%s)" % self.g.selector(),
                           "%s > bool 1" % self.g.selector()])
        clause = self.pick(["", "", "by (%s)" % self.g.labels(), "without (%s)" % self.g.labels(), "by (v)", "without (v)"])
        return "count_values %s (%s, %s)" % (clause, self.pick(['"%s"' % n for n in LABEL_NAMES + ["v"]]), inner)

    def quantile(self):
        q = self.pick(["-1", "2", "NaN", "Inf", "-Inf", "0", "1", "0.5", "1e-9", "scalar(%s)" % self.g.selector(), "1/3"])
        return self.pick(["quantile(%s, %s)", "quantile by (%s) (%%s, %%s)" % self.g.labels(),
            "quantile without (%s) (%%s, %%s)" % self.g.labels()]) % (q, self.g.selector())

    def topk(self):
        k = self.pick(["NaN", "Inf", "-Inf", "-1", "0", "0.9", "1.9", "1e19", "2", "1000", "scalar(%s)" % self.g.selector(),
            "9223372036854775807", "-9223372036854775809"])
        clause = self.pick(["", "by (%s)" % self.g.labels(), "without (%s)" % self.g.labels()])
        return "%s %s (%s, %s)" % (self.pick(["topk", "bottomk"]), clause, k, self.g.selector())

    def matching(self):
        left, right = self.g.selector(), self.g.selector()
        if self.g.rng.random() < 0.3:
            right = "sum by (%s) (%s)" % (self.g.labels(), right)
        if self.g.rng.random() < 0.2:
            left = "sum by (%s) (%s)" % (self.g.labels(), left)
        op, key, group = self.pick(OPERATORS), self.pick(KEYS), self.pick(GROUPS) if self.g.rng.random() < 0.5 else ""
        return "%s %s %s %s %s" % (left, op, key, group, right)

    def modifiers(self):
        parts = []
        if self.g.rng.random() < 0.7:
            parts.append("offset " + self.pick(OFFSETS))
        if self.g.rng.random() < 0.7:
            parts.append("@ " + self.pick(TIMES))
        self.g.rng.shuffle(parts)
        return " ".join(parts)

    def at_and_offset(self):
        inner = self.g.selector()
        return self.pick(["%s %s", "sum(%s %s)", "timestamp(%s %s)", "timestamp((%s %s))", "-%s %s", "(%s) %s", "absent(%s %s)",
            "count_over_time(%s[5m] %s)", "rate(%s[2m] %s)", "rate(%s[2m:30s] %s)",
                          "last_over_time(%s[10m:] %s)", "predict_linear(%s[5m] %s, 60)", "deriv(%s[5m] %s)",
                              "sum_over_time((%s + 1)[5m:1m] %s)", "%s %s + 1", "sum(%s) %s", "vector(1) %s %s", "1 %s %s"]) % (inner,
                              self.modifiers())

    def subquery(self):
        inner = self.pick([self.g.selector(), "rate(%s[1m])" % self.g.selector(), "time()", "vector(2)", "1",
            "%s > 1" % self.g.selector(), "timestamp(%s)" % self.g.selector(), "sum(%s)" % self.g.selector(), "-%s" % self.g.selector(),
                           "hour()", "max_over_time(%s[3m:1m])" % self.g.selector(), "absent(nothing)", "%s @ end()" % self.g.selector(),
                               "%s offset 1m" % self.g.selector()])
        return "%s(%s[%s] %s)" % (self.pick(self.functions_over_time()), self.pick(["%s", "(%s)"]) % inner, self.pick(WINDOWS),
            self.modifiers() if self.g.rng.random() < 0.4 else "")

    @staticmethod
    def functions_over_time():
        return ["sum_over_time", "count_over_time", "rate", "avg_over_time", "last_over_time", "absent_over_time", "min_over_time",
            "stddev_over_time", "resets", "changes", "delta", "present_over_time", "idelta"]

    def date(self):
        function = self.pick(DATES)
        return self.pick(["%s()", "%s(vector(%s))" % ("%s", self.pick(MOMENTS)), "%s(vector(time()))", "%s({0})".replace("{0}",
            self.g.selector()), "%s(vector(1), vector(2))", "%s(1)", "%s(timestamp({0}))".replace("{0}", self.g.selector()),
                          "%s(vector(%s) + %s)" % ("%s", self.pick(MOMENTS), self.pick(["86400", "0.999", "-1"]))]) % function

    def absent(self):
        matchers = ",".join(self.g.rng.sample(['a="b"', 'a="c"', 'c=~"d"', 'e!="f"', 'g!~"h"', 'i=""', '__name__="x"', 'j="k"', 'a=~"b"',
            'l="\\"q"'], self.g.rng.randint(1, 4)))
        inner = self.pick(["nothing{%s}" % matchers, "{%s}" % matchers, "(nothing{%s})" % matchers, "sum(nothing{%s})" % matchers,
            "nothing{%s} + 1" % matchers, "-nothing{%s}" % matchers, "nothing{%s} offset 1m" % matchers,
                           "nothing{%s} @ end()" % matchers])
        if self.g.rng.random() < 0.4:
            return "absent_over_time(%s)" % self.pick(["nothing{%s}[5m]" % matchers, "(nothing{%s}[5m])" % matchers,
                "nothing{%s}[5m:1m]" % matchers, "(nothing{%s})[5m:1m]" % matchers, "%s[1m]" % self.g.selector()])
        return "absent(%s)" % inner

    def histogram(self):
        q = self.pick(["0", "1", "0.5", "0.99", "-1", "2", "NaN", "Inf", "-Inf", "scalar(quantile_arg)", "time()", "0.1", "1e-9"])
        of = self.pick(["shape_bucket", "latency_seconds_bucket", "rate(latency_seconds_bucket[5m])",
            "sum by (le) (rate(latency_seconds_bucket[5m]))", "sum by (le, instance) (latency_seconds_bucket)", self.g.selector(),
                        'label_replace(shape_bucket, "le", "x", "le", "1")', 'label_replace(shape_bucket, "le", "Inf", "le", "\\\\+Inf")',
                            'shape_bucket{le!="+Inf"}', "shape_bucket * NaN", "shape_bucket * -1", "shape_bucket * 0",
                        'label_replace(shape_bucket, "le", "0x1p-1", "le", "0.5")', "latency_seconds_bucket or shape_bucket"])
        function = self.pick(["histogram_quantile(%s, %s)" % (q, of), "histogram_quantile(%s, %s)" % (q, of), "histogram_count(%s)" % of,
            "histogram_sum(%s)" % of, "histogram_fraction(0, %s, %s)" % (q, of),
                              "sum(histogram_quantile(%s, %s))" % (q, of)])
        return function

    def grouping(self):
        labels = self.pick(["node", "node,zone", "node,", ",", "", "le", "__name__", "sum", "by", "on", "bool", "inf", "nan", "without",
            "offset", "start", "1a", "a:b", '"node"', "node node", "group_left", "and", "NODE"])
        return "%s %s (%s) (%s)" % (self.pick(AGGREGATIONS), self.pick(["by", "without", "BY", "Without"]), labels, self.g.selector())

    def matchers(self):
        label = self.pick(["node", "zone", "__name__", "nothing", "kind", "1a", "a:b", "a-b", '"node"', "on", "sum", "inf"])
        op = self.pick(["=", "!=", "=~", "!~", "==", "~", "<>"])
        value = self.pick(['"n1"', '"n.*"', '""', '".*"', '".+"', '"n1|n2"', '"("', "n1", "1", "`n1`", "'n1'", '"\\u006e1"', '"N1"',
            '"(?i)N1"'])
        name = self.pick(["node_load1", "", "node_load1", "sum", "bool", "node_cpu_seconds_total"])
        more = self.pick(["", "", ",", ',zone="a"', ',__name__="node_load1"', ',__name__=~"node.*"', ",,"])
        return "%s{%s%s%s%s}" % (name, label, op, value, more)

    def clamp(self):
        bounds = [self.pick(["NaN", "Inf", "-Inf", "0", "1", "-1", "50", "scalar(%s)" % self.g.selector(), "time()"]) for _ in range(2)]
        return self.pick(["clamp(%s, %s, %s)" % (self.g.selector(), *bounds), "clamp_min(%s, %s)" % (self.g.selector(), bounds[0]),
            "clamp_max(%s, %s)" % (self.g.selector(), bounds[0]),
                          "round(%s, %s)" % (self.g.selector(), bounds[0]), "round(%s)" % self.pick(["vector(-2.5)", "vector(2.5)",
                              "vector(0.5)", "vector(-0.5)", "vector(1e300)", "vector(NaN)"]),
                          "sgn(%s)" % self.pick(["vector(-0)", "vector(NaN)", "vector(-Inf)", self.g.selector()]),
                              "scalar(%s)" % self.g.selector(), "vector(%s)" % bounds[0], "abs(%s, 1)" % self.g.selector(), "abs()",
                              "time(1)", "pi(1)",
                          "vector(%s)" % self.g.selector(), "scalar(1)", "sum()", "sum(1)", "sum(%s, 1)" % self.g.selector(),
                              "topk(%s)" % self.g.selector(), "rate(%s)" % self.g.selector(), "rate(%s[5m],)" % self.g.selector(),
                          "foo(1)", "Rate(%s[5m])" % self.g.selector(), "rate %s" % self.g.selector()])

    def over_time(self):
        window = "%s[%s]" % (self.g.selector(), self.pick(["5m", "1m", "15s", "1h", "1ms", "10m", "59999ms", "60001ms"]))
        return self.pick(["quantile_over_time(%s, %s)" % (self.pick(["-1", "2", "NaN", "Inf", "0.5", "scalar(vector(0.3))"]), window),
            "holt_winters(%s, %s, %s)" % (window, self.pick(["0", "1", "0.5", "-1", "NaN"]), self.pick(["0", "1", "0.5", "2"])),
                          "predict_linear(%s, %s)" % (window, self.pick(["0", "NaN", "Inf", "-1", "1e9", "time()"])),
                              "irate(%s)" % window, "increase(%s)" % window, "delta(%s)" % window, "deriv(%s)" % window,
                              "changes(%s)" % window,
                          "resets(%s)" % window, "last_over_time(%s)" % window, "stddev_over_time(%s)" % window,
                              "stdvar_over_time(%s)" % window, "%s" % window, "sum(%s)" % window, "-%s" % window, "(%s)" % window,
                              "avg_over_time((%s))" % window,
                          "sum_over_time(%s) / count_over_time(%s)" % (window, window)])

    def step_invariant(self):
        inner = "%s @ %s" % (self.g.selector(), self.pick(["end()", "start()", str(self.g.first + 300)]))
        return self.pick(["%s + time()", "sum(%s)", "rate(" + self.g.selector() + "[5m] @ end()) + 0 * sum(%s)", "timestamp(%s)",
            "topk(2, %s)", "%s > bool 3", "%s or vector(1)", "label_replace(%s, \"a\", \"b\", \"\", \"\")",
                          "minute(%s)", "vector(scalar(%s))", "absent(%s)", "sort_desc(%s)", "count_values(\"v\", %s)",
                              "quantile(scalar(vector(0.5)), %s)", "%s and on() (time() %% 2 == 0)"]) % inner

    def names(self):
        word = self.pick("sum by without offset and or unless start end on ignoring bool group_left group_right atan2 inf nan count min topk step range limitk anchored smoothed fill".split())
        return self.pick(["%s", "%s{}", '%s{a="b"}', "%s + 1", "sum(%s)", "sum by (%s) (node_load1)", "node_load1 + on(%s) node_load5",
            "rate(%s[5m])", "%s()", '{%s="a"}', '{__name__="%s"}', "%s[5m]", "a:%s", ":%s", "%s:a"]) % word

"""Random PromQL of many kinds over the series of a file. The same seed gives the same queries."""

import random
import re

RANGES = ["30s", "45s", "61s", "1m", "90s", "2m", "5m", "7m30s", "10m", "1h"]
OFFSETS = ["", "", "", "", " offset 15s", " offset 1m", " offset -30s", " offset 5m", " @ start()", " @ end()", " @ {at}",
           " @ {at} offset 45s"]
OF_WINDOW = ["rate", "increase", "delta", "irate", "idelta", "deriv", "resets", "changes", "avg_over_time", "min_over_time",
             "max_over_time", "sum_over_time", "count_over_time", "last_over_time", "present_over_time", "stddev_over_time",
             "stdvar_over_time", "absent_over_time"]
OF_VECTOR = ["abs", "ceil", "floor", "exp", "ln", "log2", "log10", "sqrt", "sgn", "deg", "rad", "sin", "cos", "tan", "asin", "acos",
             "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sort", "sort_desc", "timestamp", "absent", "minute", "hour",
             "day_of_week", "day_of_month", "day_of_year", "days_in_month", "month", "year"]
AGGREGATIONS = ["sum", "avg", "count", "min", "max", "group", "stddev", "stdvar"]
ARITHMETIC = ["+", "-", "*", "/", "%", "^", "atan2"]
COMPARISONS = ["==", "!=", ">", "<", ">=", "<="]
NUMBERS = ["0", "1", "-1", "0.5", "3", "10", "1e3", "NaN", "Inf", "-Inf", "0x1F", "1e-7"]
BROKEN = [("(", ""), (")", ""), ("[", "[["), (",", ",,"), (" by ", " by by "), ("{", "{{"), ("=", "=="), ("\"", "'"), ("5m", "5"),
          ("rate", "rote"), ("sum", "sum sum"), ("offset", "offset offset"), (" on(", " on "), ("1", "1x"), ("m]", "]")]


class Queries:
    def __init__(self, text: str, seed: int):
        self.random = random.Random(seed)
        self.labels: dict[str, dict[str, set[str]]] = {}
        stamps = []
        for line in text.splitlines():
            if not line or line.startswith("#"):
                continue
            line = line.split(" # ")[0]
            name = re.match(r"[^{ ]+", line).group()
            values = self.labels.setdefault(name, {})
            for label, value in re.findall(r'([A-Za-z_]\w*)="([^"\\]*)"', line):
                values.setdefault(label, set()).add(value)
            stamps.append(float(line.rsplit(" ", 1)[1]))
        self.first, self.last = min(stamps), max(stamps)

    def pick(self, choices):
        return self.random.choice(sorted(choices) if isinstance(choices, (set, dict)) else choices)

    def moment(self) -> float:
        # Mostly where there are samples behind; sometimes at the edges, where windows are empty.
        edges = self.random.random() < 0.2
        at = self.random.uniform(self.first - 60, self.last + 400) if edges else self.random.uniform(self.first + 200, self.last)
        return round(at, 3) if self.random.random() < 0.4 else float(round(at / 15) * 15)

    def name(self) -> str:
        return self.pick(self.labels)

    def label(self, name: str) -> str:
        return self.pick(self.labels[name] or {"nothing"})

    def selector(self, name: str = "", shift: bool = True, range_text: str = "") -> str:
        name = name or self.name()
        matchers = []
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2])):
            label = self.label(name)
            value = self.pick(self.labels[name].get(label, {"x"}))
            matchers.append(self.pick([f'{label}="{value}"', f'{label}!="{value}"', f'{label}=~"{re.escape(value)[:1]}.*"',
                                       f'{label}!~".*{re.escape(value)[-1:]}"', f'{label}=~".+"', f'{label}=""'])
                            .replace("\\", "\\\\"))
        braces = "{" + ",".join(matchers) + "}" if matchers else ""
        at = self.pick(OFFSETS).replace("{at}", str(self.moment())) if shift else ""
        return f"{name}{braces}{range_text}{at}"

    def window(self) -> str:
        if self.random.random() < 0.2:
            inner = self.pick([self.selector(shift=False), f"rate({self.selector(shift=False, range_text='[1m]')})", "vector(time())"])
            return f"({inner})[{self.pick(RANGES[3:])}:{self.pick(['', '15s', '1m', '37s'])}]"
        return self.selector(range_text=f"[{self.pick(RANGES)}]")

    def of_window(self) -> str:
        kind = self.random.random()
        if kind < 0.75:
            return f"{self.pick(OF_WINDOW)}({self.window()})"
        return self.pick([f"quantile_over_time({self.pick(['0.5', '0.9', '-1', '2', '0'])}, {self.window()})",
                          f"predict_linear({self.window()}, {self.pick(['60', '-30', '3600'])})",
                          f"holt_winters({self.window()}, {self.pick(['0.3', '0.9', '1'])}, {self.pick(['0.1', '0.6'])})"])

    def clause(self, name: str) -> str:
        labels = {self.label(name) for _ in range(self.random.choice([0, 1, 1, 2]))}
        return self.pick(["", f" by ({', '.join(sorted(labels))})", f" without ({', '.join(sorted(labels))})"])

    def aggregation(self, depth: int) -> str:
        name = self.name()
        inner = self.vector(depth - 1) if self.random.random() < 0.4 else self.selector(name)
        clause = self.clause(name)
        if self.random.random() < 0.75:
            return f"{self.pick(AGGREGATIONS)}{clause} ({inner})"
        return self.pick([f"topk{clause} ({self.pick('1235')}, {inner})", f"bottomk{clause} ({self.pick('1235')}, {inner})",
                          f"quantile{clause} ({self.pick(['0.5', '0.9', '-1', '2', 'NaN'])}, {inner})",
                          f'count_values{clause} ("v", {inner})'])

    def binary(self, depth: int) -> str:
        name = self.name()
        other = self.name() if self.random.random() < 0.25 else name
        left, right = self.selector(name), self.selector(other)
        if self.random.random() < 0.4:
            left, right = self.pick([(left, self.pick(NUMBERS)), (self.pick(NUMBERS), right), (self.vector(depth - 1), right)])
        vectors = left not in NUMBERS and right not in NUMBERS
        if vectors and self.random.random() < 0.25:
            return f"{left} {self.pick(['and', 'or', 'unless'])}{self.pick(['', f' on({self.label(name)})'])} {right}"
        comparison = self.random.random() < 0.4
        operator = self.pick(COMPARISONS) + self.pick(["", " bool"]) if comparison else self.pick(ARITHMETIC)
        label = self.label(name)
        matching = self.pick(["", "", f" on({label})", f" ignoring({label})", f" on({label}) group_left", f" on({label}) group_right",
                              f" ignoring({label}) group_left"]) if vectors else ""
        return f"{left} {operator}{matching} {right}"

    def vector(self, depth: int = 2) -> str:
        if depth <= 0:
            return self.selector()
        kind = self.random.random()
        if kind < 0.3:
            return self.of_window()
        if kind < 0.5:
            return self.aggregation(depth)
        if kind < 0.7:
            return self.binary(depth)
        if kind < 0.82:
            return f"{self.pick(OF_VECTOR)}({self.vector(depth - 1)})"
        name = self.name()
        label, inner = self.label(name), self.selector(name)
        return self.pick([inner, f"-{inner}", f"round({inner}, {self.pick(['1', '0.3', '-2', '0'])})", f"clamp({inner}, 1, 5)",
                          f"clamp_min({inner}, {self.pick(NUMBERS)})", f"vector(scalar({inner}))",
                          f'label_replace({inner}, "{label}", "$1-x", "{label}", "(.).*")', f'label_join({inner}, "j", "-", "{label}")',
                          f"histogram_quantile({self.pick(['0', '0.5', '0.9', '1', '2'])}, {inner})",
                          f"histogram_quantile(0.9, sum by (le) (rate({name}[5m])))"])

    def query(self) -> str:
        text = self.vector()
        if self.random.random() < 0.08:
            old, new = self.pick(BROKEN)
            text = text.replace(old, new, 1)
        return text

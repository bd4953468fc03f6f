"""Series in memory that answer plain selectors, `name{a="b",c=~"d|e"}`: enough PromQL for a conformance fixture."""

import re

from .scripted_prometheus import NOW, vector

_SELECTOR = re.compile(r'^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?$')
_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"')


class SeriesStore:
    """`series`: list of (labels with __name__, value) or (labels, value, time). Callable as `answers` of ScriptedPrometheus."""

    def __init__(self, series: list):
        self.series = series

    def __call__(self, query: str):
        selector = _SELECTOR.match(query.strip())
        if not selector:
            raise ValueError(f"not a plain selector: {query}")
        found = []
        for labels, value, *at in self.series:
            if labels["__name__"] == selector.group(1) and all(
                    self._matches(labels.get(k, ""), op, v.replace("\\\\", "\\"))
                    for k, op, v in _MATCHER.findall(selector.group(2) or "")):
                found.append(({k: v for k, v in labels.items() if k != "__name__"}, value, at[0] if at else NOW))
        return vector(*found)

    @staticmethod
    def _matches(have: str, op: str, want: str) -> bool:
        same = bool(re.fullmatch(want, have)) if "~" in op else have == want
        return same != op.startswith("!")

    def discovery(self) -> dict:
        """match[] -> series, for rules whose seriesQuery is the bare name."""
        rows = {}
        for labels, *_ in self.series:
            rows.setdefault(labels["__name__"], []).append(labels)
        return rows

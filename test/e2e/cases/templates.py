"""The template language of metricsQuery."""

from .model import EXT, NS, WEB, Case, Request, custom_rule, get
from .selectors import echo

TEMPLATES = {
    "plain": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
    "slice": "<<.GroupBySlice>>", "map": "<<.LabelValuesByName>>", "missing": "<<.LabelValuesByName.absent>>",
    "index_missing": 'x<<index .LabelValuesByName "absent">>y', "index": '<<index .LabelValuesByName "po">>',
    "range": "<<range $i, $g := .GroupBySlice>><<$i>>:<<$g>>;<<end>>",
    "range_map": "<<range $k, $v := .LabelValuesByName>><<$k>>=<<$v>>,<<end>>",
    "range_else": "<<range slice .GroupBySlice 1>>x<<else>>none<<end>>",
    "range_break": "<<range $i, $v := .LabelValuesByName>><<$i>><<break>><<end>>",
    "range_continue": '<<range $i, $v := .LabelValuesByName>><<if eq $i "ns">><<continue>><<end>><<$i>><<end>>',
    "if": '<<if eq .Series "s_if">>yes<<else>>no<<end>>', "else_if": '<<if false>>a<<else if true>>b<<else>>c<<end>>',
    "with": '<<with .GroupBy>>[<<.>>]<<end>>', "trim": "a  <<- .GroupBy ->>  b", "comment": "a<</* quiet */>>b",
    "printf": '<<printf "%s|%q|%d|%v|%5s|%-5s|%x" .Series .GroupBy 42 true "ab" "ab" "hi">>',
    "print": '<<print .Series 1 2 "x" "y">>', "println": '<<println .Series>>', "len": "<<len .LabelMatchers>>",
    "and_or": '<<and .Series "b">><<or "" "c">><<not false>>', "compare": "<<lt 1 2>><<le 2 2>><<gt 1 2>><<ge 2 2>><<ne 1 2>>",
    "slice_string": "<<slice .Series 0 3>>", "html": '<<html "<&\'>">>', "js": '<<js "a\'b">>', "urlquery": '<<urlquery "a b&c">>',
    "pipeline": '<<.Series | printf "%s-%s" "a" | len>>', "variable": "<<$a := .Series>><<$a>><<$a = \"z\">><<$a>>",
    "define": '<<define "t">>T<<.>><<end>><<template "t" .Series>>', "block": '<<block "b" .GroupBy>>B<<.>><<end>>',
    "numbers": "<<1.5>> <<0x10>> <<1e3>> <<'a'>> <<`raw`>>", "parens": '<<len (print .Series "x")>>',
    "multiline": "\nsum(\n  <<.Series>>{<<.LabelMatchers>>}\n) by (<<.GroupBy>>)\n", "unknown_field": "<<.Nothing>>",
    "empty": "<<if false>>x<<end>>", "index_out": "<<index .GroupBySlice 9>>", "bad_compare": '<<lt 1 "x">>',
    "call_nil": "<<call .Series>>", "nested": "<<range .GroupBySlice>><<if .>><<len .>><<end>><<end>>",
    "root": '<<range .GroupBySlice>><<$.Series>><<end>>', "constant": "vector(1)", "dollar": "a$b{}", "braces": "{{.Series}}",
    "brackets": "<<.Series>><<.Series>>", "single_angles": "a < b > c",
}
SERIES = {f"s_{n}": [{"__name__": f"s_{n}", "ns": "web", "po": "a-1"}] for n in TEMPLATES}
QUOTED = ["a\"b", "a\\b", "a\nb", "é", "\u200b", "a'b", "tab\there", "{x}", "a b"]

CASES = [
    Case("templates_custom", {"rules": [custom_rule(f"s_{n}", t) for n, t in TEMPLATES.items()]},
         get(*(f"{WEB}/pods/a-1/s_{n}" for n in TEMPLATES), *(f"{WEB}/pods/*/s_{n}?labelSelector=app%3Dshop" for n in (
             "slice", "map", "index", "range", "range_map", "with"))),
         ("custom.metrics.k8s.io/v1beta2", "pods/s_plain"), SERIES, echo),
    Case("templates_external", {"externalRules": [
        {"seriesQuery": f"s_{n}", "metricsQuery": t, "resources": {"overrides": {"ns": NS}}} for n, t in TEMPLATES.items()]},
         get(*(f"{EXT}/s_{n}?labelSelector=po+in+%28x%2Cy%29" for n in TEMPLATES)),
         ("external.metrics.k8s.io/v1beta1", "s_plain"), {n: [{"__name__": n}] for n in SERIES}, echo),
]


def _quoted(name: str) -> str:
    from urllib.parse import quote
    return f"{WEB}/pods/{quote(name, safe='')}/s_plain"


CASES.append(Case("quoting", {"rules": [custom_rule("s_plain", TEMPLATES["plain"])]},
                  [Request(_quoted(n)) for n in QUOTED], ("custom.metrics.k8s.io/v1beta2", "pods/s_plain"),
                  {"s_plain": SERIES["s_plain"]}, echo))

"""Rule files drawn by a seed, as text: each way of writing YAML that people and generators use, and slips among them."""

from .varied import Draw

STRINGS = ['sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)', '{__name__=~"^s_.*",ns!=""}', "s", "", "a: b", "a #b", "'", '"', "\\d+", "é", "  x ", "*a", "&a", "!a", "%a", "@a", "`a",
           "- a", "? a", "[a]", "{a}", "a\nb", "a\tb", "~", "null", "true", "yes", "no", "12", "1_000", "0x1F", "010", "0b11", "1e3", ".5", ".inf", "2001-01-01", "=", "<<", "<<.Resource>>", "x'y", "1:30", "-", "--- a", "|", ">"]
WORDS = ["5", "-5", "1.50", "1e3", "0x10", "010", "0o10", "1_000", "+7", ".5", "5.", "true", "True", "yes", "n", "Y", "off", "~", "null", "Null", "", "2001-01-01", "2001-01-01T00:00:00Z", ".inf", "-.INF", ".nan",
         "[a]", "{a: b}", "[]", "{}", "!!str 5", "!!int 5", "!!int \"5\"", "!!bool yes", "!!float 3", "!!null ''", "!!binary aGk=", "!!binary '*'", "!local x", "!!str", "! x", "*none", "&x y", "1:30", "12e03", "0b101", "-0", "1__0",
         "!!seq [a]", "!!map {a: b}", "'a' b", "\"a\" b", "[a", "a]", "{a", "a, b", "<<", "=", "!!merge <<", "!!timestamp 2001-01-01", "!!timestamp x", "@x", "`x`", "%x", "|x", ">1x", "a: b: c", "- a"]
BOOLEANS = ["true", "false", "yes", "no", "on", "off", "y", "n", "Y", "N", "True", "TRUE", "tRue", "YES", "Off", "1", "0", "'true'", "\"yes\"", "null", "~", "", "''", "[]", "{}", "!!bool 'no'", "!!str true", "1.0", "t"]
WINDOWS = ["4m", "90s", "'1h30m'", "0", "5", "5ms", "1d", "1w", "1y", "1.5m", "-1m", "4m ", "m", "1m1h", "1h 1m", "null", "~", "", "''", "99999999999h", "1_0m", "007s", "!!str 5m", "[4m]", "4M", "0s", "00", "1h0m", "300y", "292y", "NULL", "Null"]


def _written(draw: Draw, text: str, indent: str) -> str:
    """A string as a scalar of some style; not every one of them can hold it."""
    style = draw.randrange(9)
    if style == 0:
        return text
    if style == 1:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
    if style in (2, 3):
        head = draw.choice(("|", "|-", "|+", ">", ">-", ">+", "|2", ">1-", "|-2", "| # c"))
        return head + "\n" + "\n".join(indent + "  " + draw.choice(("", "", " ")) + line for line in text.split("\n"))
    if style == 4:
        return draw.choice(("!!str ", "&anchor ", "! ", "!<tag:yaml.org,2002:str> ", "&a !!str ")) + "'" + text.replace("'", "''") + "'"
    if style == 5:
        return '"' + "".join(draw.choice((c, f"\\x{ord(c):02x}", f"\\u{ord(c):04x}")) if c.isalnum() and ord(c) < 256 else c for c in text) + '"'
    if style == 6:
        return text.replace(" ", "\n" + indent + "   ")
    return "'" + text.replace("'", "''").replace("\n", "\n\n" + indent) + "'"


def _value(draw: Draw, good: str, indent: str) -> str:
    if draw.often(0.04):
        return draw.choice(WORDS)
    return _written(draw, draw.choice(STRINGS) if draw.often(0.06) else good, indent)


def _rule(draw: Draw, number: int, series: str) -> str:
    name = f"{series}{number}"
    lines = [f"seriesQuery: {_value(draw, name, '  ')}", f"metricsQuery: {_value(draw, '<<.Series>>{<<.LabelMatchers>>}', '  ')}"]
    usual = "{ns: {resource: namespace}, po: {resource: pod}}"
    overrides = usual if draw.often(0.75) else draw.choice((usual, "\n      ns:\n        resource: namespace\n      po: {resource: \"pod\", group: }",
                             "{ns: {resource: namespace}, 5: {resource: pod}}", "{? ns : {resource: namespace}}", "{ns: {resource: namespace}, true: {resource: pod}}",
                             "{ns: &n {resource: namespace}, po: {<<: *n, resource: pod}}", "\n      ? ns\n      : resource: namespace\n      \"po\": {resource: pod,}", "null", "{}", "[]",
                             "{ns: {resource: namespace}, ns: {resource: pod}}", "{~: {resource: pod}}", "{1.5: {resource: pod}}", "{[a]: {resource: pod}}", "{ns: namespace}", "{ns: {resource: namespace, extra: 1}}", "{0x10: {resource: pod}}",
                             "{!!str ns: {resource: pod}}", "{<<: {ns: {resource: namespace}}, po: {resource: pod}}", "{<<: [{ns: {resource: namespace}}, {ns: {resource: pod}}]}", "{yes: {resource: pod}}", "{'<<': {resource: pod}}"))
    if draw.often(0.9):
        lines.append("resources:\n    overrides: " + overrides + (f"\n    namespaced: {draw.choice(BOOLEANS)}" if draw.often(0.15) else ""))
    if draw.often(0.25):
        lines.append("name: " + draw.choice(("{as: fixed}", "{matches: ^(.*)$, as: x_$1}", "{matches: '^s', as: \"${0}_a\"}", "{as: 5}", "{as: }", "", "null", "{matches: null, as: true}", "[]", "x", "{As: x}", "{matches: \"\\\\d\", as: n}",
                                             "{as: 1.50}", "{as: 0x10}", "{as: 1_000}", "{as: yes}", "{as: 2001-01-01}", "{as: .inf}", "{as: !!int 07}", "{as: !!float 1}", "{as: !!binary aGk=}", "{as: 1e3}", "{as: ~}", "{as: [x]}")))
    if draw.often(0.2):
        lines.append("seriesFilters: " + draw.choice(("[]", "[{is: s}]", "[{isNot: '^x'}]", "\n  - is: s\n  - isNot: x", "\n    - {is: 5}", "null", "{is: s}", "[null]", "[{}]", "[{is: s, isNot: ''}]", "[[]]", "[{is: [a-z]}]", "[{is: '['}]", "[s]", "[{is: .*, }, ]")))
    if draw.often(0.06):
        lines.append(draw.choice(("unknown: 1", "seriesQuery: again", "SeriesQuery: x", "? x", "<<: {name: {as: merged}}", "<<: [{name: {as: m1}}, {name: {as: m2}}]", "<<: 5", "!!str name: {as: y}", "name : {as: z}", "\"name\": {as: q}", "metricsquery: x",
                                  "<<: null", "<<: *base", "? [a]\n  : b", "5: x", "null: x", "# only a comment", "resources: *anchor")))
    draw.shuffle(lines)
    return "- " + "\n  ".join(lines)


def text_of(seed: int) -> str:
    draw = Draw(f"text {seed}")
    parts = ["rules:\n" + "\n".join(_rule(draw, i, "s") for i in range(draw.randint(1, 2)))]
    if draw.often(0.5):
        parts.append("externalRules:\n" + "\n".join(_rule(draw, i, "e") for i in range(draw.randint(1, 2))))
    if draw.often(0.2):
        parts.append("resourceRules: " + draw.choice(("null", "{}", "~", "", "[]", "x", "{cpu: {}, memory: {}}", "{cpu: null}", "{window: 5m, cpu: {containerLabel: c}}", "{cpu: {containerQuery: 5, nodeQuery: yes}}", "{Window: 5m}", "!!null x", "NULL", "Null")) if draw.often(0.5)
                     else f"resourceRules:\n  window: {draw.choice(WINDOWS)}")
    if draw.often(0.05):
        parts.append(draw.choice(("unknown: 1", "rules: []", "? externalRules\n: []", "<<: {externalRules: []}", "externalRules: {}", "externalRules: null", "...", "---\nrules: x", "--- # next", "\trules: []", "!!str rules2: []")))
    draw.shuffle(parts)
    text = "\n".join(parts) + draw.choice(("\n", "", "\n\n", "\n# end", "\n...\n", "\n---\n", "\n...\ngarbage: [", "  \n"))
    head = draw.random()
    if head < 0.3:
        text = draw.choice(("---\n", "%YAML 1.1\n---\n", "%YAML 1.2\n---\n", "\ufeff", "# c\n", "--- # c\n", "%TAG ! tag:x,2000:\n---\n", "--- !!map\n", "\n\n", "%YAML 2.0\n---\n", "%FOO bar\n---\n", "--- &all\n", " ")) + text
    tail = draw.random()
    if tail < 0.06:
        at = draw.randrange(len(text))
        text = text[:at] + draw.choice(("\t", "\r\n", "\u0085", "\u2028", "\x00", "\x07", "\ufeff", "'", "\"", ": ", "\n", "  ", "#", " #", ",", "}", "\u00a0", "\ud7ff", "\U0001f642", "\x7f", "-", "*", "&")) + text[at + draw.randint(0, 2):]
    if 0.1 < tail < 0.15:
        text = text.replace("\n", "\r\n")
    if 0.15 < tail < 0.17:
        text = text.replace("\n", "\r")
    return text

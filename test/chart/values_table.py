#!/usr/bin/env python3
"""The table of values in charts/flyball/README.md, made of values.yaml and its comments.

  test/chart/values_table.py           says whether the table is as it should be
  test/chart/values_table.py --write   makes it so
"""

import json
import pathlib
import sys

import yaml

CHART = pathlib.Path(__file__).resolve().parents[2] / "charts" / "flyball"
START, END = "<!-- values: made by test/chart/values_table.py --write -->\n", "<!-- end of values -->\n"
MAX_DEFAULT = 60  # characters of a default that are shown


def _comment_above(lines: list, number: int) -> str:
    """The comment lines that end right above line `number` (counted from 0)."""
    found = []
    while number > 0 and lines[number - 1].strip().startswith("#"):
        number -= 1
        found.insert(0, lines[number].strip().lstrip("# "))
    return " ".join(found)


def _rows(node, schema: dict, lines: list, path: str, default):
    for key, value in node.value:
        name = f"{path}.{key.value}" if path else key.value
        part = schema["properties"][key.value]
        comment = _comment_above(lines, key.start_mark.line)
        if part.get("properties"):
            if comment:
                yield name, None, comment
            yield from _rows(value, part, lines, name, default[key.value])
        else:
            yield name, default[key.value], comment


def table() -> str:
    text = (CHART / "values.yaml").read_text()
    schema = json.loads((CHART / "values.schema.json").read_text())
    for name, part in schema["properties"].items():
        if "$ref" in part:
            schema["properties"][name] = schema["$defs"][part["$ref"].rpartition("/")[2]]
    lines = ["| value | default | |", "|---|---|---|"]
    for name, default, comment in _rows(yaml.compose(text), schema, text.splitlines(), "", yaml.safe_load(text)):
        shown = "" if default is None and comment and name not in ("rules.existing",) else f"`{json.dumps(default, ensure_ascii=False)}`"
        if len(shown) > MAX_DEFAULT:
            shown = "see values.yaml"
        lines.append(f"| `{name}` | {shown} | {comment.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def readme_as_it_should_be() -> str:
    head, rest = (CHART / "README.md").read_text().split(START)
    return head + START + table() + END + rest.split(END)[1]


def main() -> int:
    wanted, readme = readme_as_it_should_be(), CHART / "README.md"
    if "--write" in sys.argv:
        readme.write_text(wanted)
    elif wanted != readme.read_text():
        print("charts/flyball/README.md: the table of values is not that of values.yaml: test/chart/values_table.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The pages of docs/ as a test sees them: sections with the shell blocks that are meant to be run.

A block ```sh is run; ```console is for the eye alone (it needs what a test has not: a node, the internet). A block ```text that follows one
is what that prints: any number stands for a number, … for anything.
"""

import re
from dataclasses import dataclass

from harness import paths

DOCS = paths.PROJECT / "docs"
_BLOCK = re.compile(r"^(?P<indent> *)```(?P<kind>\w+)\n(?P<text>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    section: str
    kind: str
    text: str


def blocks(page: str) -> list:
    """All code blocks of a page, in order."""
    found = []
    for section in re.split(r"^(?=## )", (DOCS / page).read_text(), flags=re.MULTILINE):
        title = section.splitlines()[0].lstrip("# ") if section else ""
        for match in _BLOCK.finditer(section):
            text = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
            found.append(Block(title, match["kind"], text))
    return found


def shown(page: str) -> list:
    """The blocks to run, each with the text that it is said to print, or with none."""
    found = []
    for block in blocks(page):
        if block.kind == "sh":
            found.append((block.text, ""))
        elif block.kind == "text":
            found[-1] = (found[-1][0], block.text)
    return found


def pattern(text: str) -> re.Pattern:
    """What an output has to match that is shown so: times and figures may differ, and so may how wide the columns are."""
    forms = {"any": (r"…", r".*"), "line": (r"\n", r"\s*\n"), "gap": (r" +", r"\s+"), "age": (r"\b\d+[smh]\b", r"(\d+[smhd]?)+"),
             "number": (r"\b\d+\b", r"\d+m?"), "other": (r".", None)}
    words = re.compile("|".join(f"(?P<{name}>{form})" for name, (form, _) in forms.items()))
    return re.compile(words.sub(lambda m: forms[m.lastgroup][1] or re.escape(m[0]), text), re.DOTALL)


def shell(page: str, section: str = "") -> list:
    """The texts of the blocks to run, of the sections whose title begins so."""
    return [b.text for b in blocks(page) if b.kind == "sh" and b.section.startswith(section)]

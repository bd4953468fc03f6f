"""The pages of docs/ as a test sees them: sections with the shell blocks that are meant to be run.

A block ```sh is run; ```console is for the eye alone (it needs what a test has not: a node, the internet).
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


def shell(page: str, section: str = "") -> list:
    """The texts of the blocks to run, of the sections whose title begins so."""
    return [b.text for b in blocks(page) if b.kind == "sh" and b.section.startswith(section)]

#!/usr/bin/env python3
"""Files that stand in the documentation: a code block after `<!-- file: PATH -->` is that file.

  test/docs/embedded.py           says which blocks are not as their file
  test/docs/embedded.py --write   makes them so
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"<!-- file: (?P<path>\S+) -->\n```(?P<kind>\w*)\n(?P<text>.*?)```\n", re.DOTALL)


def as_it_should_be(page: str) -> str:
    return _BLOCK.sub(lambda m: f"<!-- file: {m['path']} -->\n```{m['kind']}\n{(ROOT / m['path']).read_text()}```\n", page)


def main() -> int:
    wrong = 0
    for page in sorted((ROOT / "docs").glob("*.md")):
        wanted = as_it_should_be(page.read_text())
        if wanted == page.read_text():
            continue
        if "--write" in sys.argv:
            page.write_text(wanted)
        else:
            print(f"{page.relative_to(ROOT)}: a block is not as its file: test/docs/embedded.py --write")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())

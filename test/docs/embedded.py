#!/usr/bin/env python3
"""Files that stand in the documentation: a code block after `<!-- file: PATH -->` is that file.

  test/docs/embedded.py           says which blocks are not as their file
  test/docs/embedded.py --write   makes them so
"""

import re
import sys

from made_pages import ROOT, check_or_write

_BLOCK = re.compile(r"<!-- file: (?P<path>\S+) -->\n```(?P<kind>\w*)\n(?P<text>.*?)```\n", re.DOTALL)


def as_it_should_be(page: str) -> str:
    return _BLOCK.sub(lambda m: f"<!-- file: {m['path']} -->\n```{m['kind']}\n{(ROOT / m['path']).read_text()}```\n", page)


def main() -> int:
    return check_or_write(sorted((ROOT / "docs").glob("*.md")), as_it_should_be,
                          "a block is not as its file: test/docs/embedded.py --write")


if __name__ == "__main__":
    sys.exit(main())

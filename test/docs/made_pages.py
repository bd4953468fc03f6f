"""What the pages say that is made from something else, kept as it should be."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check_or_write(pages, as_it_should_be, complaint: str) -> int:
    """With --write on the command line makes each page what `as_it_should_be` makes of it, else names those that are not. The
    exit status."""
    wrong = 0
    for page in pages:
        text = page.read_text()
        wanted = as_it_should_be(text)
        if wanted == text:
            continue
        if "--write" in sys.argv:
            page.write_text(wanted)
        else:
            print(f"{page.relative_to(ROOT)}: {complaint}")
            wrong = 1
    return wrong

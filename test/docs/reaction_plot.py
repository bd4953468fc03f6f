#!/usr/bin/env python3
"""docs/images/reaction.svg: how long each load step of the last `./dev bench scaler-loop` took until the scale was written.

  test/docs/reaction_plot.py           says whether the picture is that of test/bench/results/scaler_loop.json
  test/docs/reaction_plot.py --write   makes it so
"""

import json
import sys

from made_pages import ROOT, check_or_write

PICTURE = ROOT / "docs" / "images" / "reaction.svg"
ROWS = (("stock", "HPA controller", "asks each 15 s", "#8a96a3"), ("cadence", "Flyball", "asks each 500 ms", "#f5a524"),
        ("sample", "Flyball", "asks at each sample", "#f5a524"))
LEFT, WIDTH, ROW, TOP, SECONDS = 170, 560, 56, 52, 15


def x(seconds: float) -> float:
    return round(LEFT + seconds / SECONDS * WIDTH, 1)


def row(number: int, name: str, how: str, colour: str, found: dict) -> list:
    """The dots of one measurement, spread over the height of its row in the order in which they were taken, and their median."""
    middle, count = TOP + number * ROW + ROW // 2, len(found["all"])
    lines = [f'<text x="{LEFT - 14}" y="{middle - 2}" text-anchor="end" class="name">{name}</text>',
             f'<text x="{LEFT - 14}" y="{middle + 14}" text-anchor="end" class="small">{how}</text>']
    lines += [f'<circle cx="{x(seconds)}" cy="{round(middle - 16 + 32 * n / max(count - 1, 1), 1)}" r="3" fill="{colour}" fill-opacity="0.7"/>'
              for n, seconds in enumerate(found["all"])]
    median = found["median"]
    words = f'median {median:.1f} s of {count} steps'
    after = median < SECONDS / 2
    return lines + [f'<path d="M{x(median)} {middle - 20}v40" class="median"/>',
                    f'<text x="{x(median) + (28 if after else -58)}" y="{middle + 4}" text-anchor="{"start" if after else "end"}" class="small">{words}</text>']


def picture() -> str:
    measured = json.loads((ROOT / "test" / "bench" / "results" / "scaler_loop.json").read_text())["parts"]["reaction"]["measured"]
    bottom = TOP + len(ROWS) * ROW
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 30} {bottom + 52}" role="img" '
             'aria-label="Seconds from a load step to the written scale">',
             "<style>text{font-family:system-ui,sans-serif;fill:#3b4752}.title{font-size:16px;font-weight:600}.name{font-size:14px;font-weight:600}"
             ".small{font-size:12px}.grid{stroke:#c9d1d9;stroke-width:1}.median{stroke:#14324a;stroke-width:2}</style>",
             f'<rect width="{LEFT + WIDTH + 30}" height="{bottom + 52}" fill="#ffffff"/>',
             '<text x="16" y="28" class="title">From a load step to the written scale (metrics scraped each second)</text>']
    for seconds in range(0, SECONDS + 1, 5):
        lines += [f'<path d="M{x(seconds)} {TOP - 4}V{bottom}" class="grid"/>',
                  f'<text x="{x(seconds)}" y="{bottom + 18}" text-anchor="middle" class="small">{seconds} s</text>']
    for number, (key, name, how, colour) in enumerate(ROWS):
        lines += row(number, name, how, colour, measured[key])
    lines.append(f'<text x="16" y="{bottom + 40}" class="small">Each dot is one step. Made from test/bench/results/scaler_loop.json by '
                 "test/docs/reaction_plot.py.</text>")
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> int:
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.touch()
    return check_or_write([PICTURE], lambda _: picture(), "is not as test/bench/results: test/docs/reaction_plot.py --write")


if __name__ == "__main__":
    sys.exit(main())

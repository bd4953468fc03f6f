"""What the tests of the front are built from."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))  # where the package machine is

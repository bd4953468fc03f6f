"""What the end-to-end suites and the adapter benchmark are built from: one idea to a module, standard library only."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))  # where the package machine is

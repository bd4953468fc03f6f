"""What a test needs, and not every machine has."""

import os
import typing
import unittest


def missing(what: str) -> typing.NoReturn:
    """Ends the test as skipped, and says why; with CI=true, where all is to be tested, as failed."""
    if os.environ.get("CI") == "true":
        raise AssertionError(what)
    raise unittest.SkipTest(f"!!! {what}")

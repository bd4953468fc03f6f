"""Waiting for a state instead of for a time."""

import time


class Never(AssertionError):
    """What was waited for did not happen in time."""


def until(check, what: str, timeout: float = 30.0, every: float = 0.05):
    """Calls `check` until it returns something true and returns that; its exceptions count as "not yet"
    (but SystemError, the end of a process, ends the wait).

    The last answer or exception is part of the failure, so that a log says what was seen instead.
    """
    deadline = time.monotonic() + timeout
    seen = None
    while True:
        try:
            seen = check()
            if seen:
                return seen
        except SystemError:
            raise  # a process that it needs has ended: waiting longer is no use
        except Exception as error:  # pylint: disable=broad-except
            seen = f"{type(error).__name__}: {error}"
        if time.monotonic() >= deadline:
            raise Never(f"{what}: not within {timeout:g} s; last seen: {str(seen)[:2000]}")
        time.sleep(every)

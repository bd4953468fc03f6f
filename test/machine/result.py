"""What the runners of suites print of each test."""

import time
import unittest


class Result(unittest.TextTestResult):
    """One line a test with its time; after a failure the ends of the logs of what took part."""

    _started = time.monotonic()  # of a class that can't be set up there is no other

    def startTest(self, test):  # pylint: disable=invalid-name
        self._started = time.monotonic()
        unittest.TestResult.startTest(self, test)

    def _line(self, word, test, more=""):
        self.stream.writeln(f"{word:5} {test.id()} ({time.monotonic() - self._started:.1f} s){more}")
        self.stream.flush()

    def addSuccess(self, test):  # pylint: disable=invalid-name
        self._line("ok", test)

    def addSkip(self, test, reason):  # pylint: disable=invalid-name
        unittest.TestResult.addSkip(self, test, reason)
        self._line("skip", test, ": " + reason)

    def _failed(self, word, test):
        self._line(word, test)
        if hasattr(test, "evidence"):
            self.stream.writeln(test.evidence())

    def addFailure(self, test, err):  # pylint: disable=invalid-name
        unittest.TestResult.addFailure(self, test, err)
        self._failed("FAIL", test)

    def addError(self, test, err):  # pylint: disable=invalid-name
        unittest.TestResult.addError(self, test, err)
        self._failed("ERROR", test)

    def addSubTest(self, test, subtest, err):  # pylint: disable=invalid-name
        unittest.TestResult.addSubTest(self, test, subtest, err)
        if err is not None:
            self.stream.writeln(f"FAIL  {subtest.id()} {subtest._subDescription()}")  # pylint: disable=protected-access

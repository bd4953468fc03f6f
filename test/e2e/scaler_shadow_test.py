"""Shadow: beside the stock HPA controller, deciding the same and writing nothing."""

from harness.case import differs
from harness.shadowing import Shadowing


@differs("it has no shadow")
class Shadow(Shadowing):
    """In the usual cluster."""

    def test_decides_as_the_stock_controller(self):
        self.check_equal_decisions()

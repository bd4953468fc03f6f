"""What the differential suite asks: one module for each subject, each with its CASES."""

from . import (documents, external, failures, naming, odd, requests, resource_metrics, selectors, stock_rules, templates,
               transport, values, worked_examples)

ALL = [case for module in (worked_examples, selectors, external, values, resource_metrics, naming, templates,
                           stock_rules, documents, requests, failures, transport, odd) for case in module.CASES]

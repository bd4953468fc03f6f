"""The parts of test/bench/adapter.py: the world that is measured, the measuring, the requirements and the report."""

"""The parts of test/bench/scaler_loop.py: crowds of objects, each measurement, the requirements and the report."""

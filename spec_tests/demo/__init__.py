"""The demonstration: three image pipelines in plain NumPy, compiled, checked and timed.

Run it with `stax demo`, `scripts/demo` or `python -m spec_tests.demo`. Read `pipelines.py`
first: it is what a user writes. `run.py` judges; `photo.py` and `page.py` read and write pictures.
"""

"""The demonstration: three image pipelines in plain NumPy, compiled, checked and timed.

Run it with `stax demo`, `scripts/demo` or `python -m spec_tests.demo`. Read `pipelines.py`
first: it is what a user writes. `run.py` judges, `bound.py` derives the error that is allowed
against plain NumPy, `photo.py` and `page.py` read and write pictures.
"""

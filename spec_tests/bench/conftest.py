"""The marker ``bench``: deselected unless ``-m`` names it.

takes: pytest's options
gives: the marker; no test of this folder in an ordinary run
holds: nothing
not here: the measurements
"""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("pytest_benchmark") else ["test_bench.py"]


def pytest_configure(config):
    config.addinivalue_line("markers", "bench: measures; run with `-m bench`")


def pytest_collection_modifyitems(config, items):
    if "bench" in config.option.markexpr:
        return
    measured = [item for item in items if item.get_closest_marker("bench")]
    items[:] = [item for item in items if item not in measured]
    config.hook.pytest_deselected(items=measured)

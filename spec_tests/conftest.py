"""What all tests share: the option that rewrites expected texts, and a kernel cache of their own.

takes: pytest's options
gives: ``--update-golden`` and the fixture ``update_golden``
holds: no test reads or fills the user's kernel cache, in this process or in one it starts
not here: fixtures of one group (the conftest of its folder)
"""

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the expected texts of spec_tests/golden instead of comparing with them",
    )


@pytest.fixture
def update_golden(request) -> bool:
    """True when expected texts are to be written."""
    return request.config.getoption("--update-golden")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Compiled kernels of this session go to a directory of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STAX_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        yield

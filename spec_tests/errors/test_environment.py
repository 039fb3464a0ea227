"""Nonsense in environment variables: said at the first use, with the choices."""

import os
import subprocess
import sys

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats


def test_show(monkeypatch):
    monkeypatch.setenv("STAX_SHOW", "fuse,fused")
    with pytest.raises(stax.ConfigError) as caught:
        stax.jit(lambda x: x + 1, backend="c")(floats(3))
    assert "STAX_SHOW='fused' is not a stage" in str(caught.value)
    assert "instead: some of trace, lower, depend, fuse," in str(caught.value)


@pytest.mark.parametrize("value", ["4", "-1", "full"])
def test_check(value, monkeypatch):
    monkeypatch.setenv("STAX_CHECK", value)
    with pytest.raises(stax.ConfigError) as caught:
        stax.jit(lambda x: x + 1, backend="ref")(floats(3))
    assert f"STAX_CHECK={value!r} is not a level" in str(caught.value)
    assert "instead: 0, 1, 2 or 3" in str(caught.value)


def test_backend(monkeypatch):
    monkeypatch.setenv("STAX_BACKEND", "no such")
    with pytest.raises(stax.ConfigError, match="backend='no such' is not a choice"):
        stax.jit(lambda x: x + 1)(floats(3))


def test_dump_into_a_file(tmp_path, monkeypatch):
    path = tmp_path / "taken"
    path.write_text("")
    monkeypatch.setenv("STAX_DUMP", str(path))
    with pytest.warns(RuntimeWarning, match="STAX_DUMP=.*taken"):
        result = stax.jit(lambda x: x + 1, backend="c")(floats(3))
    assert np.array_equal(result, floats(3) + 1)


ISA = """
import numpy as np, stax_ref as stax
stax.jit(lambda x: x + 1, backend="c")(np.ones(3))
"""


def test_isa(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", ISA],
        env={**os.environ, "STAX_ISA": "sse9", "STAX_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    last = done.stderr[done.stderr.index("ConfigError") :]
    assert "STAX_ISA" in last
    assert "sse9" in last
    for level in ("avx512", "avx2", "scalar"):
        assert level in last

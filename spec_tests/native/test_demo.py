"""The demonstration, run for real and run broken.

takes: the photograph and the C backend
gives: a failure when the demonstration does not pass, or passes with a wrong kernel
holds: pictures go to a temporary folder
not here: the rules of its stated error (spec_tests/spec/test_rounding.py)
"""

from pathlib import Path

import numpy as np
import pytest

from spec_tests.demo import photo, run
from spec_tests.demo.pipelines import PIPELINES


def test_the_demonstration_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    status = run.main(["--out", str(tmp_path)])
    text = capsys.readouterr().out
    assert status == 0, text
    assert text.endswith("demo: OK\n")
    assert text.count("C and oracle: equal bits") == len(PIPELINES)

    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    names = ["input", *(f"{p.name}_{kind}" for p in PIPELINES for kind in ("result", "difference"))]
    for name in names:
        assert photo.load(tmp_path / f"{name}.png").ndim == 3
    assert page.count("data:image/png;base64,") >= len(names)
    assert "http" not in page  # it needs no network


def test_a_wrong_kernel_is_found_by_its_bits(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    status = run.main(["--break", "--out", str(tmp_path)])
    text = capsys.readouterr().out
    assert status == 1
    assert "demo: OK" not in text
    for pipeline in PIPELINES:
        assert f"demo: FAILED: {pipeline.name}: C differs from the oracle" in text


def test_breaking_needs_something_to_break():
    with pytest.raises(ValueError, match="no subtraction"):
        run.swap_an_operator("int stax_launch_0_serial(void *const *buffers);")


def test_bits_are_counted_with_nan_as_one_class():
    left = np.float32([0.0, -0.0, np.nan, 1.0, np.nan])
    other_nan = (left.view(np.uint32) ^ np.uint32(1)).view(np.float32)
    right = np.float32([0.0, 0.0, other_nan[2], np.nan, 2.0])
    assert run.count_unequal(left, right) == 3
    assert run.count_unequal(left, left) == 0
    assert run.count_unequal(left, left.astype(np.float64)) == 5


def test_a_nan_or_an_infinity_is_not_within_any_error():
    plain, bound = np.float32([1.0, np.nan, 1.0, np.inf]), np.full(4, 0.5)
    assert run.count_beyond(np.float32([1.25, np.nan, 1.0, np.inf]), plain, bound) == 0
    assert run.count_beyond(np.float32([np.nan, 1.0, 1.75, 1.0]), plain, bound) == 4
    assert run.count_beyond(plain.astype(np.float64), plain, bound) == 4

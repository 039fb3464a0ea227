"""The chart's points lie where their numbers say, its labels do not overlap, text is escaped."""

import itertools
import xml.etree.ElementTree as ElementTree

import pytest

from spec_tests.bench.chart import line_chart, line_chart_text, spread

SVG = "{http://www.w3.org/2000/svg}"


def test_equal_ratios_are_equal_distances():
    text = line_chart_text({"a": [(1, 1), (10, 10), (100, 100)]}, "t", "x", "y")
    dots = ElementTree.fromstring(text).findall(f"{SVG}circle")
    xs = [float(dot.get("cx")) for dot in dots]
    ys = [float(dot.get("cy")) for dot in dots]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2], abs=0.2)
    assert xs[0] < xs[1]
    assert ys[0] > ys[1]


def test_names_of_lines_with_one_end_do_not_overlap():
    heights = spread([50, 50, 50, 300, 301], 17, 0, 310)
    ordered = sorted(heights)
    assert all(b - a >= 17 for a, b in itertools.pairwise(ordered))
    assert ordered[0] >= 0
    assert ordered[-1] <= 310


def test_text_is_escaped_and_the_file_is_written(tmp_path):
    path = tmp_path / "chart.svg"
    line_chart({"a<b": [(1, 2), (3, 4)]}, "time & <nodes>", "n", "s", path)
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    texts = [entry.text for entry in root.iter(f"{SVG}text")]
    assert "a<b" in texts
    assert "time & <nodes>" in texts


@pytest.mark.parametrize("points", [[], [(0, 1)], [(1, -1)], [(1, float("inf"))]])
def test_points_without_a_logarithm_are_refused(points):
    with pytest.raises(ValueError, match=r"points|logarithmic"):
        line_chart_text({"a": points}, "t", "x", "y")

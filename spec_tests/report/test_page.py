"""The page: everything a program consists of is on it, escaped, the same each time, by itself.

takes: pages of small functions and of large programs
gives: their elements, read by Python's own parser of HTML
holds: what was measured is the only difference between two pages of one function
not here: how a browser shows it (test_browser.py), the layout (test_layout.py)
"""

import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.report.programs import large, overwriting
from stax_ref.__main__ import main
from stax_ref.memory import Slot
from stax_ref.page import drawing, timeline
from stax_ref.page.document import Facts, page
from stax_ref.page.markup import element, label, size_text
from stax_ref.page.measure import Times, measure, time_text

X = np.random.default_rng(0).random((64, 128), np.float32)
VOID = {"meta"}


class Reader(HTMLParser):
    """Elements with their attributes, texts, and a failure where tags do not nest."""

    def __init__(self):
        super().__init__()
        self.elements = []
        self.texts = []
        self._open = []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(self.texts)

    def classes(self, word):
        return [a for _, a in self.elements if word in (a.get("class") or "").split()]


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader._open
    return reader


def mixed(x):
    """Kernels, a "call" & <markup>."""
    a = np.exp(x - np.max(x, axis=-1, keepdims=True))
    b = np.sort(a, axis=0)
    return b[::-1] + 1, np.sum(b, axis=0), a.T @ b


@pytest.fixture(scope="module")
def mixed_page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "mixed.html"
    function = stax.jit(mixed)
    assert function.report(str(path), X) == str(path)
    return function.lower(X).program, path.read_text(encoding="utf-8")


def without_times(text):
    """The page without what was measured."""
    text = re.sub(r'<p class="time">.*?</p>', "", text, flags=re.DOTALL)
    return re.sub(r'<table class="time">.*?</table>', "", text, flags=re.DOTALL)


def test_every_section_is_there_and_linked(mixed_page):
    reader = read(mixed_page[1])
    titles = "graph kernels decisions order memory source stages generated-code timings".split()
    assert [a["id"] for tag, a in reader.elements if tag == "section"] == titles
    assert [a["href"] for tag, a in reader.elements if tag == "a"] == [f"#{t}" for t in titles]


def test_every_node_kernel_decision_and_line_is_there(mixed_page):
    program, text = mixed_page
    reader = read(text)
    nodes = len(program.lowered.nodes)
    assert len(reader.classes("stripe")) == 2 * nodes
    assert len(reader.classes("kernel")) == len(program.plan.steps)
    words = reader.text
    for decision in program.groups.decisions:
        assert decision.reason in words
    assert {"fuse", "keep apart"} <= set(reader.texts)
    assert "    b = np.sort(a, axis=0)" in reader.texts
    assert "static inline" in words
    for step in program.plan.steps:
        assert step.name in reader.texts


def test_buffers_are_drawn_in_the_colour_of_their_storage(mixed_page):
    program, text = mixed_page
    reader = read(text)
    for kind in {slot.kind for slot in program.plan.slots}:
        buffers = sum(slot.kind == kind for slot in program.plan.slots)
        drawn = [a for a in reader.classes(kind) if "chip" in a["class"]]
        assert len(drawn) >= 2 * buffers, kind


def test_nothing_outside_the_page_is_referred_to(mixed_page):
    text = mixed_page[1]
    for _, attributes in read(text).elements:
        assert not {"src", "xlink:href", "data", "action", "srcset", "style"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")
        assert not any(key.startswith("on") for key in attributes)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    assert not re.search(r"url\(|@import|//", style)
    assert "<script" not in text
    assert not re.search(r"https?:", text)


def test_what_the_user_wrote_is_escaped(mixed_page):
    text = mixed_page[1]
    assert "&lt;markup&gt;" in text
    assert "<markup>" not in text
    assert '    """Kernels, a "call" & <markup>."""' in read(text).texts


def test_markup_escapes_contents_and_attributes():
    made = element("p", "a<b", element("b", "&"), title='"<x>"', class_=None)
    assert made == '<p title="&quot;&lt;x&gt;&quot;">a&lt;b<b>&amp;</b></p>'
    assert "&lt;script&gt;" in label(1, 2, "<script>")


def test_two_pages_differ_only_in_times(tmp_path, mixed_page):
    path = tmp_path / "again.html"
    stax.jit(mixed).report(str(path), X)
    again = path.read_text(encoding="utf-8")
    assert without_times(again) == without_times(mixed_page[1])
    assert "µs" not in without_times(again)
    assert "µs" in again or "ms" in again


def test_a_page_does_not_depend_on_the_hash_seed(tmp_path):
    (tmp_path / "rows.py").write_text(
        "import numpy as np\n"
        "def f(x):\n"
        "    a = np.exp(x)\n"
        "    return a / a.sum(-1, keepdims=True), np.sort(a)[::-1] - a\n"
    )
    pages = []
    for seed in ("1", "2"):
        out = tmp_path / f"{seed}.html"
        subprocess.run(
            [sys.executable, "-m", "stax_ref", "report", "rows.py:f", "--args", "f32[8,9]"]
            + ["--out", str(out)],
            cwd=tmp_path,
            check=True,
            env={**dict(__import__("os").environ), "PYTHONHASHSEED": seed},
        )
        pages.append(without_times(out.read_text(encoding="utf-8")))
    assert pages[0] == pages[1]


def test_a_function_that_writes_leaves_its_arguments_alone(tmp_path):
    def bump(x):
        x[1:] += 1
        return x.sum()

    x = np.zeros(5)
    stax.jit(bump).report(str(tmp_path / "bump.html"), x)
    assert not x.any()


def test_a_donated_array_is_refused(tmp_path):
    with pytest.raises(stax.ConfigError, match="calls the function many times"):
        stax.jit(mixed).report(str(tmp_path / "no.html"), stax.donate(X.copy()))
    assert not (tmp_path / "no.html").exists()


def test_the_interpreter_has_a_page_without_code(tmp_path):
    path = tmp_path / "ref.html"
    stax.jit(lambda x: x + 1, backend="ref").report(str(path), X)
    assert "nothing was generated" in path.read_text(encoding="utf-8")


def test_why_it_was_compiled_again_is_on_the_page(tmp_path):
    f = stax.jit(lambda x: x + 1)
    f(X)
    f(X[:3])
    f.report(str(tmp_path / "f.html"), X)
    text = read((tmp_path / "f.html").read_text(encoding="utf-8")).text
    assert "2: x has shape (3, 128) instead of (64, 128) in program 1" in text


# pictures -----------------------------------------------------------------------------------------
def facts(program):
    once = Times((1e-5, 2e-5, 3e-5))
    return Facts(program, "c", "int x;", (), "", 0, None, (), (), once, once)


@pytest.mark.parametrize("kind", ["chain", "one input", "ladder", "random"])
def test_two_hundred_nodes_are_drawn(kind):
    text = page(facts(large(kind, 200)))
    assert len(read(text).classes("stripe")) == 400


def test_texts_fit_their_boxes():
    """Every text of a node or buffer lies inside the rectangle drawn before it."""
    drawn = str(drawing.before(large("random", 40)))
    rects = re.findall(
        r'<rect x="([\d.]+)" y="[-\d.]+" width="([\d.]+)" [^>]*class="chip[^>]*>.*?</rect>\s*'
        r'<text x="([\d.]+)"[^>]*>(.*?)</text>',
        drawn,
    )
    assert len(rects) > 40
    for x, width, middle, words in rects:
        assert float(x) + 7 * len(words) < float(x) + float(width)
        assert float(middle) == pytest.approx(float(x) + float(width) / 2, abs=0.2)


def test_a_weak_dependence_is_dashed_before_and_after_fusion():
    program = overwriting()
    for drawn in (drawing.before(program), drawing.after(program)):
        wires = read(drawn).classes("wire")
        assert [wire["class"] for wire in wires].count("wire weak") == 1
        assert len(wires) > 2


def test_live_bytes_count_shared_bytes_once():
    slots = [
        Slot("a", "arena", 64, 0, 1, 0),
        Slot("b", "arena", 64, 1, 2, 0),
        Slot("c", "arena", 64, 1, 1, 128),
        Slot("d", "output", 100, 2, 3),
        Slot("e", "row", 512, 1, 1),
        Slot("f", "output", 100, 0, 3, takes="x", how="in place"),  # in an argument's memory
    ]
    assert timeline.live_bytes(slots, 3) == [64, 128, 164]


def test_the_peak_is_marked_where_most_bytes_live():
    program = large("random", 30)
    steps = len(program.plan.steps)
    live = timeline.live_bytes(timeline.stored(program), steps)
    text = str(timeline.lifetimes(program))
    assert f"peak {size_text(max(live))}" in text
    bars = [float(x) for x in re.findall(r'<rect x="([\d.]+)"[^>]*class="live"', text)]
    (band,) = [float(x) for x in re.findall(r'<rect x="([\d.]+)"[^>]*class="peak"', text)]
    assert bars[live.index(max(live))] == pytest.approx(band + 2, abs=0.2)


# numbers ------------------------------------------------------------------------------------------
def test_sizes_and_times_have_few_digits():
    assert [size_text(n) for n in (0, 256, 1024, 1536, 3 << 20)] == [
        "0 B",
        "256 B",
        "1 KiB",
        "1.5 KiB",
        "3 MiB",
    ]
    assert [time_text(s) for s in (2.5e-7, 1.234e-5, 0.0456, 1.5)] == [
        "0.25 µs",
        "12.3 µs",
        "45.6 ms",
        "1.50 s",
    ]


def test_the_median_lies_in_its_spread():
    times = measure(lambda: sum(range(1000)))
    low, high = times.spread
    assert len(times.seconds) >= 3
    assert 0 < low <= times.median <= high


def test_fresh_arguments_for_every_call():
    seen = []
    measure(seen.append, fresh=lambda: len(seen))
    assert seen == list(range(len(seen)))


# the command --------------------------------------------------------------------------------------
@pytest.fixture
def user_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "user.py"
    path.write_text('STAX_ARGS = {"twice": "f32[4]"}\n\ndef twice(x):\n    return x * 2\n')
    return path


def test_the_command_writes_the_page(user_file, capsys):
    assert main(["report", f"{user_file}:twice"]) == 0
    assert capsys.readouterr().out == "wrote twice.html\n"
    text = (user_file.parent / "twice.html").read_text(encoding="utf-8")
    assert "return x * 2" in text
    assert main(["report", f"{user_file}:twice", "--out", "p.html", "--args", "f64[3]"]) == 0
    assert "twice(x: f64[3])" in (user_file.parent / "p.html").read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_said(user_file, capsys):
    assert main(["report", f"{user_file}:twice", "--out", "no/such/folder.html"]) == 2
    assert "the page cannot be written" in capsys.readouterr().err

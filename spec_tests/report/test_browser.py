"""The page in a browser: headless Chromium shows it, in light and in dark, without a complaint.

takes: pages of a small function and of 200 nodes; the Debian package ``chromium``
gives: what the browser made of the elements, its messages, and pictures of the page
holds: where ``STAX_TEST_CHROMIUM=1`` is set (``.ci/run`` does), a missing browser is a failure;
    elsewhere it is a visible skip
not here: what is on the page (test_page.py)
"""

import os
import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image

import stax_ref as stax
from spec_tests.report.programs import large
from spec_tests.report.test_page import facts
from stax_ref.page.document import page

X = np.ones((64, 128), np.float32)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def browser():
    """The path of Chromium."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None and os.environ.get("STAX_TEST_CHROMIUM") == "1":
        pytest.fail("no Chromium, but STAX_TEST_CHROMIUM=1: apt-get install chromium")
    if found is None:
        pytest.skip("no Chromium: install the package chromium to see the page rendered")
    return found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Name → file: a page of a function and one of 200 nodes."""
    folder = tmp_path_factory.mktemp("pages")
    stax.jit(softmax).report(str(folder / "softmax.html"), X)
    (folder / "large.html").write_text(page(facts(large("random", 200))), encoding="utf-8")
    return {path.stem: path for path in folder.glob("*.html")}


def opened(browser, profile, path, *options):
    """Run Chromium on a page; what it printed, and its log."""
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        + ["--enable-logging=stderr", f"--user-data-dir={profile}", *options, path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["softmax", "large"])
def test_the_browser_reads_the_page_as_it_was_meant(browser, pages, tmp_path, name):
    dom = opened(browser, tmp_path, pages[name], "--dump-dom")
    given = pages[name].read_text(encoding="utf-8")
    for what in ("<svg", "<rect", "<path", "<table", "<section", "<details", "<pre"):
        assert dom.count(what) == given.count(what) > 0, what


@pytest.mark.parametrize("name", ["softmax", "large"])
def test_the_page_is_drawn_in_its_colours(browser, pages, tmp_path, name):
    shot = tmp_path / "shot.png"
    size = "--window-size=1200,2400"
    opened(browser, tmp_path / "p", pages[name], f"--screenshot={shot}", size)
    seen = colours(shot)
    for meant in ((252, 252, 251), (91, 134, 196), (31, 31, 29)):
        assert meant in seen, meant


def test_a_dark_screen_has_a_dark_page(browser, pages, tmp_path):
    shot = tmp_path / "shot.png"
    dark = "--blink-settings=preferredColorScheme=0"
    opened(browser, tmp_path / "p", pages["softmax"], f"--screenshot={shot}", dark)
    seen = colours(shot)
    assert (23, 23, 22) in seen
    assert (252, 252, 251) not in seen


def colours(path):
    """The colours of a picture that cover more than a few pixels."""
    with Image.open(path) as image:
        found = image.convert("RGB").getcolors(maxcolors=1 << 24)
    assert len(found) > 20, "the page is blank"
    return {colour for count, colour in found if count > 100}

"""Every stage of every kept program prints as it did; so does the C of every kept kernel.

takes: ``programs``
gives: a failure with a diff for every text that changed, is missing, or belongs to no program
holds: the C is printed for a named vector level, so no machine differs from another
not here: whether the texts are right (``stages``); rewrite them with ``--update-golden``
"""

from pathlib import Path

import pytest

import stax_ref as stax
from stax_c.emit import emit
from stax_ref.compile import TEXTS

from . import programs

FOLDER = Path(__file__).parent
STAGED = {**programs.DEFAULT, **programs.SEED}


def compare(path: Path, text: str, update: bool) -> None:
    """The text is the file's, or becomes it."""
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"there is no {path.name}: run pytest with --update-golden, read it"
    assert text == path.read_text(encoding="utf-8")


def staged(function, arguments, options):
    return stax.jit(function, **options).lower(*arguments)


@pytest.mark.parametrize("stage", TEXTS)
@pytest.mark.parametrize("name", STAGED)
def test_stage(name: str, stage: str, update_golden: bool):
    text = staged(*STAGED[name]).text(stage) + "\n"
    compare(FOLDER / stage / f"{name}.txt", text, update_golden)


@pytest.mark.parametrize("name", programs.C)
def test_c(name: str, update_golden: bool):
    *program, isa = programs.C[name]
    compare(FOLDER / "c" / f"{name}.c", emit(staged(*program).plan, isa).text, update_golden)


def test_no_text_is_without_its_program():
    expected = {FOLDER / stage / f"{name}.txt" for stage in TEXTS for name in STAGED}
    expected |= {FOLDER / "c" / f"{name}.c" for name in programs.C}
    found = {*FOLDER.glob("*/*.txt"), *FOLDER.glob("*/*.c")}
    assert found == expected


def test_no_text_holds_a_path_of_a_machine():
    for path in [*FOLDER.glob("*/*.txt"), *FOLDER.glob("*/*.c")]:
        assert str(FOLDER.parent) not in path.read_text(encoding="utf-8"), path


def test_a_changed_text_fails(tmp_path: Path):
    compare(tmp_path / "stage.txt", "one", update=True)
    compare(tmp_path / "stage.txt", "one", update=False)
    with pytest.raises(AssertionError):
        compare(tmp_path / "stage.txt", "two", update=False)


def test_a_missing_text_fails(tmp_path: Path):
    with pytest.raises(AssertionError, match="--update-golden"):
        compare(tmp_path / "stage.txt", "one", update=False)

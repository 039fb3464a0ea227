"""Reads the photograph and writes pictures.

takes: spec_tests/demo/coffee.png (its source and licence: SOURCE.md), or any picture file
gives: a float32 array (height, width, 3) with values 0..1, and back to PNG
holds: the pipelines never see integers: both conversions are here
not here: what the pictures mean (pipelines.py) and the page they stand on (page.py)
"""

import io
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.float32]

PHOTOGRAPH = Path(__file__).with_name("coffee.png")


def load(path: Path = PHOTOGRAPH) -> Image:
    """The picture at `path` as float32 (height, width, 3), values 0..1.

    Raises ImportError, with the command that helps, when Pillow is not installed, and what
    Pillow raises when the file is not a picture.
    """
    with _pillow().open(path) as picture:
        return np.asarray(picture.convert("RGB"), np.float32) / np.float32(255)


def png(image: Image) -> bytes:
    """An array (height, width, 3) of values 0..1 as a PNG file; values outside are clipped."""
    levels = np.rint(np.clip(np.nan_to_num(image), 0, 1) * 255).astype(np.uint8)
    file = io.BytesIO()
    _pillow().fromarray(levels).save(file, "PNG")
    return file.getvalue()


def _pillow() -> ModuleType:
    try:
        import PIL.Image
    except ImportError as missing:
        raise ImportError(
            "the demonstration reads pictures with Pillow: pip install 'stax-compiler[demo]'"
        ) from missing
    return PIL.Image

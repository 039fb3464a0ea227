"""Three image pipelines, as a NumPy user writes them.

takes: a float32 photograph of shape (height, width, 3), sRGB values in 0..1
gives: per pipeline one function, and how its result is shown as a picture
holds: plain NumPy only: nothing here knows that it will be compiled
not here: reading and writing pictures (photo.py), compiling, timing and judging (run.py)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.float32]

RADIUS = 4  # of every box filter: windows of 9 by 9 pixels


def box_filter(image: Image) -> Image:
    """Mean over the square window around every pixel that has a whole window.

    (h, w, 3) gives (h - 2·RADIUS, w - 2·RADIUS, 3): first along columns, then along rows.
    """
    size = 2 * RADIUS + 1
    height, width = image.shape[0] - 2 * RADIUS, image.shape[1] - 2 * RADIUS
    along_row = image[:, 0:width]
    for shift in range(1, size):
        along_row = along_row + image[:, shift : shift + width]
    window = along_row[0:height]
    for shift in range(1, size):
        window = window + along_row[shift : shift + height]
    return window / float(size * size)


def inner(image: Image) -> Image:
    """The pixels that `box_filter` keeps."""
    return image[RADIUS:-RADIUS, RADIUS:-RADIUS]


def local_contrast(image: Image) -> Image:
    """Local contrast normalisation: every pixel against its own neighbourhood.

    The deviation from the local mean is divided by the local standard deviation, or by half
    its average over the image where a region is flatter than that, so that noise in flat
    regions stays small. (h, w, 3) gives (h - 4·RADIUS, w - 4·RADIUS, 3), about -3..3.
    """
    deviation = inner(image) - box_filter(image)
    spread = np.sqrt(box_filter(deviation * deviation) + 1e-6)
    return inner(deviation) / np.maximum(spread, 0.5 * np.mean(spread))


LUMA_RED, LUMA_GREEN, LUMA_BLUE = 0.2126, 0.7152, 0.0722  # of linear light, ITU-R BT.709


def decode(encoded: Image) -> Image:
    """sRGB values 0..1 to linear light, IEC 61966-2-1: a power written as exp and log."""
    curve = np.exp(2.4 * np.log((encoded + 0.055) / 1.055))
    return np.where(encoded <= 0.04045, encoded / 12.92, curve)


def encode(linear: Image) -> Image:
    """Linear light to sRGB values 0..1; what lies outside is clipped first."""
    clipped = np.minimum(np.maximum(linear, 0.0), 1.0)
    curve = 1.055 * np.exp(np.log(np.maximum(clipped, 0.0031308)) / 2.4) - 0.055
    return np.where(clipped <= 0.0031308, 12.92 * clipped, curve)


def tone_curve(image: Image) -> tuple[Image, Image, Image]:
    """Lift the shadows and roll off the highlights without moving the hue.

    The image is split into luma and two colour differences; the luma goes through a tanh curve
    set by the image's own geometric mean and maximum, the differences follow it in proportion.
    (h, w, 3) gives red, green and blue, (h, w) each, 0..1.
    """
    red, green, blue = decode(image[:, :, 0]), decode(image[:, :, 1]), decode(image[:, :, 2])
    luma = LUMA_RED * red + LUMA_GREEN * green + LUMA_BLUE * blue
    red_difference, blue_difference = red - luma, blue - luma

    middle = np.exp(np.mean(np.log(luma + 1e-4)))
    exposure = 0.28 / middle
    toned = np.tanh(exposure * luma) / np.tanh(exposure * np.max(luma))

    follow = (toned + 1e-3) / (luma + 1e-3)
    new_red = toned + follow * red_difference
    new_blue = toned + follow * blue_difference
    new_green = (toned - LUMA_RED * new_red - LUMA_BLUE * new_blue) / LUMA_GREEN
    return encode(new_red), encode(new_green), encode(new_blue)


def unsharp_mask(image: Image) -> tuple[Image, Image]:
    """Sharpen: add what two box filters in a row take away, except faint detail, which is noise.

    (h, w, 3) gives the sharpened image, 0..1, and the detail that was added, both
    (h - 4·RADIUS, w - 4·RADIUS, 3).
    """
    missing = inner(inner(image)) - box_filter(box_filter(image))
    faint = np.minimum(np.maximum(missing, -0.02), 0.02)
    detail = 1.5 * (missing - faint)
    sharpened = np.minimum(np.maximum(inner(inner(image)) + detail, 0.0), 1.0)
    return sharpened, detail


@dataclass(frozen=True)
class Pipeline:
    """One job of the demonstration.

    `name` is a file name; `function` takes the photograph and gives one array or a tuple;
    `pictures` turns its results, as arrays, into named (h, w, 3) pictures with values 0..1.
    """

    name: str
    title: str
    function: Callable[..., object]
    pictures: Callable[[tuple[Image, ...]], dict[str, Image]]


PIPELINES = (
    Pipeline(
        "local_contrast",
        "local contrast normalisation",
        local_contrast,
        lambda results: {"result": 0.5 + results[0] / 6},
    ),
    Pipeline(
        "tone_curve",
        "tone curve with colour conversion",
        tone_curve,
        lambda results: {"result": np.stack(results, axis=-1)},
    ),
    Pipeline(
        "unsharp_mask",
        "unsharp mask with box filters",
        unsharp_mask,
        lambda results: {"result": results[0], "detail": 0.5 + results[1]},
    ),
)

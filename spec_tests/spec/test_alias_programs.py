"""Random programs that take views of arrays and write into them, against NumPy line by line.

takes: seeds
gives: the program and the arrays that differ
holds: a generator of statements; NumPy runs each as it is drawn, so every program is legal
not here: arithmetic (``fuzz``); the rules of views one by one (test_assign)
"""

import linecache
import random

import numpy as np
import pytest

import stax_ref as stax

SLICES = ("1:", "::2", "::-1", ":-1", "-2:")


def key(draw, shape):
    """A basic index of an array of this shape."""
    parts = []
    for extent in shape:
        kind = draw.random()
        if 0.35 < kind < 0.5 and extent:
            parts.append(str(draw.randrange(-extent, extent)))
        elif 0.5 < kind < 0.7:
            parts.append(draw.choice(SLICES))
        else:
            parts.append(":")
    if draw.random() < 0.15:
        parts.insert(draw.randrange(len(parts) + 1), "None")
    return ",".join(parts) or "..."


def view_or_copy(draw, name, names, shape):
    """The right side of a statement that names a new array."""
    return draw.choice(
        [
            f"{name}[{key(draw, shape)}]",
            f"{name}[{key(draw, shape)}]",
            f"{name}.T",
            f"{name}.reshape(-1)",
            f"np.ravel({name})",
            f"{name}.copy()",
            f"np.copy({name})",
            f"{name} * 2",
            f"np.flip({name})",
            f"np.zeros({shape})",
            f"np.concatenate([{name}.ravel(), {draw.choice(names)}.ravel()])",
        ]
    )


def write(draw, name, shape):
    """A statement that changes an array."""
    first = draw.randrange(shape[0]) if shape and shape[0] else 0
    return draw.choice(
        [
            f"{name}[{key(draw, shape)}] = {draw.choice(['1', '2.5', name + '.sum()'])}",
            f"{name}[{key(draw, shape)}] += {draw.choice(['1', 'x.max()'])}",
            f"{name} {draw.choice(['+=', '*=', '-='])} {draw.choice(['2', 'y.sum()'])}",
            f"{name}[{name} > {draw.choice('14')}] = 0",
            f"{name}[[{first}, 0]] = 7",
            f"{name}.fill(3)",
            f"np.add.at({name}, {draw.choice(['0', '[0, 0]'])}, 1)",
        ]
    )


def program(seed):
    """Lines that NumPy runs without an error, and the names of their arrays."""
    draw = random.Random(seed)
    space = {"np": np, "x": np.arange(12.0).reshape(3, 4) + 0.5, "y": np.arange(1.0, 5)}
    names, lines = ["x", "y"], []
    for number in range(draw.randint(4, 10)):
        name = draw.choice(names)
        shape = space[name].shape
        new = f"v{number}"
        makes = draw.random() < 0.5
        right = view_or_copy(draw, name, names, shape)
        line = f"{new} = {right}" if makes else write(draw, name, shape)
        before = {n: space[n].copy() for n in names}
        try:
            exec(line, space)
        except (IndexError, ValueError, TypeError):
            for n in names:
                space[n][...] = before[n]
            continue
        if makes and not isinstance(space[new], np.ndarray):
            continue
        names += [new] if makes else []
        lines.append(line)
    return lines, names


def compiled(seed):
    """The program as a function of two arrays, and its text."""
    lines, names = program(seed)
    text = "\n    ".join(["def f(x, y):", *lines, f"return [{', '.join(names)}]"]) + "\n"
    file = f"<aliases {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np}
    exec(compile(text, file, "exec"), space)
    return space["f"], text


@pytest.mark.parametrize("block", range(10))
def test_as_numpy(block):
    refused = 0
    for seed in range(30 * block, 30 * block + 30):
        function, text = compiled(seed)
        theirs = [np.arange(12.0).reshape(3, 4) + 0.5, np.arange(1.0, 5)]
        ours = [a.copy() for a in theirs]
        wanted = function(*theirs)
        try:
            got = stax.jit(function, backend="ref")(*ours)
        except stax.UnsupportedOperation as error:  # honest: the layout is NumPy's own affair
            if "a reshape was taken that NumPy may have copied" not in str(error):
                raise
            refused += 1
            continue
        for a, b in zip([*wanted, *theirs], [*got, *ours], strict=True):
            assert np.shape(a) == np.shape(b), text
            np.testing.assert_allclose(b, a, rtol=1e-12, err_msg=text)
    assert refused <= 3

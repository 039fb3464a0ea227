"""How refusals are looked at: type, words, the user's line, and the way out.

takes: an exception class, a function with ``# refused`` on the line that is to blame, arguments
gives: the exception, after everything a user needs was found in its message
holds: what NumPy refuses too is refused with the same kinds of exception
not here: any one refusal
"""

import inspect

import numpy as np
import pytest

import stax_ref as stax
from stax_ref.errors import StaxError

KINDS = (TypeError, ValueError, IndexError, OverflowError)


def refused(kind: type[StaxError], function, *arguments, says: str, instead: str, **options):
    """Trace a function that must be refused.

    Args:
        kind: class of the exception, exactly.
        function: has ``# refused`` at the end of the line that is to blame, if any.
        *arguments: what it is called with.
        says: part of the first line of the message.
        instead: part of the way out.
        **options: of ``stax.jit``.

    Returns:
        the exception.
    """
    with pytest.raises(kind) as caught:
        stax.jit(function, backend="ref", **options)(*arguments)
    error = caught.value
    assert type(error) is kind, type(error)
    message = str(error)
    assert says in message.splitlines()[0], message
    assert instead in error.instead, message
    assert f"  instead: {error.instead}" in message
    lines, first = inspect.getsourcelines(function)
    marked = [(first + k, line) for k, line in enumerate(lines) if "# refused" in line]
    for number, line in marked:
        assert f"at {inspect.getsourcefile(function)}:{number} in " in message, message
        assert line.strip() in message, message
    assert marked or error.where is None, "a function that is refused as a whole has no line"
    return error


def as_numpy(error: Exception, function, *arguments) -> None:
    """NumPy refuses the same call, and whoever catches its exception catches this one."""
    with pytest.raises(KINDS) as caught, np.errstate(all="ignore"):
        function(*arguments)
    kinds = [kind for kind in KINDS if isinstance(caught.value, kind)]
    assert kinds
    for kind in kinds:
        assert isinstance(error, kind), f"NumPy raises {type(caught.value).__mro__}"


def floats(*shape: int) -> np.ndarray:
    """Ones of this shape in float32."""
    return np.ones(shape, np.float32)

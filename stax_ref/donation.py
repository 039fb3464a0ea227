"""donation: arrays that a caller gives away with a call (seed §8.5, Listing 8.1).

Takes an array; gives a box that a jitted function is called with in its place. The program's
``args.clear()`` and its ``del`` after the last use then release the array while the call still
runs. Why a box: whoever calls a Python object holds the arguments until it returns, so a bare
argument could never end earlier, whatever the program releases. Not here: when the program lets go
of an argument (``plan``, the native runtime).
"""

from __future__ import annotations

import numpy as np

from .errors import ConfigError


class Donated:
    """Holds one array until a call has taken it; made by :func:`donate`."""

    __slots__ = ("_array",)

    def __init__(self, array: np.ndarray) -> None:
        self._array: np.ndarray | None = array

    @property
    def array(self) -> np.ndarray:
        """The array, as long as no call has taken it.

        Raises:
            ConfigError: one has.
        """
        if self._array is None:
            raise ConfigError(
                "this array was given away to an earlier call", instead="stax.donate of a new one"
            )
        return self._array

    def empty(self) -> None:
        """Let go of the array."""
        self._array = None

    def __repr__(self) -> str:
        state = "taken" if self._array is None else f"{self._array.dtype}{list(self._array.shape)}"
        return f"<donated array: {state}>"


def donate(array: np.ndarray) -> Donated:
    """Give an array away with a call: ``y = f(stax.donate(x))``.

    The program releases it after the last kernel or external call that reads it; if nobody else
    holds it, its memory is free from then on. Whoever still holds it keeps it unchanged. It is held
    to the end of the call where the call may have to be repeated by NumPy (indices that may be out
    of range, powers of integers), where the function writes an argument, and by the interpreter.

    Args:
        array: an array; anywhere in the arguments where an array may stand.

    Returns:
        a box for one call; afterwards it is empty, unless the call failed before it read the array.

    Raises:
        ConfigError: ``array`` is no NumPy array; inside a traced function nothing is given away.
    """
    if not isinstance(array, np.ndarray):
        raise ConfigError(
            f"stax.donate was given a {type(array).__name__}", instead="a NumPy array"
        )
    return Donated(array)

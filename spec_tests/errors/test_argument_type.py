"""Arguments that are neither arrays nor numbers."""

import pytest

import stax_ref as stax

from .refusal import refused


def identity(x):
    return x + 1


@pytest.mark.parametrize(
    ("value", "name"), [("text", "str"), (None, "NoneType"), ({}, "dict"), (object(), "object")]
)
def test_refused(value, name):
    refused(
        stax.DtypeError,
        identity,
        value,
        says=f"the argument x is a {name}",
        instead="np.asarray of it, a number, or static_argnames=('x',)",
    )


def test_ragged_lists_are_numpys_error():
    with pytest.raises(ValueError, match="inhomogeneous"):
        stax.jit(identity, backend="ref")([[1.0], [1.0, 2.0]])

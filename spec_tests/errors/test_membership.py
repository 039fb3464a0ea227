"""``value in x``: the answer is a Python bool, which needs the values."""

import stax_ref as stax

from .refusal import floats, refused


def member(x):
    return x + (1.0 in x)  # refused


def test_refused():
    refused(
        stax.ValueDependent,
        member,
        floats(3),
        says="'in' needs the values of a traced array",
        instead="np.max(x == item)",
    )

"""The wheel: what is in it, what is not, and that it works away from the checkout."""

"""Expected texts: every stage of a few programs, and the C of about a dozen kernels."""

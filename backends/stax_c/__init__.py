"""The C backend of Stax: C with OpenMP and SIMD."""

"""Each stage of the compiler alone, without a backend."""

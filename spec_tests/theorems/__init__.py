"""The theorems of the seed's section 7 as tests, and how far the scheduler is from the optimum."""

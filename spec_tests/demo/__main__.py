"""`python -m spec_tests.demo`, the same as `stax demo`."""

import sys

from spec_tests.demo.run import main

raise SystemExit(main(sys.argv[1:]))

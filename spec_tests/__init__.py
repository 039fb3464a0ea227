"""The contract: what every backend must do, as tests that are installed with the package.

Folders: ``stages`` each stage alone, ``spec`` meaning on every backend, ``native`` what only
compiled code has, ``errors`` one refusal a file, ``golden`` expected texts, ``fuzz`` random graphs,
``bench`` figures, ``demo`` the demonstration, ``packaging`` the wheel.
"""

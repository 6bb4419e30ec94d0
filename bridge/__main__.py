"""Runs the command line: ``python -m bridge`` is ``cosim``."""

from bridge.cli.start import main

main()

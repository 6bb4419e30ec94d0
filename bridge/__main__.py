"""Runs the command line: ``python -m bridge`` is ``cosim``."""

from bridge.cli.main import main

main(prog_name="cosim")

"""``python -m bridge`` is ``cosim``."""

from bridge.cli import main

main(prog_name="cosim")

"""The folder in which CMake has built the programs in C++, which are not installed."""

from __future__ import annotations

import os
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parent.parent


def find_program(name: str) -> Path | None:
    """Return a program that CMake built from `ns3-scratch/`, or None if it is not built.

    It is the newest of `build/*/`, or that of the folder in the environment variable COSIM_BUILD.

    Parameters
    ----------
    name : str
        The name of the program: replay or cosim-tests.
    """
    tree = os.environ.get("COSIM_BUILD")
    folders = [Path(tree)] if tree else _REPOSITORY.glob("build/*/")
    programs = [folder / "ns3-scratch" / name for folder in folders]
    built = [program for program in programs if program.is_file()]
    return max(built, key=lambda program: program.stat().st_mtime, default=None)

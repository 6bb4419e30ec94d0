"""Imports the public names of a package when they are used, so that a command starts quickly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def importer(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the function ``__getattr__`` of a package.

    Parameters
    ----------
    package : str
        The package, as its ``__name__``.
    homes : mapping
        For each public name, the module that defines it.

    Returns
    -------
    callable
        Maps a name to its value; raises AttributeError for other names.
    """

    def attribute(name: str) -> Any:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return attribute

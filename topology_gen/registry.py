"""Registries: entries of one kind by name, from this package and from installed packages."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import Generic, Protocol, TypeVar, cast

from topology_gen.errors import RegistrationError


class Named(Protocol):
    """An object with the name that users write."""

    @property
    def name(self) -> str:
        """The name in scenarios and on the command line."""


Entry = TypeVar("Entry", bound=Named)


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Entries of one kind by name, in the order of registration.

    A package that you install adds entries when it names them in its ``pyproject.toml``::

        [project.entry-points."cosim.workloads"]
        pipeline = "my_package.pipeline:WORKLOAD"

    The registry loads them when it is first read, after the entries of this package.

    Parameters
    ----------
    kind : str
        The kind of entries, for messages: "workload".
    group : str
        The entry point group in which packages name further entries: "cosim.workloads".

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Colour(NamedTuple):
    ...     name: str
    >>> colours = Registry[Colour]("colour", "example.colours")
    >>> colours.register(Colour("red"))
    Colour(name='red')
    >>> list(colours), "green" in colours
    (['red'], False)
    """

    def __init__(self, kind: str, group: str) -> None:
        self.kind = kind
        self.group = group
        self._entries: dict[str, Entry] = {}
        self._is_complete = False

    def register(self, entry: Entry) -> Entry:
        """Add an entry and return it.

        Raises
        ------
        RegistrationError
            An entry of this name exists.
        """
        if entry.name in self._entries:
            raise RegistrationError(f"the {self.kind} {entry.name!r} is registered twice")
        self._entries[entry.name] = entry
        return entry

    def __getitem__(self, name: str) -> Entry:
        """Return the entry of a name; raise KeyError if there is none."""
        if name not in self._entries:
            self._complete()
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of all entries."""
        self._complete()
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of entries."""
        self._complete()
        return len(self._entries)

    def _complete(self) -> None:
        if self._is_complete:
            return
        self._is_complete = True
        points = _installed(tuple(sys.path)).select(group=self.group)
        for point in sorted(points, key=lambda point: point.name):
            try:
                entry = point.load()
            except Exception as error:
                raise RegistrationError(
                    f"the {self.kind} {point.name!r} of {point.value} cannot be loaded: {error}"
                ) from error
            if getattr(entry, "name", None) != point.name:
                raise RegistrationError(
                    f"{point.value} calls itself {getattr(entry, 'name', None)!r}, but its package "
                    f"registers it as the {self.kind} {point.name!r}"
                )
            self.register(entry)


@cache
def _installed(path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points of all packages on an import path; a search takes 20 ms."""
    # Python 3.11 returns another type, which has the same `select`.
    return cast(EntryPoints, entry_points())

"""Registries: entries of one kind by name, from this package and from installed packages."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from traceback import walk_tb
from typing import Generic, Protocol, TypeVar, cast

from topology_gen.errors import RegistrationError, RegistrationWarning


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

    The registry loads them when it is first read, after the entries of this package. An entry that
    cannot be loaded is left out with a `RegistrationWarning`.

    Parameters
    ----------
    kind : str
        The kind of entries, for messages: "workload".
    group : str
        The entry point group in which packages name further entries: "cosim.workloads".
    type_ : type, optional
        The class of the entries; another object of an installed package is left out.

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

    def __init__(self, kind: str, group: str, type_: type = object) -> None:
        self.kind = kind
        self.group = group
        self._type = type_
        self._entries: dict[str, Entry] = {}
        self._problems: dict[str, str] = {}
        self._own: set[str] = set()
        self._is_complete = False

    def register(self, entry: Entry) -> Entry:
        """Add an entry and return it.

        Raises
        ------
        RegistrationError
            An entry of this name exists, or the name is none that a scenario can have.
        """
        if not isinstance(entry.name, str) or not re.fullmatch(r"[\w-]+", entry.name, re.ASCII):
            raise RegistrationError(
                f"the {self.kind} {entry.name!r}: expected a name of letters, digits, underscores "
                "and dashes"
            )
        if entry.name in self._entries:
            raise RegistrationError(f"the {self.kind} {entry.name!r} is registered twice")
        self._entries[entry.name] = entry
        return entry

    def register_own(self, entry: Entry) -> None:
        """Add an entry of this process, or replace one that this method has added.

        Raises
        ------
        RegistrationError
            An entry of this name exists, and this method has not added it.
        """
        self._complete()
        if entry.name in self._own:
            del self._entries[entry.name]
        self.register(entry)
        self._own.add(entry.name)

    @property
    def has_own(self) -> bool:
        """Whether `register_own` has added an entry."""
        return bool(self._own)

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

    def problem(self, name: object) -> str | None:
        """Return why an installed package's entry of this name was left out; None if none was."""
        self._complete()
        return self._problems.get(name) if isinstance(name, str) else None

    def _complete(self) -> None:
        if self._is_complete:
            return
        self._is_complete = True
        points = _installed(tuple(sys.path)).select(group=self.group)
        for point in sorted(points, key=lambda point: point.name):
            try:
                self.register(self._loaded(point))
            except (Exception, SystemExit) as error:  # a package's code can raise anything
                reason = str(error) or type(error).__name__
                if not isinstance(error, RegistrationError):
                    reason = f"cannot be loaded: {reason}"
                package = "" if point.dist is None else f" of the package {point.dist.name}"
                problem = f"the {self.kind} {point.name!r}{package} ({point.value}) {reason}"
                self._problems[point.name] = problem
                warnings.warn(f"{problem}; it is left out", RegistrationWarning, stacklevel=2)

    def _loaded(self, point: EntryPoint) -> Entry:
        """Return the entry that a package names; raise what its code raises, or that it is none."""
        if point.name in self._entries:
            raise RegistrationError("is registered twice")
        entry = point.load()
        package = "" if point.dist is None else f" of the package {point.dist.name}"
        _LOADED.setdefault(point.module, f"the {self.kind} {point.name!r}{package}")
        if not isinstance(entry, self._type):
            found = f"the class {entry.__name__}" if isinstance(entry, type) else repr(entry)
            raise RegistrationError(f"is {found:.60}: expected an object of {self._type.__name__}")
        name = getattr(entry, "name", None)
        if name != point.name:
            raise RegistrationError(f"calls itself {name!r}: expected the name of its entry point")
        return cast(Entry, entry)


_LOADED: dict[str, str] = {}
"""The modules from which packages have added entries, with what they have added."""


def failure_of_package(error: BaseException) -> str | None:
    """Return a sentence about an exception that the code of an installed package has raised.

    Parameters
    ----------
    error : BaseException
        An exception that was raised.

    Returns
    -------
    str or None
        None if its traceback passes no module of a package that has added entries.
    """
    frames = list(walk_tb(error.__traceback__))
    for frame, line in reversed(frames):
        module = str(frame.f_globals.get("__name__", ""))
        whose = _LOADED.get(module) or next(
            (text for name, text in _LOADED.items() if _package(name) == _package(module)), None
        )
        if whose is not None:
            file = frame.f_code.co_filename
            said = f": {error}" if str(error) else ""
            return f"{whose} has failed: {type(error).__name__}{said} ({file}:{line})"
    return None


def _package(module: str) -> str:
    return module.partition(".")[0]


@cache
def _installed(path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points of all packages on an import path; a search takes 20 ms."""
    # Python 3.11 returns another type, which has the same `select`.
    return cast(EntryPoints, entry_points())

"""Scripting hooks, which reach a simulation through ns-3's own Python bindings.

A hook is a function ``on_built(ns, sim)``. It is called once, in the same process, after the
fabric is built and before the first message. What it attaches (a trace sink, a FlowMonitor, pcap)
therefore sees the simulation itself. `ns` is the object that ``from ns import ns`` imports.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from bridge.errors import HookError

#: A scripting hook: receives ns-3's bindings and the simulation.
Hook = Callable[[Any, "BuiltSimulation"], object]

_Thing = TypeVar("_Thing")

_FUNCTION = "on_built"


@dataclass(frozen=True)
class BuiltSimulation:
    """A simulation that is built and has not started, as a hook receives it.

    Attributes
    ----------
    scenario : dict
        The resolved scenario.
    out : Path or None
        The folder in which the result will be saved; the hook can write files there, too.
    """

    scenario: dict[str, Any]
    out: Path | None = None
    _kept: list[object] = field(default_factory=list, repr=False)
    _endings: list[Callable[[], object]] = field(default_factory=list, repr=False)

    def keep(self, thing: _Thing) -> _Thing:
        """Keep an object alive as long as the simulation.

        cppyy does not do so. Keep every Python callback that ns-3 calls later, and every ns-3
        helper that owns the objects it creates.

        Parameters
        ----------
        thing : object
            Any object.

        Returns
        -------
        object
            The same object.
        """
        self._kept.append(thing)
        return thing

    def at_end(self, function: Callable[[], object]) -> None:
        """Call a function when the run is over, while ns-3's objects still exist.

        Parameters
        ----------
        function : callable
            Takes no argument. It can, for example, write a FlowMonitor's XML.
        """
        self._endings.append(function)

    def end(self) -> None:
        """Call the functions that `at_end` received, in their order."""
        for function in self._endings:
            function()


def load_hook(path: str | os.PathLike[str]) -> Hook:
    """Return the function ``on_built`` of a Python file.

    Parameters
    ----------
    path : path
        The file; it is executed.

    Raises
    ------
    HookError
        There is no such file, it is not Python, or it does not define ``on_built``. Exceptions that
        the file raises pass through.
    """
    file = Path(path)
    if not file.is_file():
        raise HookError(f"hooks: {file}: no such file, expected a Python file")
    try:
        function = runpy.run_path(str(file)).get(_FUNCTION)
    except SyntaxError as error:
        raise HookError(
            f"hooks: {error.filename}:{error.lineno}: {error.msg}, expected Python"
        ) from None
    if not callable(function):
        raise HookError(f"hooks: {file}: the file defines no function {_FUNCTION}(ns, sim)")
    hook: Hook = function
    return hook


def require_bindings() -> None:
    """Check that ns-3's Python bindings are installed, without loading them, which takes seconds.

    Raises
    ------
    HookError
        They are not installed.
    """
    if importlib.util.find_spec("cppyy") is None or importlib.util.find_spec("ns") is None:
        raise HookError(
            "hooks need ns-3's Python bindings, which are not installed: "
            "install the extra `scripting` (make scripting)"
        )


def load_bindings() -> Any:
    """Import ns-3's Python bindings; the first time takes about ten seconds.

    Returns
    -------
    object
        The object that ``from ns import ns`` imports.

    Raises
    ------
    HookError
        They are not installed, or belong to another copy of ns-3 than the simulator's.
    """
    require_bindings()
    wheel = importlib.util.find_spec("ns3")
    folders = list(wheel.submodule_search_locations or ()) if wheel else []
    # The bindings also search for ns-3's libraries below the current folder, and fail when they
    # find a second copy there, such as another virtual environment.
    with chdir(folders[0] if folders else "."):
        from ns import ns  # type: ignore[import-untyped,unused-ignore]
    _refuse_second_copy()
    return ns


def _refuse_second_copy() -> None:
    """Raise HookError if the process has two copies of ns-3, as the hook would see the idle one."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    copies = {
        line.split(maxsplit=5)[5]
        for line in maps.splitlines()
        if "-core.so" in line and "libns3" in line
    }
    if len(copies) > 1:
        raise HookError(
            "the Python bindings belong to another copy of ns-3 than the simulator: "
            + " and ".join(sorted(copies))
        )

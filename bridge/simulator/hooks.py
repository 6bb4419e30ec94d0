"""The scripting hook: ns-3's own Python bindings on the simulator that is about to run.

A hook is a function ``on_built(ns, sim)``. It is called once, after the fabric is built and before
the first message, in the same process: whatever it attaches (a trace sink, a FlowMonitor, pcap)
sees the simulation itself. `ns` is what ``from ns import ns`` gives.
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
    """A simulation that is built and has not begun, as a hook sees it.

    Attributes
    ----------
    scenario : dict
        The resolved scenario.
    out : Path or None
        The folder that the result will be saved in, for the hook's own files.
    """

    scenario: dict[str, Any]
    out: Path | None = None
    _kept: list[object] = field(default_factory=list, repr=False)
    _endings: list[Callable[[], object]] = field(default_factory=list, repr=False)

    def keep(self, thing: _Thing) -> _Thing:
        """Keep an object alive as long as the simulation.

        cppyy does not: a Python callback that ns-3 is to call later must be kept, as well as
        helpers that own what they made.

        Parameters
        ----------
        thing : object
            Anything.

        Returns
        -------
        object
            The same.
        """
        self._kept.append(thing)
        return thing

    def at_end(self, function: Callable[[], object]) -> None:
        """Call a function when the run is over and ns-3's objects still exist.

        Parameters
        ----------
        function : callable
            Takes nothing; write a FlowMonitor's XML here, for example.
        """
        self._endings.append(function)

    def end(self) -> None:
        """Call what `at_end` was given, in that order."""
        for function in self._endings:
            function()


def load_hook(path: str | os.PathLike[str]) -> Hook:
    """Read the function ``on_built`` from a Python file.

    Parameters
    ----------
    path : path
        The file; it is executed.

    Returns
    -------
    callable

    Raises
    ------
    HookError
        If there is no such file or it defines no function ``on_built``. What the file itself
        raises passes through.
    """
    file = Path(path)
    if not file.is_file():
        raise HookError(f"hooks: {file}: no such file, expected a Python file")
    function = runpy.run_path(str(file)).get(_FUNCTION)
    if not callable(function):
        raise HookError(f"hooks: {file}: defines no function {_FUNCTION}(ns, sim)")
    hook: Hook = function
    return hook


def require_bindings() -> None:
    """Make sure that ns-3's Python bindings are installed, without the seconds of loading them.

    Raises
    ------
    HookError
        If they are not.
    """
    if importlib.util.find_spec("cppyy") is None or importlib.util.find_spec("ns") is None:
        raise HookError(
            "hooks need ns-3's Python bindings, which are not installed: "
            "install the extra `scripting` (pip install -e '.[scripting]')"
        )


def load_bindings() -> Any:
    """Import ns-3's Python bindings; takes about ten seconds the first time.

    Returns
    -------
    object
        What ``from ns import ns`` gives.

    Raises
    ------
    HookError
        If they are not installed, or are not those of the ns-3 that the simulator runs on.
    """
    require_bindings()
    wheel = importlib.util.find_spec("ns3")
    folders = list(wheel.submodule_search_locations or ()) if wheel else []
    # The bindings look for ns-3's libraries below the current folder too, and refuse to choose
    # when a second copy lies there (another virtual environment is enough).
    with chdir(folders[0] if folders else "."):
        from ns import ns  # type: ignore[import-untyped,unused-ignore]
    _refuse_second_copy()
    return ns


def _refuse_second_copy() -> None:
    """Two copies of ns-3 in one process have two clocks; the hook would see an empty one."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    copies = {
        line.split(maxsplit=5)[5]
        for line in maps.splitlines()
        if "-core.so" in line and "libns3" in line
    }
    if len(copies) > 1:
        raise HookError(
            "the Python bindings belong to another ns-3 than the simulator: "
            + " and ".join(sorted(copies))
        )

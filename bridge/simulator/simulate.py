"""From a scenario or a stream to a result: compile, build, run, measure."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import frontend
from bridge.errors import StreamError
from bridge.files import prepare_directory, write_whole
from bridge.present.progress import CallbackReporter, Reporter, Snapshot
from bridge.results.errors import SimulationError, SimulationInterrupted
from bridge.results.result import SCHEMA_VERSION, Result
from bridge.simulator.hooks import BuiltSimulation, Hook, load_bindings, load_hook, require_bindings
from bridge.stopwatch import Stopwatch
from bridge.stream_header import read_header
from frontend import Scenario
from frontend.loading.load import Source
from frontend.loading.overrides import Overrides

if TYPE_CHECKING:
    from bridge.simulator import core

#: Wall time between two progress reports [s].
PROGRESS_INTERVAL_S = 0.25


def run(
    scenario: Source,
    overrides: Overrides | None = None,
    *,
    on_built: Hook | None = None,
    progress: Reporter | Callable[[Snapshot], object] | None = None,
    out: str | os.PathLike[str] | None = None,
    seed: int | None = None,
) -> Result:
    """Simulate a scenario.

    Parameters
    ----------
    scenario : path, mapping or Scenario
        The path of a YAML file, the same as a mapping, or a loaded scenario.
    overrides : mapping or sequence of str, optional
        Changes: ``{"topology.scale_out.bandwidth": "800Gbps"}`` or
        ``["topology.scale_out.bandwidth=800Gbps"]``.
    on_built : callable, optional
        A scripting hook ``f(ns, sim)``, called after the fabric is built and before it runs (see
        `bridge.simulator.hooks`); goes before the scenario's own ``hooks``.
    progress : callable or Reporter, optional
        Called several times a second with the simulated time, wall time, events and bytes.
    out : path, optional
        Folder to save ``result.json`` in, also that of a run that fails or is interrupted.
    seed : int, optional
        Replaces the scenario's seed.

    Returns
    -------
    Result

    Raises
    ------
    frontend.ScenarioError
        If the scenario or an override is not valid.
    InputError
        If `out` cannot be written to, or the hook not be loaded; nothing has run then.
    SimulationError
        If the simulation does not complete; holds the partial result.
    SimulationInterrupted
        On Ctrl-C during the simulation; holds the partial result.

    Examples
    --------
    >>> result = run("scenarios/collective.yaml", {"topology.ranks": 8})  # doctest: +SKIP
    >>> result.iterations[0].time_ns  # doctest: +SKIP
    """
    watch = Stopwatch()
    reporter = _reporter(progress)
    loaded = load(scenario, overrides, seed)
    hook = on_built or scenario_hook(loaded, scenario)
    if hook is not None:
        require_bindings()
    with reporter:
        reporter.stage("compiling")
        stream = frontend.compile_scenario(loaded)
        return _simulate(stream, hook, reporter, out, watch)


def replay(
    path: str | os.PathLike[str],
    *,
    on_built: Hook | None = None,
    progress: Reporter | Callable[[Snapshot], object] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Result:
    """Simulate a compiled stream; the result is that of `run` on the scenario.

    Parameters
    ----------
    path : path
        A file that `compile` wrote. Hooks named in its scenario are not called.
    on_built, progress, out
        As for `run`.

    Returns
    -------
    Result

    Raises
    ------
    InputError
        If the file is not a stream of this version, or as for `run`.
    SimulationError, SimulationInterrupted
        As for `run`.
    """
    watch = Stopwatch()
    if on_built is not None:
        require_bindings()
    try:
        stream = Path(path).read_bytes()
    except OSError as error:
        raise StreamError(f"{path}: {error.strerror}") from None
    with _reporter(progress) as reporter:
        try:
            return _simulate(stream, on_built, reporter, out, watch)
        except StreamError as error:
            raise StreamError(f"{path}: {error}") from None


def compile(
    scenario: Source,
    overrides: Overrides | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    seed: int | None = None,
) -> bytes:
    """Compile a scenario to the stream that crosses to the simulator; needs no ns-3.

    Parameters
    ----------
    scenario, overrides, seed
        As for `run`.
    out : path, optional
        File to write the stream to.

    Returns
    -------
    bytes
        The stream, see ``frontend/network_api.proto``.

    Raises
    ------
    frontend.ScenarioError
        If the scenario or an override is not valid.
    OutputError
        If the file cannot be written.
    """
    stream = frontend.compile_scenario(load(scenario, overrides, seed))
    if out is not None:
        write_whole(Path(out), stream)
    return stream


def load(
    scenario: Source, overrides: Overrides | None = None, seed: int | None = None
) -> frontend.Scenario:
    """Load a scenario with overrides and seed.

    Parameters
    ----------
    scenario, overrides, seed
        As for `run`.

    Returns
    -------
    frontend.Scenario
    """
    changes: Overrides = overrides or {}
    if seed is not None and isinstance(changes, Mapping):
        changes = {**changes, "seed": seed}
    elif seed is not None:
        changes = [*changes, f"seed={seed}"]
    return frontend.load_scenario(scenario, changes)


def with_absolute_hook(scenario: Scenario, file: Path) -> Scenario:
    """Return a scenario whose hook is found from anywhere.

    Parameters
    ----------
    scenario : Scenario
        What `file` holds.
    file : Path
        In whose folder the hook's relative path begins.
    """
    if scenario.hooks is None:
        return scenario
    hook = os.fspath((file.parent / scenario.hooks).absolute())
    return frontend.load_scenario(scenario, {"hooks": hook})


def scenario_hook(scenario: frontend.Scenario, source: Source) -> Hook | None:
    """Load the hook that a scenario names.

    Parameters
    ----------
    scenario : Scenario
        The loaded scenario.
    source : path, mapping or Scenario
        What it was loaded from; a hook's path is relative to the scenario's file.

    Returns
    -------
    callable or None

    Raises
    ------
    HookError
        If it cannot be loaded.
    """
    if scenario.hooks is None:
        return None
    base = Path(source).parent if isinstance(source, str | os.PathLike) else Path()
    return load_hook(base / scenario.hooks)


def _simulate(
    stream: bytes,
    hook: Hook | None,
    reporter: Reporter,
    out: str | os.PathLike[str] | None,
    watch: Stopwatch,
) -> Result:
    """Build and run a stream; save what came of it; raise unless it is complete."""
    header = read_header(stream)
    # Imported here: whoever only compiles or validates needs no ns-3.
    from bridge.simulator import core

    reporter.stage("building")
    try:
        simulation = core.Simulation(stream)
    except (core.CoreError, ValueError) as error:
        raise StreamError(str(error)) from None
    try:
        # Nothing is left behind by bad input, and nothing is simulated that cannot be saved.
        folder = None if out is None else prepare_directory(out)
        built = BuiltSimulation(header.scenario, folder)
        try:
            _build(simulation)
            if hook is not None:
                reporter.stage("loading ns-3's Python bindings")
                hook(load_bindings(), built)
            reporter.stage("simulating")
            simulation.run(reporter.update, PROGRESS_INTERVAL_S)
        except core.CoreError as error:
            raise SimulationError(str(error)) from None
        raw = json.loads(simulation.result())
        built.end()
    finally:
        simulation.close()
    raw["schema_version"] = SCHEMA_VERSION
    raw["scenario"] = header.scenario
    raw["simulator"] |= {**watch.cost(), "seed": header.seed, "versions": versions()}
    result = Result.model_validate(raw)
    if folder is not None:
        result.save(folder)
    if result.status == "interrupted":
        raise SimulationInterrupted("interrupted, the result is partial", result)
    if result.status != "complete":
        raise SimulationError(result.error or result.status.replace("_", " "), result)
    return result


def _build(simulation: core.Simulation) -> None:
    """Build the network; what ns-3 does not know, such as a fabric's name, is bad input."""
    try:
        simulation.build()
    except ValueError as error:
        raise StreamError(str(error)) from None


def versions() -> dict[str, str]:
    """Give the versions that a result depends on.

    Returns
    -------
    dict
        Of cosim, ns3 and python.
    """
    from bridge.simulator import core

    return {
        "cosim": metadata.version("cosim"),
        "ns3": core.ns3_version(),
        "python": platform.python_version(),
    }


def _reporter(progress: Reporter | Callable[[Snapshot], object] | None) -> Reporter:
    if progress is None:
        return Reporter()
    return progress if isinstance(progress, Reporter) else CallbackReporter(progress)

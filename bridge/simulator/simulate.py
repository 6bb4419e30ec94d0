"""Simulates a scenario or a stream: compile, build, run, measure."""

from __future__ import annotations

import json
import os
import platform
import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

import frontend
from bridge.errors import HookError, InputError, OutputError, StreamError
from bridge.files import prepare_directory, sole_writer, write_whole
from bridge.present.progress import CallbackReporter, Reporter, Snapshot
from bridge.results.errors import SimulationError, SimulationInterrupted, UnsavedError
from bridge.results.result import SCHEMA_VERSION, Result
from bridge.results.run_tables import RunTables
from bridge.simulator.estimate_error import estimate_error
from bridge.simulator.hooks import BuiltSimulation, Hook, load_bindings, load_hook, require_bindings
from bridge.simulator.jobs import Keeps, is_settled, job_blocks, settle
from bridge.simulator.output_files import OutputFiles, StreamedFile
from bridge.stopwatch import Stopwatch
from bridge.stream_header import read_header
from frontend import Scenario, load_scenario
from frontend.loading.load import Content, Source
from frontend.loading.overrides import Override, Overrides, listed
from frontend.resolve.layout import layout
from frontend.resolve.turns import Told
from frontend.workloads import WORKLOADS
from frontend.workloads.registry import TrainingWork, WorkloadKind
from topology_gen.files import MOST_RECORD_BYTES, read_bytes

if TYPE_CHECKING:
    from bridge.simulator import core


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class WholePieces:
    """Keeps the signals that raise KeyboardInterrupt out of a function.

    A signal in the function would lose the piece of a file that the function was about to write.
    Within the context, it waits until `check` is called; other code is interrupted at once. After
    the first interrupt, and after `hold`, signals wait until the context ends: an impatient second
    Ctrl-C, or the several signals of a terminal that is closed, do not lose the result.

    Parameters
    ----------
    function : callable
        The function, written in Python.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._code = function.__code__
        self._is_held = False
        self._changed: list[signal.Signals] = []
        self.is_waiting = False
        """Whether a signal has come that has not been raised."""

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is signal.default_int_handler:
                    signal.signal(number, self._handle)
                    self._changed.append(number)
        return self

    def __exit__(self, *problem: object) -> None:
        while self._changed:
            signal.signal(self._changed.pop(), signal.default_int_handler)

    def check(self) -> None:
        """Raise the KeyboardInterrupt that has waited, if there is one."""
        if self.is_waiting:
            self.is_waiting = False
            self._is_held = True
            raise KeyboardInterrupt

    def hold(self) -> None:
        """Let all signals wait from now on."""
        self._is_held = True

    def _handle(self, number: int, frame: FrameType | None) -> Any:
        at = frame
        while at is not None and at.f_code is not self._code:
            at = at.f_back
        if at is not None or self._is_held:
            self.is_waiting = True
            return
        self._is_held = True
        signal.default_int_handler(number, frame)


#: Seconds of wall time between two progress reports.
PROGRESS_INTERVAL_S = 0.25


def run(
    scenario: Source,
    overrides: Overrides | None = None,
    *,
    on_built: Hook | None = None,
    progress: Reporter | Callable[[Snapshot], object] | None = None,
    out: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    allow_hooks: bool = False,
) -> Result:
    """Simulate a scenario.

    Parameters
    ----------
    scenario : path, mapping or Scenario
        The path of a YAML file, its content as a mapping, or a loaded scenario.
    overrides : mapping or sequence of str, optional
        Changes to the scenario: ``{"topology.scale_out.bandwidth": "800Gbps"}`` or
        ``["topology.scale_out.bandwidth=800Gbps"]``.
    on_built : callable, optional
        A scripting hook ``f(ns, sim)`` that is called after the fabric is built and before it runs
        (see `bridge.simulator.hooks`). It replaces the hook that the scenario names.
    progress : callable or Reporter, optional
        Called several times a second with the simulated time, wall time, events and bytes.
    out : path, optional
        The folder in which to save ``result.json`` and the tables, even if the run fails or is
        interrupted. The timeline goes there, too; without a folder it is not written.
    seed : int, optional
        Replaces the scenario's seed.
    allow_hooks : bool, optional
        Whether to run the Python file that the scenario's key ``hooks`` names. Without it, a
        scenario with the key is refused, unless `on_built` replaces the hook.

    Returns
    -------
    Result

    Raises
    ------
    frontend.ScenarioError
        The scenario or an override is not valid.
    InputError
        `out` cannot be written to, or the hook cannot be loaded. Nothing has been simulated.
    SimulationError
        The simulation did not complete. The error holds the partial result.
    SimulationInterrupted
        The user pressed Ctrl-C. The exception holds the result, which is partial unless the
        simulation had just ended.
    SaveError
        The result, or another output, cannot be saved in `out`. The exception holds the result as
        ``result``, and its file, if it is saved, as ``file``.

    Examples
    --------
    >>> result = run("scenarios/collective.yaml", {"topology.ranks": 8})  # doctest: +SKIP
    >>> result.iterations[0].time_ns  # doctest: +SKIP
    """
    watch = Stopwatch()
    reporter = _reporter(progress)
    loaded = load(scenario, overrides, seed)
    hook = on_built or scenario_hook(loaded, allow_hooks)
    if hook is not None:
        require_bindings()
    with reporter:
        reporter.stage("compiling")
        if is_settled(loaded):
            return simulate_stream(frontend.compile_scenario(loaded), hook, reporter, out, watch)
        result, _ = _settle(loaded, hook, reporter, out, watch)
        return result


def _settle(
    scenario: Scenario,
    hook: Hook | None,
    reporter: Reporter,
    out: str | os.PathLike[str] | None,
    watch: Stopwatch,
) -> tuple[Result, Told]:
    """Simulate a scenario whose jobs wait for each other or fail."""

    def simulate(changed: Scenario, told: Told, keeps: Keeps) -> Result:
        stream = frontend.compile_scenario(changed, told)
        if changed.fabric == scenario.fabric:
            return simulate_stream(stream, hook, reporter, out, watch, keeps)
        return simulate_stream(stream, None, Reporter(), None, Stopwatch(), keeps)

    return settle(scenario, simulate)


def replay(
    path: str | os.PathLike[str],
    *,
    on_built: Hook | None = None,
    progress: Reporter | Callable[[Snapshot], object] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Result:
    """Simulate a compiled stream; the result is the same as that of `run` on the scenario.

    Parameters
    ----------
    path : path
        A file that `compile` wrote. The hook that its scenario names is not called.
    on_built, progress, out
        As for `run`.

    Returns
    -------
    Result

    Raises
    ------
    InputError
        The file is not a stream of this version; otherwise as for `run`.
    SimulationError, SimulationInterrupted
        As for `run`.
    """
    watch = Stopwatch()
    if on_built is not None:
        require_bindings()
    try:
        stream = read_bytes(path, MOST_RECORD_BYTES)
    except OSError as error:
        raise StreamError(f"{path}: {error.strerror}") from None
    with _reporter(progress) as reporter:
        try:
            return simulate_stream(stream, on_built, reporter, out, watch)
        except StreamError as error:
            raise StreamError(f"{path}: {error}") from None


def compile(
    scenario: Source,
    overrides: Overrides | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    seed: int | None = None,
) -> bytes:
    """Return the stream of a scenario, which the simulator runs.

    This needs no ns-3, unless jobs wait for each other or fail: then it simulates them first.

    Parameters
    ----------
    scenario, overrides, seed
        As for `run`.
    out : path, optional
        The file to write the stream to.

    Returns
    -------
    bytes
        The stream, in the format of ``frontend/network_api.proto``.

    Raises
    ------
    frontend.ScenarioError
        The scenario or an override is not valid.
    OutputError
        The file cannot be written.
    """
    loaded = load(scenario, overrides, seed)
    told = None
    if not is_settled(loaded):
        _, told = _settle(loaded, None, Reporter(), None, Stopwatch())
    stream = frontend.compile_scenario(loaded, told)
    if out is not None:
        write_whole(Path(out), stream)
    return stream


def load(
    scenario: Source, overrides: Overrides | None = None, seed: int | None = None
) -> frontend.Scenario:
    """Return a scenario with its overrides and its seed applied.

    Parameters
    ----------
    scenario, overrides, seed
        As for `run`.

    Returns
    -------
    frontend.Scenario
    """
    changes = listed(overrides or {})
    if seed is not None:
        changes.append(Override("seed", seed, "seed"))
    loaded = frontend.load_scenario(scenario, changes)
    if loaded.hooks is None or isinstance(scenario, Mapping | Scenario):
        return loaded
    # The path of a hook starts at the scenario's folder, which the loaded scenario does not know.
    file = Path(scenario.name if isinstance(scenario, Content) else scenario)
    hook = os.fspath((file.parent / loaded.hooks).absolute())
    return frontend.load_scenario(loaded, {"hooks": hook})


def scenario_hook(scenario: frontend.Scenario, allowed: bool) -> Hook | None:
    """Return the hook that a scenario names, or None if it names none.

    Parameters
    ----------
    scenario : Scenario
        The scenario, from `load`.
    allowed : bool
        Whether the user allows hooks.

    Returns
    -------
    callable or None

    Raises
    ------
    HookError
        The hook is not allowed, or cannot be loaded.
    """
    require_allowed_hook(scenario, allowed)
    return None if scenario.hooks is None else load_hook(scenario.hooks)


def require_allowed_hook(scenario: frontend.Scenario, allowed: bool) -> None:
    """Raise HookError if a scenario names a hook, and the user does not allow hooks."""
    if scenario.hooks is not None and not allowed:
        raise HookError(
            f"hooks: value {scenario.hooks}: a hook is a program, expected the option "
            "--allow-hooks (in Python: allow_hooks=True) if you trust it"
        )


def simulate_stream(
    stream: bytes,
    hook: Hook | None,
    reporter: Reporter,
    out: str | os.PathLike[str] | None,
    watch: Stopwatch,
    keeps: Keeps = lambda _: True,
) -> Result:
    """Build and run a stream, and save its result; raise if the result is not complete.

    Parameters
    ----------
    stream : bytes
        The stream, as `compile` returns it.
    hook, reporter, out
        As for `run`.
    watch : Stopwatch
        What the run cost until now.
    keeps : callable, optional
        Tells whether a complete result is saved. By default, it is; a partial one always is.

    Raises
    ------
    StreamError, SimulationError, SimulationInterrupted, SaveError
        As for `replay`.
    """
    header = read_header(stream)
    # Imported here so that compiling and validating work without ns-3.
    from bridge.simulator import core

    reporter.stage("building")
    try:
        simulation = core.Simulation(stream)
    except (core.CoreError, ValueError) as error:
        raise StreamError(str(error)) from None
    del stream  # it can be large
    files = None
    missing: list[OutputError] = []
    with ExitStack() as until_saved:
        try:
            # The folder is made after the stream is accepted, so that bad input leaves nothing
            # behind, and before the run, so that no result is lost.
            folder = None if out is None else prepare_directory(out)
            if folder is not None:
                until_saved.enter_context(sole_writer(folder))
            built = BuiltSimulation(header.scenario, folder)
            files = OutputFiles(folder, header.scenario)
            try:
                _build(simulation, files)
                if hook is not None:
                    reporter.stage("loading ns-3's Python bindings")
                    hook(load_bindings(), built)
                reporter.stage("simulating")
                pieces = until_saved.enter_context(WholePieces(StreamedFile.write))

                def update(snapshot: Snapshot) -> None:
                    pieces.check()
                    reporter.update(snapshot)

                simulation.run(update, PROGRESS_INTERVAL_S)
                pieces.hold()
            except core.CoreError as error:
                raise SimulationError(str(error)) from None
            raw = json.loads(simulation.result())
            tables = RunTables(simulation.tables(), folder)
            built.end()
        finally:
            simulation.close()
            if files is not None:
                missing = files.close()
        raw["schema_version"] = SCHEMA_VERSION
        raw["scenario"] = header.scenario
        raw["files"] = header.files
        raw["simulator"] |= {**watch.cost(), "seed": header.seed, "versions": versions()}
        blocks, told = job_blocks(header.scenario, raw)
        raw |= blocks | training_rates(header.scenario, raw)
        raw["estimate"] = estimate_error(header.scenario, tables, raw.pop("loss_risk", None))
        result = Result.model_validate(raw).with_tables(tables)
        is_last = result.status != "complete" or keeps(told)
        if folder is not None and is_last:
            file = None
            try:
                file = result.save(folder)
            except OutputError as error:
                missing.append(error)
            if missing:
                raise UnsavedError("; ".join(map(str, missing)), result, file)
        if pieces.is_waiting and result.status == "complete":
            raise SimulationInterrupted("interrupted, but the result is complete", result)
    if result.status == "interrupted":
        raise SimulationInterrupted("interrupted, the result is partial", result)
    if result.status != "complete":
        raise SimulationError(result.error or result.status.replace("_", " "), result)
    return result


def _build(simulation: core.Simulation, files: OutputFiles) -> None:
    """Build the network; raise StreamError for what the simulator does not know."""
    try:
        files.attach(simulation)
        simulation.build()
    except InputError:  # it is a ValueError, too
        raise
    except ValueError as error:
        raise StreamError(str(error)) from None


def versions() -> dict[str, str]:
    """Return the versions of everything that a result depends on.

    Returns
    -------
    dict
        The versions of ``cosim``, ``ns3`` and ``python``.
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


def training_rates(scenario: Mapping[str, Any], measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the blocks `training` and `goodput`, if a language model was trained to the end.

    Parameters
    ----------
    scenario : mapping
        The resolved scenario.
    measured : mapping
        What the simulator measured, with the keys of a result.
    """
    kind = WORKLOADS.get((scenario.get("workload") or {}).get("kind", ""))
    # Kinds without such rates need not read the scenario again.
    if kind is None or type(kind).training is WorkloadKind.training:
        return {}
    if measured["status"] != "complete":
        return {}
    loaded = load_scenario(dict(scenario))
    work = kind.training(loaded.workload, layout(loaded).ranks)
    if work is None:
        return {}
    time_s = measured["time_ns"] / 1e9 / len(measured["iterations"])
    waited = {layer["name"]: layer["exposed_comm_ns"] for layer in measured["layers"]}
    bubble_ns = waited.pop(work.pipeline_layer, 0)
    busy = sum(layer["compute_ns"] for layer in measured["layers"]) + sum(waited.values())
    # A single stage waits for nobody, but may wait for its host.
    has_stages = busy > 0 and bubble_ns > 0
    rates = {
        "tokens_per_s": work.tokens / time_s,
        "mfu": work.flop / time_s / work.peak_flops,
        "bubble_fraction": measured["time_ns"] / busy - 1 if has_stages else 0,
        "memory_bytes": work.memory_bytes,
    }
    return {"training": rates, "goodput": _goodput(work, rates["tokens_per_s"])}


def _goodput(work: TrainingWork, tokens_per_s: float) -> dict[str, float] | None:
    """Return the block `goodput` of a result; None without failures."""
    period = work.period
    if period is None:
        return None
    fraction = period.goodput(work.interval_s)
    return {
        "fraction": fraction,
        "tokens_per_s": fraction * tokens_per_s,
        "failures_per_day": period.failures_per_s * 24 * 3600,
        "checkpoint_interval_s": work.interval_s,
        "checkpoint_write_s": period.write_s or period.stall_s,
    }

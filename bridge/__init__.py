"""Co-simulation of distributed training over ns-3's TCP.

`run` simulates a scenario and returns a `Result`; `compile` and `replay` do the same in two steps.
`Network` drives the fabric message by message. The command line is ``cosim``, and so is the package
that users import.
"""

from typing import TYPE_CHECKING

from topology_gen.lazy import importer

if TYPE_CHECKING:
    from bridge.batch.key_search import search_keys
    from bridge.batch.sensitivities import sensitivities
    from bridge.batch.sweep import Sweep, Swept, sweep
    from bridge.errors import (
        HookError,
        InputError,
        OutputError,
        ResultError,
        StreamError,
    )
    from bridge.present.comparison import Comparison, compare
    from bridge.registration import register
    from bridge.results.errors import SimulationError, SimulationInterrupted
    from bridge.results.result import Result
    from bridge.simulator.hooks import BuiltSimulation
    from bridge.simulator.network import Network
    from bridge.simulator.simulate import compile, replay, run
    from frontend import Scenario, ScenarioError, load_scenario
    from frontend.schema.files import allow_files

_HOMES = {
    "BuiltSimulation": "bridge.simulator.hooks",
    "Comparison": "bridge.present.comparison",
    "HookError": "bridge.errors",
    "InputError": "bridge.errors",
    "Network": "bridge.simulator.network",
    "OutputError": "bridge.errors",
    "Result": "bridge.results.result",
    "ResultError": "bridge.errors",
    "Scenario": "frontend",
    "ScenarioError": "frontend",
    "SimulationError": "bridge.results.errors",
    "SimulationInterrupted": "bridge.results.errors",
    "StreamError": "bridge.errors",
    "Sweep": "bridge.batch.sweep",
    "Swept": "bridge.batch.sweep",
    "allow_files": "frontend.schema.files",
    "compare": "bridge.present.comparison",
    "compile": "bridge.simulator.simulate",
    "load_scenario": "frontend",
    "register": "bridge.registration",
    "replay": "bridge.simulator.simulate",
    "run": "bridge.simulator.simulate",
    "search_keys": "bridge.batch.key_search",
    "sensitivities": "bridge.batch.sensitivities",
    "sweep": "bridge.batch.sweep",
}

__all__ = [
    "BuiltSimulation",
    "Comparison",
    "HookError",
    "InputError",
    "Network",
    "OutputError",
    "Result",
    "ResultError",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "SimulationInterrupted",
    "StreamError",
    "Sweep",
    "Swept",
    "allow_files",
    "compare",
    "compile",
    "load_scenario",
    "register",
    "replay",
    "run",
    "search_keys",
    "sensitivities",
    "sweep",
]

__getattr__ = importer(__name__, _HOMES)

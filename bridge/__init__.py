"""Co-simulation of distributed training over ns-3's TCP.

`run` simulates a scenario and returns a `Result`; `compile` and `replay` do the same in two steps.
`Network` drives the fabric message by message. The command line is ``cosim``.
"""

from bridge.errors import (
    HookError,
    InputError,
    OutputError,
    ResultError,
    StreamError,
)
from bridge.results.errors import SimulationError, SimulationInterrupted
from bridge.results.result import Result
from bridge.simulator.hooks import BuiltSimulation
from bridge.simulator.network import Network
from bridge.simulator.simulate import compile, replay, run
from frontend import Scenario, ScenarioError, load_scenario

__all__ = [
    "BuiltSimulation",
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
    "compile",
    "load_scenario",
    "replay",
    "run",
]

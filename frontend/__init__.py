"""From a scenario to the network-API stream: schema, workloads, collectives, compiler."""

from frontend.compiler.compile import compile_scenario
from frontend.errors import ScenarioError
from frontend.loading.load import load_scenario
from frontend.schema import Scenario

__all__ = ["Scenario", "ScenarioError", "compile_scenario", "load_scenario"]

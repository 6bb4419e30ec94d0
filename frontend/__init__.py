"""The frontend turns a scenario into a network-API stream.

This module imports the names below on first use. A plug-in package that adds a workload or a
topology imports parts of `frontend` while `Scenario` is still being built, so importing them here
would be circular.
"""

from typing import TYPE_CHECKING

from topology_gen.lazy import importer

if TYPE_CHECKING:
    from frontend.compiler.compile import compile_scenario, validate_scenario
    from frontend.errors import ScenarioError
    from frontend.loading.load import load_network, load_scenario
    from frontend.scenario import Scenario

_HOMES = {
    "Scenario": "frontend.scenario",
    "ScenarioError": "frontend.errors",
    "compile_scenario": "frontend.compiler.compile",
    "load_network": "frontend.loading.load",
    "load_scenario": "frontend.loading.load",
    "validate_scenario": "frontend.compiler.compile",
}

__all__ = [
    "Scenario",
    "ScenarioError",
    "compile_scenario",
    "load_network",
    "load_scenario",
    "validate_scenario",
]

__getattr__ = importer(__name__, _HOMES)

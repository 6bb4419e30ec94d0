"""Configurations of ASTRA-sim: a scenario from the files of a command line."""

from frontend.formats.astra_sim.command_line import CommandLine, import_run, scenario_text
from frontend.formats.astra_sim.system import Imported

__all__ = ["CommandLine", "Imported", "import_run", "scenario_text"]

"""The command line ``cosim``.

Exit status: 0 success, 1 the simulation failed, 2 bad input, 130 interrupted. The summary goes to
stdout; progress and errors go to stderr, each error as one sentence.
"""

from __future__ import annotations

import click

from bridge.cli.compile import compile_command
from bridge.cli.cost import cost_command
from bridge.cli.fidelity import fidelity_command
from bridge.cli.list import list_command
from bridge.cli.plot import plot_command
from bridge.cli.replay import replay_command
from bridge.cli.run import run_command
from bridge.cli.schedule import schedule_group
from bridge.cli.schema import schema_command
from bridge.cli.search import search_command
from bridge.cli.study import study_group
from bridge.cli.sweep import sweep_command
from bridge.cli.topo import topo_group
from bridge.cli.validate import validate_command
from bridge.errors import InputError
from bridge.results.errors import SimulationError
from frontend import ScenarioError
from topology_gen import TopologyError

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


class _Group(click.Group):
    """A group that prints exceptions of its commands as a sentence and sets the exit status."""

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except ScenarioError as error:
            for problem in error.problems:
                _complain(problem)
            context.exit(BAD_INPUT)
        except (InputError, TopologyError, ImportError) as error:
            _complain(str(error))
            context.exit(BAD_INPUT)
        except SimulationError as error:
            _complain(str(error))
            context.exit(FAILED)
        except KeyboardInterrupt as error:
            _complain(str(error) or "interrupted before the simulation began; nothing was saved")
            context.exit(INTERRUPTED)


def _complain(sentence: str) -> None:
    click.echo(f"cosim: {sentence}", err=True)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="cosim", prog_name="cosim")
def main() -> None:
    """Simulate distributed training over ns-3's TCP, from one YAML file.

    A scenario file describes the network, the transport and the training job. Start with
    `cosim run FILE`; `cosim list` shows what a scenario can use."""


for _command in (
    run_command,
    validate_command,
    list_command,
    compile_command,
    replay_command,
    schema_command,
    plot_command,
    sweep_command,
    search_command,
    study_group,
    fidelity_command,
    topo_group,
    schedule_group,
    cost_command,
):
    main.add_command(_command)

"""What commands import: a module that a command does not need costs each run of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from bridge.cli.groups import LazyGroup
from bridge.cli.main import main
from bridge.cli.networks.schedule import schedule_group
from bridge.cli.networks.topo import topo_group
from bridge.cli.status import NOT_BEGUN

SLOW = {"google.protobuf", "matplotlib", "networkx", "numpy", "pydantic", "rich", "scipy"}

RUN = """
import json, sys
from bridge.cli.main import main
try:
    main(sys.argv[1:], prog_name="cosim")
except SystemExit as end:
    assert not end.code
    print("\\n" + json.dumps(sorted(sys.modules)))
"""


def imported(*arguments: str) -> set[str]:
    """Return which of the slow packages a command imports."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], capture_output=True, text=True, check=True
    )
    return SLOW & set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("words", ["--help", "--version", "topo --help", "schedule --help"])
def test_help_imports_no_package(words: str) -> None:
    assert imported(*words.split()) == set()


def test_list() -> None:
    assert imported("list") <= {"numpy", "pydantic", "rich"}


def test_validate(small_file: Path) -> None:
    assert imported("validate", str(small_file)) <= {"google.protobuf", "numpy", "pydantic"}


def test_run_of_a_flat_topology(small_file: Path) -> None:
    seen = imported("run", str(small_file), "--json")
    assert seen <= {"google.protobuf", "numpy", "pydantic", "rich"}


@pytest.mark.parametrize("module", ["click", "pydantic", "ruamel"])
def test_interrupted_while_it_starts(small_file: Path, tmp_path: Path, module: str) -> None:
    """As if Ctrl-C came while this module is imported."""
    (tmp_path / f"{module}.py").write_text("raise KeyboardInterrupt\n")
    done = subprocess.run(
        [sys.executable, "-m", "bridge", "run", str(small_file)],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    # A shell shows 130 in both cases: Python may end itself with the signal.
    assert done.returncode in (130, -signal.SIGINT)
    assert done.stderr == f"cosim: {NOT_BEGUN}\n"


@pytest.mark.parametrize("group", [main, topo_group, schedule_group])
def test_the_list_of_commands_says_what_each_says(group: LazyGroup) -> None:
    context = click.Context(group, terminal_width=200, max_content_width=200)
    listed = group.get_help(context)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert f"  {name} " in listed
        assert f" {command.get_short_help_str(limit=200)}" in listed

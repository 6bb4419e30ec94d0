"""`cosim cost`: output and errors."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from bridge.cli.main import main

SIZE = "--servers 128 --degree 4"


def invoke(arguments):
    return CliRunner().invoke(main, ["cost", *arguments.split()])


def printed(arguments):
    answer = invoke(f"{arguments} --json")
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


def test_parts_sum_up():
    found = printed(f"--architecture topoopt {SIZE} --bandwidth 100Gbps")
    parts = ("nics", "transceivers", "patch_panel_ports", "optical_switches", "fibres")
    assert found["cost"] == pytest.approx(sum(found[part] for part in parts), abs=2)
    assert found["cost_per_server"] == pytest.approx(found["cost"] / 128, abs=0.01)
    assert "ocs_ports" not in found


def test_equivalent_fat_tree():
    tree = printed(f"--architecture fat_tree {SIZE} --bandwidth 100Gbps")
    topoopt = printed(f"--architecture topoopt {SIZE} --bandwidth 100Gbps")
    assert tree["cost"] == topoopt["cost"]
    assert tree["equivalent_bandwidth_bps"] == pytest.approx(32e9, rel=0.05)


def test_seed():
    seeds = [
        printed(f"--architecture expander {SIZE} --bandwidth 25Gbps --seed {seed}")["fibres"]
        for seed in (1, 1, 2)
    ]
    assert seeds[0] == seeds[1] != seeds[2]

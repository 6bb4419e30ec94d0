"""`cosim topo cost`: output and errors."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from tests.bridge.command_line import answer_of

SIZE = "--servers 128 --degree 4"


def test_parts_sum_up():
    found = answer_of("topo", "cost", f"--architecture topoopt {SIZE} --bandwidth 100Gbps")
    parts = ("nics", "transceivers", "patch_panel_ports", "optical_switches", "fibres")
    assert found["cost"] == pytest.approx(sum(found[part] for part in parts), abs=2)
    assert found["cost_per_server"] == pytest.approx(found["cost"] / 128, abs=0.01)
    assert "ocs_ports" not in found


def test_equivalent_fat_tree():
    tree = answer_of("topo", "cost", f"--architecture fat_tree {SIZE} --bandwidth 100Gbps")
    topoopt = answer_of("topo", "cost", f"--architecture topoopt {SIZE} --bandwidth 100Gbps")
    assert tree["cost"] == topoopt["cost"]
    assert tree["equivalent_bandwidth_bps"] == pytest.approx(32e9, rel=0.05)


def test_seed():
    seeds = [
        answer_of(
            "topo", "cost", f"--architecture expander {SIZE} --bandwidth 25Gbps --seed {seed}"
        )["fibres"]
        for seed in (1, 1, 2)
    ]
    assert seeds[0] == seeds[1] != seeds[2]


def test_the_former_name() -> None:
    ran = CliRunner().invoke(main, ["cost", "--help"])
    assert ran.exit_code == 0
    assert "`cosim cost` is now `cosim topo cost`" in ran.stderr

"""Servers of topology files of NCCL: `server.file`, and ``cosim import nccl-topology``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bridge
from bridge.cli.main import main
from frontend import ScenarioError, load_scenario
from frontend.topologies.servers import server
from tests.topology_gen import nccl_files
from topology_gen.networks.servers import SERVERS


def scenario(**given: Any) -> Any:
    return load_scenario(
        {
            "fabric": "analytical",
            "topology": {
                "family": "rail_optimized",
                "servers": 2,
                "server": given,
                "buffer": "64MB",
            },
            "transport": {"window": "unlimited"},
            "workload": {
                "kind": "collective",
                "operation": "all_reduce",
                "algorithm": "nccl",
                "bytes": "1MiB",
            },
        }
    )


@pytest.fixture
def h100(tmp_path: Path) -> Path:
    """A file of a server with eight H100."""
    file = tmp_path / "h100.xml"
    file.write_text(nccl_files.server(8, latency_us=75))
    return file


def test_the_file_of_a_known_server_has_its_numbers(h100: Path) -> None:
    own = scenario(file=str(h100))
    assert server(own.topology.server) == SERVERS["hgx_h100"]
    assert own.topology.server.file is None  # so that a stored scenario needs no file
    assert bridge.run(own).time_ns == bridge.run(scenario(model="hgx_h100")).time_ns


def test_given_numbers_hold_over_those_of_the_file(h100: Path) -> None:
    one = server(scenario(file=str(h100), gpus=4, nics=4, nic_bandwidth="200Gbps").topology.server)
    assert (one.gpus, one.nics, one.nic_bps) == (4, 4, 200 * 10**9)
    assert one.scale_up_bps == SERVERS["hgx_h100"].scale_up_bps


def test_what_a_file_does_not_tell_is_given_or_that_of_a_model(tmp_path: Path) -> None:
    """GPUs without NVLinks, as in the files of clouds, or on PCIe."""
    efa = [nccl_files.pci(f"{n}:2", "0x020000", nccl_files.net("efa", n, 100_000)) for n in (0, 1)]
    inside = "".join(
        nccl_files.pci(f"{one}:0", "0x060400", nccl_files.gpu(f"{one}:1", one, "") + efa[one])
        for one in range(2)
    )
    file = tmp_path / "cloud.xml"
    file.write_text(nccl_files.system(inside))
    with pytest.raises(ScenarioError) as error:
        scenario(file=str(file))
    assert str(error.value).startswith("topology.server.file: value /")
    assert str(error.value).endswith(
        ": no NVLinks: expected the key 'scale_up_bandwidth', or a model"
    )
    assert server(scenario(file=str(file), model="p5").topology.server).in_network
    given = scenario(file=str(file), scale_up_bandwidth="256Gbps", scale_up_switches=1)
    one = server(given.topology.server)
    assert (one.gpus, one.scale_up_bps, one.in_network) == (2, 256 * 10**9, False)


def test_import_writes_a_scenario_of_the_server(h100: Path, tmp_path: Path) -> None:
    file = tmp_path / "made.yaml"
    words = ["import", "nccl-topology", str(h100), "--servers", "3", "-o", str(file)]
    outcome = CliRunner().invoke(main, words)
    assert outcome.exit_code == 0, outcome.stderr
    made: Any = load_scenario(file)
    assert server(made.topology.server) == SERVERS["hgx_h100"]
    assert made.topology.servers == 3
    assert "net_latency: 75us" in file.read_text()
    assert "in_network: true" in file.read_text()


def test_import_names_what_it_leaves_out(tmp_path: Path) -> None:
    inside = nccl_files.gpu("1:1", 0, "") + nccl_files.gpu("2:1", 1, "")
    nic = nccl_files.pci("3:0", "0x020000")
    (tmp_path / "topo.xml").write_text(nccl_files.system(inside + nic))
    file = tmp_path / "made.yaml"
    words = ["import", "nccl-topology", str(tmp_path / "topo.xml"), "-o", str(file)]
    outcome = CliRunner().invoke(main, words)
    assert outcome.exit_code == 2
    assert "topo.xml: no NVLinks: expected the key 'scale_up_bandwidth', or a model" in (
        outcome.stderr
    )
    outcome = CliRunner().invoke(main, [*words, "--model", "dgx_a100"])
    assert outcome.exit_code == 0, outcome.stderr
    assert "2 GPUs reach their NICs over a processor" in outcome.stderr
    assert "no NVLinks, NICs without a speed: as dgx_a100 has them" in outcome.stderr
    made: Any = load_scenario(file)
    one = server(made.topology.server)
    assert (one.gpus, one.nics, one.nic_bps) == (2, 1, 200 * 10**9)

"""``cosim topo export`` of every kind of topology: what is written is the same network."""

from __future__ import annotations

import json
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from frontend import load_scenario
from frontend.resolve import resolve
from topology_gen import Network

LINK = {"bandwidth": "100Gbps", "latency": "1us"}
TOPOLOGIES: dict[str, dict[str, Any]] = {
    "flat": {"ranks": 4, **LINK},
    "hierarchical": {
        "ranks": 8,
        "scale_up": {"ranks": 4, "switches": 2, **LINK, "buffer": "unlimited"},
        "scale_out": {**LINK, "buffer": "1MB"},
    },
    "fat_tree": {"ranks": 16, **LINK},
    "direct_connect": {"graph": "torus:dims=3x4", **LINK, "forwarding_delay": "300ns"},
    "boxes": {"ranks": 6, "ranks_per_box": 3, "inside": "switch", "scale_up": LINK, "rail": LINK},
    "rail_optimized": {"servers": 4, "server": "dgx_a100", "pxn": True},
    "leaf_spine": {"servers": 8, "server": {"model": "mi300x", "nics": 4}, "tiers": 3, "radix": 8},
    "rail_only": {"servers": 3, "server": {"model": "dgx_h100", "nics": 16}},
    "direct_servers": {"servers": 5, "server": "mi300x", "scale_out": "complete:n=5"},
}
FORMATS = ("yaml", "csv", "graphml", "simai", "infragraph")


def named_links(network: Network) -> Counter[tuple[Any, ...]]:
    """Return how often each link with its names and properties is there."""
    names = network.node_names
    return Counter(
        (names[source], names[target], int(rate), int(latency), network.dimensions[dimension])
        for source, target, rate, latency, dimension in zip(
            network.source,
            network.target,
            network.rate_bps,
            network.latency_ps,
            network.dimension,
            strict=True,
        )
    )


def hops(network: Network) -> list[int]:
    """Return the lengths of the paths between the ranks."""
    source, target = np.array(list(permutations(range(min(network.ranks, 20)), 2))).T
    found: list[int] = np.diff(network.paths(source, target).begin.astype(np.int64)).tolist()
    return found


@pytest.mark.parametrize("family", TOPOLOGIES)
def test_every_format_leads_back_to_the_network(family: str, tmp_path: Path) -> None:
    """The same links and lengths of paths; what a format cannot say stands in a note."""
    work = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring", "bytes": "1B"}
    own = {} if family == "hierarchical" else {"buffer": "unlimited"}
    given = {"topology": {"family": family} | own | TOPOLOGIES[family]}
    (tmp_path / "x.json").write_text(json.dumps(given | {"workload": work}))
    before = resolve(load_scenario(tmp_path / "x.json")).network
    for form in FORMATS:
        arguments = ["topo", "export", str(tmp_path / "x.json"), "--format", form]
        done = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / "net")])
        assert done.exit_code == 0, done.output
        topology = {"family": "graph", "file": "net", "buffer": "unlimited"}
        lost = [line.rpartition(" ")[2] for line in done.stderr.splitlines()]
        assert form != "yaml" or lost == []
        if "forwarding" in lost:
            topology["forwarding"] = "ranks"
        (tmp_path / "y.json").write_text(json.dumps({"topology": topology, "workload": work}))
        after = resolve(load_scenario(tmp_path / "y.json")).network
        assert hops(after) == hops(before)
        assert (after.ranks, after.nodes) == (before.ranks, before.nodes)
        if form in ("yaml", "csv", "graphml"):
            assert named_links(after) == named_links(before)
        assert Counter(link[2:4] for link in named_links(after).elements()) == Counter(
            link[2:4] for link in named_links(before).elements()
        )

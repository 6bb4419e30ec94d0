"""`cosim topo plot`."""

from __future__ import annotations

import json
import sys
from math import prod
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.spatial.distance import pdist

from bridge.cli.main import main
from bridge.errors import InputError
from bridge.present.pictures.graph_picture import draw_graph
from bridge.present.pictures.graph_places import Places, circle, grid, tiers
from topology_gen import Network, fat_tree, graphs, hierarchical, specs

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


def test_picture_is_reproducible(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    # Generalized Kautz: loops, links one way, and pairs.
    for name in ("a.svg", "b.svg"):
        arguments = ["topo", "plot", "generalized_kautz:d=2,n=7"]
        answer = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / name)])
        assert answer.exit_code == 0, answer.output
    picture = (tmp_path / "a.svg").read_text()
    assert picture == (tmp_path / "b.svg").read_text()
    assert picture.startswith("<?xml")
    draw_graph(graphs.unidirectional_ring(3, 2), tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graphs.ring(4)
    with pytest.raises(InputError, match="5000 links: expected at most 4096 for a picture"):
        draw_graph(graphs.ring(2500), tmp_path / "a.svg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match="the extra `plot`"):
        draw_graph(graph, tmp_path / "a.svg")
    assert not (tmp_path / "a.svg").exists()


def test_files_that_cannot_be(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    graph = graphs.ring(4)
    with pytest.raises(InputError, match="xyz"):
        draw_graph(graph, tmp_path / "a.xyz")
    with pytest.raises(InputError, match="No such file or directory"):
        draw_graph(graph, tmp_path / "missing" / "a.svg")


def test_places_of_grids() -> None:
    """Neighbours of a torus are 1 apart; no two nodes of any grid share a place."""
    places = grid([3, 4])
    assert places[5].tolist() == [1, -1]  # row 1, column 1
    assert np.hypot(*(places[1] - places[0])) == 1
    for lengths in ([8], [2, 3, 4], [2] * 8, [3, 1, 2, 5, 2]):
        distances = pdist(grid(lengths))
        assert distances.min() > 0.15
    assert np.hypot(*(circle(9)[1] - circle(9)[0])) == pytest.approx(1)


@pytest.mark.parametrize(
    ("spec", "lengths"),
    [
        ("torus:dims=4x8", (4, 8)),
        ("unidirectional_torus:dims=3x4", (3, 4)),
        ("twisted_torus:a=4", (4, 8)),
        ("hypercube:n=16", (2, 2, 2, 2)),
        ("twisted_hypercube:n=8", (2, 2, 2)),
        ("hamming:k=2,q=3", (3, 3)),
        ("complete_bipartite:d=4", (2, 4)),
        ("product:of=[torus:dims=2x3]+[ring:n=5]", (2, 3, 5)),
        ("ring:n=5", ()),
    ],
)
def test_grids_of_families(spec: str, lengths: tuple[int, ...], tmp_path: Path) -> None:
    graph = specs.parse(spec)
    assert graph.grid == lengths
    assert not lengths or prod(lengths) == graph.nodes
    pytest.importorskip("matplotlib")
    draw_graph(graph, tmp_path / "a.svg")


def test_links_of_a_torus_join_neighbours_of_its_grid() -> None:
    """All links but those around the torus have length 1, so the grid is the family's own."""
    graph = graphs.torus([4, 6])
    places = grid(graph.grid)
    length = np.hypot(*(places[graph.source] - places[graph.target]).T)
    assert np.count_nonzero(length == 1) == 2 * (3 * 6 + 4 * 5)
    assert sorted(set(length.tolist())) == [1, 3, 5]


def tiers_of(network: Network) -> Places:
    ends = np.stack([network.source, network.target], axis=1)
    return tiers(network.ranks, network.nodes, ends, network.dimension)


def test_tiers_of_networks() -> None:
    """Ranks are at the bottom; edge, aggregation and core switches are each in one tier above."""
    network = fat_tree(16, 10**11, 0)
    height = tiers_of(network)[:, 1]
    kinds = {
        kind: {h for name, h in zip(network.node_names, height, strict=True) if kind in name}
        for kind in ("rank", "edge", "agg", "core")
    }
    assert all(len(heights) == 1 for heights in kinds.values())
    assert sorted(kinds, key=lambda kind: max(kinds[kind])) == ["rank", "edge", "agg", "core"]
    super_nodes = hierarchical(
        8,
        4,
        2,
        scale_up_bandwidth_bps=10**12,
        scale_up_latency_ps=0,
        scale_out_bandwidth_bps=10**11,
        scale_out_latency_ps=0,
    )
    levels = np.unique(tiers_of(super_nodes)[:, 1], return_inverse=True)[1]
    assert levels.tolist() == [0] * 8 + [1] * 4 + [2]


def test_scenario_with_switches(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    scenario = str(SCENARIOS / "dlrm_hier_small.yaml")
    command = ["topo", "export", "--scenario", scenario]
    file = tmp_path / "a.svg"
    answer = CliRunner().invoke(main, ["topo", "plot", scenario, "-o", str(file)])
    assert answer.exit_code == 0, answer.output
    picture = file.read_text()
    former = CliRunner().invoke(main, [*command, "--format", "picture", "-o", str(file)])
    assert former.stderr == (
        "cosim: warning: `--format picture` is now `cosim topo plot`; use the new command\n"
    )
    assert file.read_text() == picture
    assert "nv0.1" in picture
    assert "scale_up: 171.4 Gbit/s" in picture
    answer = CliRunner().invoke(main, [*command, "--set", "topology.scale_up.switches=1"])
    assert len(json.loads(answer.output)) == 2 * (16 + 16)

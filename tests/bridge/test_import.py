"""``cosim import astra-sim``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bridge
from bridge.cli.main import main
from frontend import load_scenario
from frontend.resolve import resolve
from tests.frontend.chakra_files import Rank, write
from tests.topology_gen.msccl_files import ring_all_reduce
from tests.topology_gen.test_simulator_graphs import HTSIM

SYSTEM = {
    "scheduling-policy": "FIFO",
    "endpoint-delay": 10,
    "active-chunks-per-dimension": 2,
    "preferred-dataset-splits": 4,
    "all-reduce-implementation": ["halvingDoubling"],
    "all-gather-implementation": ["direct"],
    "reduce-scatter-implementation": ["ring"],
    "all-to-all-implementation": ["direct"],
    "collective-optimization": "localBWAware",
    "local-mem-bw": 1600,
    "peak-perf": 900,
    "roofline-enabled": 1,
    "boost-mode": 0,
}
OPERATIONS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
RING = "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 500.0 ]\n"
TWO = """\
topology: [ {0}, Switch ]
npus_count: [ 4, 2 ]
bandwidth: [ 50.0, 25 ]
latency: [ 500.5, 1000 ]
"""


def imported(folder: Path, network: str, *options: str, **system: Any) -> Any:
    """Import a run in which each of eight ranks issues one all-reduce; see `written`."""
    return written(folder, network, 8, "all_reduce", system, *options)


def written(
    folder: Path,
    network: str,
    ranks: int,
    operation: str,
    system: Mapping[str, Any],
    *options: str,
    delays: Sequence[int] = (),
) -> Any:
    """Import a run in which every rank computes for its delay [µs] and issues one collective."""
    traces = [Rank() for _ in range(ranks)]
    for number, rank in enumerate(traces):
        after = [rank.compute(delays[number])] if delays else []
        rank.collective(operation, 2**20, after)
    (folder / "traces").mkdir(exist_ok=True)
    write(folder / "traces", traces)
    (folder / "system.json").write_text(json.dumps({**SYSTEM, **system}))
    (folder / "network.yml").write_text(network)
    needed = ["--system", "system.json", "--network", "network.yml", "--traces", "traces/t"]
    files = [str(folder / one) if "." in one or "/" in one else one for one in needed]
    output = ["-o", str(folder / "s.yaml")]
    return CliRunner().invoke(main, ["import", "astra-sim", *files, *options, *output])


def levels(algorithm: Any) -> list[tuple[int, str]]:
    return [(level.size, level.algorithm) for level in algorithm.levels]


def test_a_run_becomes_a_scenario(tmp_path: Path) -> None:
    done = imported(tmp_path, RING)
    assert done.exit_code == 0, done.output
    made: Any = load_scenario(tmp_path / "s.yaml")
    assert made.topology.graph == "ring:n=8,d=2"
    assert int(made.topology.bandwidth) == 50 * 2**30 * 8
    assert int(made.topology.latency) == 500_000
    assert made.collective.all_reduce == "halving_doubling"
    assert made.collective.all_gather == "direct"
    assert int(made.workload.compute.peak_flops) == 900 * 10**12
    assert made.workload.durations == "roofline"
    assert made.workload.streams.communication == 1
    assert (made.system.chunks.all_reduce, made.system.scheduling) == (4, "fifo")
    assert made.system.concurrent_chunks.scale_out == 2
    assert int(made.system.injection_latency) == 10_000 // 2
    assert int(made.system.reduction_bandwidth) == 1600 * 10**9 // 3
    assert CliRunner().invoke(main, ["validate", str(tmp_path / "s.yaml")]).exit_code == 0


@pytest.mark.parametrize(("kind", "inside"), [("Switch", 16), ("FullyConnected", 24)])
def test_two_dimensions_are_super_nodes(kind: str, inside: int, tmp_path: Path) -> None:
    """Two groups of 4 ranks, and four switches between the ranks at the same position."""
    done = imported(
        tmp_path,
        TWO.format(kind),
        **{"all-reduce-implementation": ["ring", "doubleBinaryTree"]},
    )
    assert done.exit_code == 0, done.output
    made: Any = load_scenario(tmp_path / "s.yaml")
    resolved = resolve(made)
    assert resolved.layout.super_node == 4
    assert resolved.network.dimensions == ("scale_up", "scale_out")
    rates = Counter(zip(resolved.network.dimension, resolved.network.rate_bps, strict=True))
    assert rates == {(0, 50 * 2**33): inside, (1, 25 * 2**33): 16}
    assert bridge.run(made).status == "complete"
    assert levels(made.collective.all_reduce) == [(4, "ring"), (2, "binary_tree")]
    assert made.collective.all_reduce.shards
    assert made.collective.segments == 1  # ASTRA-sim's trees have no pipeline


def test_a_published_time_of_astra_sim(tmp_path: Path) -> None:
    """ASTRA-sim's own regression test: an all-reduce of 1 MiB on a ring of eight, 117780 cycles.

    A step sends 2^15 bytes at 50 GiB/s in 610.4 ns, and takes 500 ns on the link and 10 ns at the
    endpoint. Every other step adds what it receives, with three accesses at 50 GB/s: 1966.1 ns.
    There are 14 steps for each of four chunks, one chunk after the other. cosim adds headers.
    """
    stored = {
        "scheduling-policy": "LIFO",
        "active-chunks-per-dimension": 1,
        "all-reduce-implementation": ["ring"],
        "local-mem-bw": 50,
        "roofline-enabled": 0,
    }
    done = imported(tmp_path, RING, **stored)
    assert done.exit_code == 0, done.output
    expected = 4 * 14 * (2**15 / (50 * 2**30) * 1e9 + 500 + 10 + 3 * 2**15 / 50 / 2)
    assert expected == pytest.approx(117_780, rel=2e-4)
    assert bridge.run(tmp_path / "s.yaml").time_ns == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(
    ("kinds", "counts", "links"),
    [
        # each rank to its switch; a pair of ranks has one link
        (("Switch", "Ring"), (4, 2), 8 + 4),
        # all pairs of four ranks, twice; then a switch for each of the four positions
        (("FullyConnected", "Switch"), (4, 2), 2 * 6 + 8),
        # rings of 2, 2 and 2 ranks: 4 pairs in each dimension
        (("Ring", "Ring", "Ring"), (2, 2, 2), 12),
        (("Ring", "FullyConnected"), (4, 2), 8 + 4),
    ],
)
def test_any_dimensions(
    kinds: tuple[str, ...], counts: tuple[int, ...], links: int, tmp_path: Path
) -> None:
    """Latencies differ, so no family has these networks. Each dimension is a level."""
    latencies = [500 + 100 * number for number in range(len(kinds))]
    network = (
        f"topology: [{', '.join(kinds)}]\nnpus_count: {list(counts)}\n"
        f"bandwidth: {[50.0] * len(kinds)}\nlatency: {latencies}\n"
    )
    operations = ("all-reduce", "all-gather", "reduce-scatter")
    rings = {f"{one}-implementation": ["ring"] * len(kinds) for one in operations}
    done = imported(tmp_path, network, **rings)
    assert done.exit_code == 0, done.output
    assert "is for each dimension" not in done.stderr
    made: Any = load_scenario(tmp_path / "s.yaml")
    resolved = resolve(made).network
    assert (resolved.ranks, resolved.links) == (8, 2 * links)
    assert len(set(resolved.latency_ps)) == len(kinds)
    rings_in_each = [(count, "ring") for count in counts]
    for algorithm in (made.collective.all_reduce, made.collective.all_gather):
        assert levels(algorithm) == rings_in_each
    # Each rank sends 2 · 7/8 of 1 MiB, whatever the number of dimensions of an optimal all-reduce.
    assert bridge.run(made).network.payload_bytes == 8 * 2 * 7 * 2**20 // 8


#: End of a collective of 1 MiB at 50 GiB/s and 500 ns a link, with an endpoint delay of 10 ns and
#: no memory time, in a number of chunks of which one is in flight in each dimension: cycles [ns]
#: that ASTRA-sim 518bd51 prints. One dimension: its congestion-aware backend; several: the other
#: one, which has no contention, so only algorithms that do not meet on a link are here. For
#: all_gather, 1 MiB is the part of each rank.
ASTRA_SIM = [
    ("Ring", (8,), "all_reduce", "ring", "baseline", 1, 41_324),
    ("Ring", (8,), "all_gather", "ring", "baseline", 1, 140_297),
    ("Ring", (8,), "reduce_scatter", "ring", "baseline", 1, 20_667),
    ("Ring", (8,), "all_to_all", "ring", "baseline", 1, 82_638),
    ("Ring", (8,), "all_to_all", "direct", "baseline", 1, 25_430),
    ("Ring", (8,), "all_reduce", "halvingDoubling", "baseline", 1, 65_656),
    ("Ring", (8,), "all_reduce", "doubleBinaryTree", "baseline", 1, 280_519),
    ("FullyConnected", (8,), "all_to_all", "ring", "baseline", 1, 82_638),
    ("FullyConnected", (8,), "all_to_all", "direct", "baseline", 1, 2_961),
    ("FullyConnected", (8,), "all_reduce", "direct", "baseline", 1, 5_912),
    ("FullyConnected", (8,), "all_reduce", "halvingDoubling", "baseline", 1, 37_246),
    ("FullyConnected", (8,), "reduce_scatter", "halvingDoubling", "baseline", 1, 18_628),
    ("FullyConnected", (8,), "all_reduce", "doubleBinaryTree", "baseline", 1, 120_271),
    ("Switch", (8,), "all_reduce", "ring", "baseline", 1, 82_498),
    ("Switch", (8,), "all_reduce", "direct", "baseline", 1, 41_086),
    ("Switch", (8,), "all_to_all", "direct", "baseline", 1, 20_548),
    ("Switch", (8,), "all_reduce", "halvingDoubling", "baseline", 1, 74_422),
    ("Switch", (8,), "all_reduce", "doubleBinaryTree", "baseline", 1, 318_581),
    ("Ring Ring", (4, 4), "all_reduce", "ring", "baseline", 1, 64_724),
    ("Ring Ring", (8, 2), "all_reduce", "ring", "baseline", 1, 61_884),
    ("Ring Ring", (4, 4), "all_reduce", "ring", "localBWAware", 1, 42_762),
    ("Ring Ring", (4, 4), "all_reduce", "ring", "localBWAware", 4, 41_600),
    ("Ring Ring", (4, 4), "all_reduce", "ring", "localBWAware", 8, 53_920),
    ("Ring Ring Ring", (4, 2, 2), "all_reduce", "ring", "localBWAware", 1, 41_764),
    ("Ring Ring Ring", (2, 2, 2), "all_reduce", "ring", "localBWAware", 8, 27_840),
    ("Ring Ring Ring", (4, 2, 2), "all_reduce", "ring", "baseline", 8, 60_780),
    ("Ring Ring", (4, 4), "all_gather", "ring", "baseline", 1, 296_048),
    ("Ring Ring", (4, 4), "all_gather", "ring", "baseline", 4, 256_718),
    ("Ring Ring", (4, 4), "reduce_scatter", "ring", "baseline", 1, 21_386),
    ("Ring Ring", (4, 4), "reduce_scatter", "ring", "baseline", 4, 23_255),
    ("Ring Ring", (4, 4), "all_to_all", "ring", "baseline", 1, 64_724),
    ("Ring Ring", (4, 4), "all_to_all", "ring", "localBWAware", 1, 64_724),
    ("Ring Ring", (4, 4), "all_to_all", "ring", "localBWAware", 4, 51_950),
    ("FullyConnected FullyConnected", (4, 4), "all_to_all", "direct", "baseline", 1, 10_804),
    (
        "FullyConnected FullyConnected",
        (4, 4),
        "all_reduce",
        "doubleBinaryTree",
        "baseline",
        1,
        160_366,
    ),
]


def network_text(kinds: str, counts: tuple[int, ...]) -> str:
    """Return a network with the links of ASTRA_SIM."""
    return (
        f"topology: [{', '.join(kinds.split())}]\nnpus_count: {list(counts)}\n"
        f"bandwidth: {[50.0] * len(counts)}\nlatency: {[500.0] * len(counts)}\n"
    )


def one_algorithm(algorithm: str, dimensions: int, order: str) -> dict[str, Any]:
    """Return what ASTRA_SIM has in all system files."""
    return {f"{one}-implementation": [algorithm] * dimensions for one in OPERATIONS} | {
        "collective-optimization": order,
        "local-mem-bw": 10**6,
        "roofline-enabled": 0,
        "active-chunks-per-dimension": 1,
    }


@pytest.mark.parametrize(
    ("kinds", "counts", "operation", "algorithm", "order", "chunks", "cycles"), ASTRA_SIM
)
def test_times_of_astra_sim(
    kinds: str,
    counts: tuple[int, ...],
    operation: str,
    algorithm: str,
    order: str,
    chunks: int,
    cycles: int,
    tmp_path: Path,
) -> None:
    """The same messages in the same order: headers add 42 bytes to 8960, at most 0.5 %."""
    system = one_algorithm(algorithm, len(counts), order) | {"preferred-dataset-splits": chunks}
    done = written(tmp_path, network_text(kinds, counts), prod(counts), operation, system)
    assert done.exit_code == 0, done.output
    assert bridge.run(tmp_path / "s.yaml").time_ns == pytest.approx(cycles, rel=5e-3)


@pytest.mark.parametrize(
    ("network", "system", "difference"),
    [
        (RING.replace("Ring", "Switch"), {}, "as in ASTRA-sim's congestion-aware backend"),
        (TWO.format("Ring"), {}, "only its backend without contention"),
        (TWO.format("Ring"), {}, "each packet of the scenario is sent anew by a switch"),
        (RING, {"all-reduce-implementation": ["doubleBinaryTree"]}, "the other one of two trees"),
        (
            TWO.format("FullyConnected"),
            {"all-reduce-implementation": ["doubleBinaryTree", "ring"]},
            "which ASTRA-sim runs twice in each dimension but the last",
        ),
        (RING, {"preferred-dataset-splits": 3}, "takes up to 4/3 of the time"),
        (RING, {"all-to-all-implementation": ["doubleBinaryTree"]}, "the scenario has direct"),
        (RING, {"all-gather-implementation": ["doubleBinaryTree"]}, "the scenario has ring"),
        (
            RING,
            {"all-gather-implementation": ["halvingDoubling"]},
            "exchanges the largest parts of a reduce-scatter and an all-gather between neighbours",
        ),
    ],
)
def test_what_differs_is_named(
    network: str, system: dict[str, Any], difference: str, tmp_path: Path
) -> None:
    done = imported(tmp_path, network, **system)
    assert done.exit_code == 0, done.output
    assert difference in done.stderr
    assert bridge.run(tmp_path / "s.yaml").status == "complete"


def test_messages_have_no_window(tmp_path: Path) -> None:
    """The backend of one dimension forwards whole messages; that of several does not."""
    assert imported(tmp_path, RING).exit_code == 0
    made: Any = load_scenario(tmp_path / "s.yaml")
    assert (made.transport.window.is_unlimited, made.links.mtu.is_unlimited) == (True, True)
    assert imported(tmp_path, TWO.format("Ring")).exit_code == 0
    made = load_scenario(tmp_path / "s.yaml")
    assert (made.transport.window.is_unlimited, made.links.mtu.is_unlimited) == (True, False)


def test_ranks_that_begin_apart(tmp_path: Path) -> None:
    """Rank r computes 3 · r + 1 µs before an all-reduce of four chunks: 87600 cycles.

    Eight chunks over three rings of two ranks never end in ASTRA-sim if its ranks begin up to 8 µs
    apart, because chunks come back to ranks in different orders.
    """
    system = {"preferred-dataset-splits": 4, **one_algorithm("ring", 2, "localBWAware")}
    network = network_text("Ring Ring", (4, 4))
    delays = [3 * rank + 1 for rank in range(16)]
    done = written(tmp_path, network, 16, "all_reduce", system, delays=delays)
    assert done.exit_code == 0, done.output
    assert bridge.run(tmp_path / "s.yaml").time_ns == pytest.approx(87_600, rel=5e-3)
    system = {"preferred-dataset-splits": 8, **one_algorithm("ring", 3, "localBWAware")}
    network = network_text("Ring Ring Ring", (2, 2, 2))
    delays = [2 * (7 * rank % 5) + 1 for rank in range(8)]
    (tmp_path / "three").mkdir()
    done = written(tmp_path / "three", network, 8, "all_reduce", system, delays=delays)
    assert done.exit_code == 0, done.output
    assert bridge.run(tmp_path / "three" / "s.yaml").status == "complete"


def test_rings_in_each_dimension_of_a_torus(tmp_path: Path) -> None:
    """ASTRA-sim's first dimension changes fastest with the rank, and that of a torus slowest."""
    torus = RING.replace("Ring", "Ring, Ring").replace("[ 8 ]", "[ 3, 4 ]")
    torus = torus.replace("50.0", "50.0, 50").replace("500.0", "500, 500.0")
    rings = {"all-reduce-implementation": ["ring", "ring"]}
    done = written(tmp_path, torus, 12, "all_reduce", rings)
    assert done.exit_code == 0, done.output
    made: Any = load_scenario(tmp_path / "s.yaml")
    assert made.topology.graph == "torus:dims=4x3"
    assert levels(made.collective.all_reduce) == [(3, "ring"), (4, "ring")]
    result = bridge.run(made)
    assert result.network.payload_bytes == 12 * 2 * 11 * 2**20 // 12
    # neighbours in each dimension only: each message takes one link
    on_links = sum(one.wire_bytes for one in result.network.dimensions)
    assert on_links == result.network.wire_bytes


def test_a_custom_collective_is_its_algorithm(tmp_path: Path) -> None:
    """Paths start from ASTRA-sim's folder, so they are looked for above the system file."""
    custom = {"all-reduce-implementation-custom": ["custom/mine"]}
    done = imported(tmp_path, RING, **custom)
    assert "expected custom/mine.xml" in done.stderr
    made: Any = load_scenario(tmp_path / "s.yaml")
    assert made.collective.all_reduce == "halving_doubling"
    (tmp_path / "custom").mkdir()
    (tmp_path / "custom" / "mine.xml").write_text(ring_all_reduce(8, 1))
    done = imported(tmp_path, RING, **custom)
    assert "expected custom/mine.xml" not in done.stderr
    made = load_scenario(tmp_path / "s.yaml")
    assert Path(made.collective.all_reduce.file).name == "mine.xml"
    assert bridge.run(made).network.payload_bytes == 2 * 7 * 2**20


def test_logical_dimensions_of_a_topology_text(tmp_path: Path) -> None:
    """The system file has an entry for each logical dimension; the text has one network."""
    (tmp_path / "logical.json").write_text('{"logical-dims": ["4", "2"]}')
    links = "\n".join(f"{rank} 8 400Gbps 0.0005ms 0" for rank in range(8))
    two = {"all-reduce-implementation": ["ring", "direct"]}
    done = imported(
        tmp_path, f"9 1 8\n8\n{links}", "--logical", str(tmp_path / "logical.json"), **two
    )
    made: Any = load_scenario(tmp_path / "s.yaml")
    assert levels(made.collective.all_reduce) == [(4, "ring"), (2, "direct")]
    (tmp_path / "logical.json").write_text('{"logical-dims": "8"}')
    done = imported(
        tmp_path, f"9 1 8\n8\n{links}", "--logical", str(tmp_path / "logical.json"), **two
    )
    assert (done.exit_code, "logical-dims with a list" in done.stderr) == (2, True), done.stderr


def test_traces_in_another_folder(tmp_path: Path) -> None:
    """The command names the option that the scenario needs to read them."""
    assert imported(tmp_path, RING).exit_code == 0
    options = ["--system", "system.json", "--network", "network.yml", "--traces", "traces/t"]
    files = [str(tmp_path / one) if "." in one or "/" in one else one for one in options]
    other = tmp_path / "other" / "s.yaml"
    done = CliRunner().invoke(main, ["import", "astra-sim", *files, "-o", str(other)])
    assert done.exit_code == 0, done.output
    assert f"--allow-files {(tmp_path / 'traces').resolve()}" in done.stderr
    allowed = ["--allow-files", str(tmp_path / "traces")]
    assert CliRunner().invoke(main, ["validate", str(other), *allowed]).exit_code == 0
    assert CliRunner().invoke(main, ["validate", str(other)]).exit_code == 2


def test_one_switch_of_the_ns3_backend(tmp_path: Path) -> None:
    """Hosts are the nodes that are no switches, here 0 to 7; either end may come first."""
    links = [
        f"{n} 8 400Gbps 0.0005ms 0" if n % 2 else f"8 {n} 400Gbps 0.0005ms 0" for n in range(8)
    ]
    done = imported(tmp_path, "\n".join(["9 1 8", "8", *links]))
    assert done.exit_code == 0, done.output
    made: Any = load_scenario(tmp_path / "s.yaml")
    assert (made.topology.family, made.topology.ranks) == ("flat", 8)
    assert (int(made.topology.bandwidth), int(made.topology.latency)) == (400 * 10**9, 500_000)
    assert made.fabric == "express"


def test_a_network_of_several_switches(tmp_path: Path) -> None:
    """Two leaves with four ranks each, and two spines: the scenario reads the text itself."""
    links = [f"{n} {8 + n // 4} 400Gbps 0.0005ms 0" for n in range(8)]
    links += [f"{leaf} {spine} 800Gbps 0.001ms 0" for leaf in (8, 9) for spine in (10, 11)]
    done = imported(tmp_path, "\n".join(["12 4 12", "8 9 10 11", *links]))
    assert done.exit_code == 0, done.output
    made: Any = load_scenario(tmp_path / "s.yaml")
    assert made.topology.family == "graph"
    network = resolve(made).network
    assert (network.ranks, network.nodes, network.links) == (8, 12, 24)
    assert sorted(set(network.rate_bps.tolist())) == [400 * 10**9, 800 * 10**9]
    first, second = (network.paths([0], [target]).links for target in (3, 4))
    assert (first.size, second.size) == (2, 4)
    result = bridge.run(made)
    assert result.status == "complete"
    assert result.network.drops == 0
    # 2·7/8 of 1 MiB at 400 Gbit/s, and 14 steps over at least two links and switches.
    assert result.time_ns > 2 * 7 / 8 * 2**20 * 8 / 400 + 14 * 1000


def test_a_fat_tree_of_the_htsim_backend(tmp_path: Path) -> None:
    """Four leaves with two ranks and two links up, in two pods: the scenario reads the text."""
    done = imported(tmp_path, HTSIM)
    assert done.exit_code == 0, done.output
    made: Any = load_scenario(tmp_path / "s.yaml")
    assert (made.fabric, made.topology.family) == ("express", "graph")
    assert resolve(made).network.ranks == 8
    result = bridge.run(made, {"fabric": "flow"})
    assert result.network.payload_bytes == 2 * 7 * 2**20


def test_losses_of_one_switch_stay(tmp_path: Path) -> None:
    links = [f"{n} 8 400Gbps 0.0005ms {0.01 * (n == 3)}" for n in range(8)]
    done = imported(tmp_path, "\n".join(["9 1 8", "8", *links]))
    assert done.exit_code == 0, done.output
    made: Any = load_scenario(tmp_path / "s.yaml")
    assert [link.loss for link in made.topology.links] == [0, 0, 0, 0.01, 0, 0, 0, 0]


def test_what_has_no_equivalent_is_named(tmp_path: Path) -> None:
    system = {
        "local-reduction-delay": 1,
        "replay-only": 1,
        "all-reduce-implementation": ["magic"],
        "all-to-all-implementation": ["direct4"],
    }
    done = imported(tmp_path, RING, **system)
    assert "local-reduction-delay: value 1 has no equivalent" in done.stderr
    assert "all-reduce-implementation: value ['magic'] is not known" in done.stderr
    assert "value ['direct4'] limits the messages that a rank has under way" in done.stderr
    made: Any = load_scenario(tmp_path / "s.yaml")
    assert (made.workload.durations, made.collective.all_to_all) == ("trace", "direct")
    assert "# " in (tmp_path / "s.yaml").read_text()


@pytest.mark.parametrize(
    ("network", "text"),
    [
        ("a: b", "expected the network of ASTRA-sim's analytical backend"),
        (RING.replace("8", "1"), "expected a count of at least 2"),
        (TWO.format("Mesh"), "topology 'Mesh': expected Ring, FullyConnected, Switch"),
        (
            "9 1 8\n8\n0 8 1Gbps 1us 0\n",
            "1 lines of links, but the header",
        ),
        (RING.replace("[ 50.0 ]", "[ 50.0, 1 ]"), "one entry for each dimension"),
        (RING.replace("50.0", "tbd"), "values 8, tbd and 500.0"),
        (RING.replace("8", "2.5"), "expected a count of at least 2"),
        (RING.replace("8", "70000"), "expected 2 … 65536 ranks"),
        ("CC_MODE 1\nTOPOLOGY_FILE ../t.txt\n", "the topology text that its TOPOLOGY_FILE names"),
    ],
)
def test_wrong_networks(network: str, text: str, tmp_path: Path) -> None:
    done = imported(tmp_path, network)
    assert (done.exit_code, text in done.stderr) == (2, True), done.stderr


def test_other_ranks_than_traces(tmp_path: Path) -> None:
    done = imported(tmp_path, RING.replace("8", "16"))
    assert (done.exit_code, "does not exist" in done.stderr) == (2, True), done.stderr

"""Algorithms of other tools and our own: symbolic execution rejects incorrect ones."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.collectives import traffic
from frontend.collectives.algorithm_files import checked
from tests.topology_gen import msccl_files
from tests.topology_gen.msccl_files import Op, xml
from topology_gen import graphs
from topology_gen.errors import AlgorithmError
from topology_gen.formats.msccl import read_xml, refusals, write_xml
from topology_gen.formats.mscclpp import read_plan, write_plan
from topology_gen.formats.schedule_json import read_json, write_json
from topology_gen.graphs.digraph import from_rules
from topology_gen.lowering.algorithm import Algorithm
from topology_gen.lowering.lowering import Lowering, lower
from topology_gen.lowering.order import Order
from topology_gen.schedules import bfb
from topology_gen.schedules.all_reduce import all_reduce
from topology_gen.schedules.all_to_all_schedule import all_to_all_schedule

FOREIGN = {
    "ring": msccl_files.ring_all_reduce(4, 1),
    "ring over 4 channels": msccl_files.ring_all_reduce(6, 4),
    "all pairs with scratch": msccl_files.all_pairs_all_reduce(5),
    "recursive": msccl_files.recursive_all_reduce(8),
    "ring in the output": msccl_files.ring_all_gather(5),
    "hierarchical": msccl_files.hierarchical_all_gather(3),
    "two steps with scratch": msccl_files.two_step_all_to_all(2, 3),
}

GRAPHS = [
    graphs.ring(5),
    graphs.unidirectional_ring(3, 2),  # parallel links
    graphs.generalized_kautz(2, 7),  # self-loops; reduce-scatter and all-gather differ
    graphs.hypercube(8),
]


def read(text: str) -> Algorithm:
    return read_xml(text.encode())


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_other_tools_files(text: str) -> None:
    algorithm = read(text)
    answer = checked(algorithm)
    assert not answer.adds_to_target
    assert answer.program.operation == algorithm.operation
    assert answer.program.group_size == algorithm.ranks
    assert refusals(algorithm) == []
    assert read(write_xml(algorithm)) == algorithm


def test_what_they_send() -> None:
    # A ring all-reduce sends 2·(N-1)/N of the buffer from each rank, in 2·(N-1) rounds.
    ring = read(FOREIGN["ring over 4 channels"])
    program = checked(ring).program
    assert set(traffic(program).sent.tolist()) == {2 * 5 * 4}
    seen = Order(ring).traffic()
    assert seen.rounds == (Fraction(1),) * 10
    assert set(seen.chunks.values()) == {2 * 5 * 4}
    # Halving and doubling: a half, a quarter, an eighth of eight shards, and back.
    seen = Order(read(FOREIGN["recursive"])).traffic()
    assert [int(load) for load in seen.rounds] == [4, 2, 1, 1, 2, 4]
    # Each rank sends its own data first over two links, then the data that it forwards.
    assert Order(read(FOREIGN["hierarchical"])).traffic().rounds == (Fraction(1),) * 2


def test_how_much_connections_must_hold() -> None:
    # A ring in one thread block sends before it receives, so two messages must be in flight.
    assert Order(read(FOREIGN["ring"])).slots() == 2
    # With receives in separate blocks, none need to be in flight.
    assert Order(read(FOREIGN["hierarchical"])).slots() == 0


def test_what_msccl_tools_means() -> None:
    text = msccl_files.shifted_reduce_scatter()
    answer = checked(read(text))
    assert answer.adds_to_target
    wrong = text.replace('type="cpy" srcbuf="i" srcoff="0" dstbuf="o"', 'type="cpy" srcbuf="i" '
                         'srcoff="1" dstbuf="o"')  # fmt: skip
    with pytest.raises(AlgorithmError, match="adds to chunks of other data"):
        checked(read(wrong))


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
def test_schedules_become_right_algorithms(graph) -> None:
    for schedule in (
        bfb.all_gather(graph),
        bfb.reduce_scatter(graph),
        all_reduce(graph),
        all_to_all_schedule(graph).schedule,
    ):
        for algorithm in (
            read(write_xml(lower(schedule))),
            Lowering(schedule, fuses=False).table(channels=3).algorithm(),
            read_plan(write_plan(schedule).encode()),
        ):
            assert algorithm.operation == schedule.operation
            answer = checked(algorithm)
            assert not answer.adds_to_target
            assert len(Order(algorithm).traffic().rounds) == schedule.steps
            fused = any(step.kind.sends and step.kind.receives for *_, step in algorithm.steps())
            slots = Order(algorithm).slots()
            assert slots is not None
            assert slots <= (2 if fused else 0)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.permutations(range(5)), min_size=1, max_size=2), st.integers(1, 3))
def test_schedules_on_any_digraph(permutations, channels) -> None:
    graph = from_rules("random", 5, [[1, 2, 3, 4, 0], *permutations])
    for schedule in (all_reduce(graph), all_to_all_schedule(graph, 2).schedule):
        checked(read(write_xml(lower(schedule, channels))))
        checked(read_plan(write_plan(schedule).encode()))


def test_link_loads_are_the_schedules() -> None:
    # Every link of a 4x4 torus carries 15/4 shards in an all-gather: 15 to each node over 4 links.
    graph = graphs.torus([4, 4])
    algorithm = lower(bfb.all_gather(graph))
    chunks = Order(algorithm).traffic().chunks
    assert chunks == dict.fromkeys(sorted(graph.edges()), 15 * algorithm.shard // 4)
    # A plan runs step by step, so even a reduce-scatter has the rounds of the schedule.
    plan = read_plan(write_plan(bfb.reduce_scatter(graph)).encode())
    assert Order(plan).traffic().rounds == bfb.reduce_scatter_performance(graph).loads


PAIR = xml(
    [
        {"t": (1, 1, 0, [Op("s", "i0", "o0"), Op("r", "i0", "o1"), Op("cpy", "i0", "o0")])},
        {"t": (0, 0, 0, [Op("s", "i0", "o1"), Op("r", "i0", "o0"), Op("cpy", "i0", "o1")])},
    ],
    "allgather",
    2,
    (1, 2, 0),
)


def changed(step: int, **values: object) -> str:
    """Return PAIR with changed attributes in a step of rank 0."""
    lines = PAIR.splitlines()
    for name, value in values.items():
        lines[3 + step] = re.sub(rf' {name}="[^"]*"', f' {name}="{value}"', lines[3 + step])
    return "\n".join(lines)


def test_the_pair_is_right() -> None:
    checked(read(PAIR))
    assert changed(0, srcoff=0) + "\n" == PAIR


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            changed(1, dstoff=0),
            r"out of place, gpu 0 ends without all chunks of its output \(and 1 more",
        ),
        (changed(2, dstoff=1), r"gpu 0 ends without all chunks of its output"),
        (changed(0, srcbuf="o"), r"gpu 0 tb 0 step 0 \(s\) reads chunks that hold nothing yet"),
        (changed(0, srcbuf="s"), r"uses chunks 0 … 0 of buffer s: expected 0 … -1"),
        (changed(0, srcoff=1), r"gpu 0 tb 0 step 0 \(s\) uses chunks 1 … 1 of buffer i"),
        (changed(1, type="rrc", srcbuf="o", srcoff=1), r"adds to chunks of other data"),
        (
            changed(2, type="nop", cnt=0, depid=0, deps=1),
            r"line 6: <step>: waits forever for tb 0 step 1",
        ),
        (
            changed(1, type="nop", cnt=0),
            r"from rank 1 to rank 0 over channel 0: 1 sends, but 0 receives",
        ),
        (changed(1, cnt=2, dstoff=0), r"sends 1 chunks, but gpu 0 tb 0 step 1 receives 2"),
    ],
)
def test_wrong_algorithms(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        checked(read(text))


def both(*ops: Op) -> str:
    """Return an in-place algorithm in which two ranks run the same steps with their peer."""
    gpus = [{"t": (1 - rank, 1 - rank, 0, ops)} for rank in range(2)]
    return xml(gpus, "allreduce", 1, (1, 0, 1), in_place=True)


SUM = (Op("s", "i0", "i0"), Op("rrc", "i0", "i0"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (both(*SUM, *SUM), r"step 3 \(rrc\) adds a contribution that is there already"),
        (
            both(*SUM[::-1]),
            r"deadlock: 4 steps wait for each other, such as gpu 0 tb 0 step 0 \(rrc\)",
        ),
        (
            both(Op("s", "i0", "s0"), Op("r", "i0", "s0")),
            "in place, rank 0 ends without the contribution of rank 1 to chunk 0",
        ),
    ],
)
def test_wrong_sums(text: str, sentence: str) -> None:
    checked(read(both(*SUM)))
    with pytest.raises(AlgorithmError, match=sentence):
        checked(read(text))


@pytest.mark.parametrize("size", ["nchunksperloop", "s_chunks"])
def test_more_than_memory_holds(size: str) -> None:
    text = re.sub(rf'{size}="\d+"', f'{size}="2000000000"', both(*SUM))
    with pytest.raises(AlgorithmError, match="expected what fits into 1024 MiB"):
        checked(read(text))


def test_races_between_blocks() -> None:
    # The copy does not wait for the receive of another block that writes what it reads.
    gpus = []
    for rank in range(2):
        waits = (("talk", 1),) if rank else ()
        talk = [Op("s", "i0", "s0"), Op("r", "i0", "s0")]
        add = [Op("re", "s0", "i0", 1, waits)]
        gpus.append({"talk": (1 - rank, 1 - rank, 0, talk), "add": (-1, -1, 0, add)})
    with pytest.raises(AlgorithmError, match="touch the same chunks in no fixed order"):
        checked(read(xml(gpus, "allreduce", 1, (1, 0, 1), in_place=True)))


def test_in_place_and_out_of_place() -> None:
    # Correct only out of place: in place, a receive overwrites the input before it is sent.
    text = msccl_files.two_step_all_to_all(2, 2)
    checked(read(text))
    with pytest.raises(AlgorithmError, match="in place"):
        checked(read(text.replace('inplace="0"', 'inplace="1" outofplace="1"')))


def test_a_redundant_receive_only_wastes_time() -> None:
    wasteful = checked(read(both(*SUM, Op("s", "i0", "i0"), Op("r", "i0", "i0"))))
    assert wasteful.redundant == 2  # one at each rank
    assert checked(read(both(*SUM))).redundant == 0


def rooted(operation: str, *, root: int, shards: bool) -> str:
    """Return an in-place algorithm with a root and two other ranks, which exchange one message."""
    others = [rank for rank in range(3) if rank != root]
    gpus: list[dict[str, Any]] = [{} for _ in range(3)]
    away = operation in ("broadcast", "scatter")
    kind = "rrc" if operation == "reduce" else "r"
    for other in others:
        place = f"i{other}" if shards else "i0"
        at_root = place if away else (f"o{other}" if shards else "i0")
        at_other = "o0" if operation == "scatter" else "i0"
        sends, gets = (at_root, at_other) if away else (at_other, at_root)
        source, target = (root, other) if away else (other, root)
        gpus[source][f"to{target}"] = (target, -1, 0, (Op("s", sends, sends),))
        gpus[target][f"from{source}"] = (-1, source, 0, (Op(kind, gets, gets),))
    sizes = {"gather": (1, 3, 0), "scatter": (3, 1, 0)}.get(operation, (1, 1, 0))
    return xml(gpus, operation, 3 if shards else 1, sizes, in_place=True)


@pytest.mark.parametrize("root", [0, 1, 2])
@pytest.mark.parametrize(
    ("operation", "shards"),
    [("broadcast", False), ("reduce", False), ("gather", True), ("scatter", True)],
)
def test_operations_with_a_root(operation: str, shards: bool, root: int) -> None:
    text = rooted(operation, root=root, shards=shards)
    algorithm = read(text)
    assert (algorithm.operation, algorithm.root) == (operation, root)
    if operation != "reduce":  # both senders add to the same chunk, in no fixed order
        program = checked(algorithm).program
        assert (program.operation, program.root) == (operation, root)
        wrong = text.replace('type="r"', 'type="rrc"')
        with pytest.raises(AlgorithmError):
            checked(read(wrong))
    again = read_json(write_json(algorithm).encode())
    assert again == algorithm

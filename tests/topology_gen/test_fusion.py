"""Fused instructions and all-gathers through scratch memory, in the lowering to thread blocks."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.collectives.algorithm_files import checked
from topology_gen import graphs
from topology_gen.formats.msccl import read_xml, refusals, write_xml
from topology_gen.lowering.algorithm import KINDS, Instruction, Kind, Place, Step
from topology_gen.lowering.fusion import BUFFERED, pieces
from topology_gen.lowering.lowering import Lowering
from topology_gen.lowering.order import Order
from topology_gen.schedules import bfb
from topology_gen.schedules.all_reduce import all_reduce


def kinds(table):
    return Counter(KINDS[code] for code in table.steps[:, 0].tolist())


def split(algorithm, whole):
    """Return the algorithm as the runtime executes it if at most `whole` chunks fit a message."""

    def sizes(step):
        return [min(whole, step.chunks - at) for at in range(0, step.chunks, whole)] or [0]

    gpus = []
    for gpu in algorithm.gpus:
        ends = [
            np.cumsum([len(sizes(step)) for step in block.instructions]) - 1 for block in gpu.blocks
        ]
        blocks = []
        for block in gpu.blocks:
            parts = []
            for step in block.instructions:
                after = step.after
                if after is not None:
                    after = Step(after.block, int(ends[after.block][after.number]))
                for i, size in enumerate(sizes(step)):
                    source, target = (
                        Place(place.buffer, place.offset + i * whole)
                        for place in (step.source, step.target)
                    )
                    last = step.awaited and i == len(sizes(step)) - 1
                    part = Instruction(step.kind, source, target, size, None if i else after, last)
                    parts.append(part)
            blocks.append(block._replace(instructions=tuple(parts)))
        gpus.append(gpu._replace(blocks=tuple(blocks)))
    return replace(algorithm, gpus=tuple(gpus))


def test_a_one_way_ring_all_reduce_is_that_of_nccl():
    # Each rank sends once, then passes on n-2 sums and n-2 results; without fusion, 4 (n-1) steps.
    ring = graphs.directed_circulant(8, [1])
    table = Lowering(all_reduce(ring)).table()
    assert kinds(table) == {
        Kind.SEND: 8,
        Kind.RECEIVE_REDUCE_SEND: 6 * 8,
        Kind.RECEIVE_REDUCE_COPY_SEND: 8,
        Kind.RECEIVE_COPY_SEND: 6 * 8,
        Kind.RECEIVE: 8,
    }
    assert len(table.blocks) == 8
    assert not table.sizes[:, 2].any(), "nothing needs scratch memory"
    apart = Lowering(all_reduce(ring), fuses=False).table()
    assert len(apart.steps) == 8 * 4 * 7
    algorithm = read_xml(write_xml(table).encode())
    checked(algorithm)
    assert Order(algorithm).slots() == 2
    assert Order(apart.algorithm()).slots() == 0


@pytest.mark.parametrize(
    ("graph", "protocol", "most_bytes", "direct", "fused"),
    [
        (graphs.ring(9), "Simple", 0, 288, 180),
        (graphs.ring(16), "Simple", 0, 1088, 1088),
        (graphs.ring(16), "Simple", 2**20, 1088, 704),
        (graphs.circulant(64), "LL", 2**16, 14769, 12264),
        (graphs.torus([4, 4]), "LL", 2**16, 1704, 1544),
    ],
)
def test_steps_of_all_reduces(graph, protocol, most_bytes, direct, fused):
    schedule = all_reduce(graph)
    lowering = Lowering(schedule, gathers=False)
    table = lowering.table(1, protocol, most_bytes)
    assert len(table.steps) == fused
    assert len(Lowering(schedule, gathers=False, fuses=False).table().steps) == direct
    algorithm = read_xml(write_xml(table).encode())
    assert algorithm.most_bytes == most_bytes
    checked(algorithm)
    slots = Order(algorithm).slots()
    assert slots is not None
    assert slots <= BUFFERED[protocol][0]


@pytest.mark.parametrize(("n", "direct", "through"), [(64, 127, 86.5625), (128, 255, 157.09375)])
def test_all_gathers_through_scratch_memory(n, direct, through):
    schedule = bfb.all_gather(graphs.generalized_kautz(4, n))
    never = Lowering(schedule, gathers=False, fuses=False).table()
    always = Lowering(schedule, gathers=True, fuses=False).table()
    instructions = len(always.steps) - kinds(always)[Kind.NOP]
    assert len(never.steps) == direct * n
    assert instructions == through * n + n  # and the copies of own data
    assert kinds(always)[Kind.SEND] < kinds(never)[Kind.SEND] / 5
    # Every chunk that comes is copied to the output.
    copied = always.steps[always.steps[:, 0] == KINDS.index(Kind.COPY), 5].sum()
    assert copied == n * n
    algorithm = read_xml(write_xml(Lowering(schedule).table()).encode())
    assert len(algorithm.gpus[0].blocks) <= 9
    checked(algorithm)


def test_circulants_need_no_scratch_memory():
    # Their chunks are adjacent anyway, so the default stores them where they belong.
    table = Lowering(bfb.all_gather(graphs.circulant(64))).table()
    assert not table.sizes[:, 2].any()


def test_messages_of_the_runtime():
    count = np.array([1, 4, 5])
    assert pieces(count, 64, "Simple", 0).tolist() == [1, 4, 5]  # any size
    assert pieces(count, 64, "Simple", 64 * 2**19).tolist() == [1, 1, 2]  # 4 chunks fill 2 MiB
    assert pieces(count, 64, "LL", 64 * 2**15).tolist() == [1, 4, 5]
    assert pieces(count, 64, "LL", 1).tolist() == [1, 1, 1]


@settings(max_examples=40, deadline=None)
@given(
    degree=st.integers(1, 4),
    nodes=st.integers(3, 14),
    seed=st.integers(0, 9),
    kind=st.sampled_from(["kautz", "random", "ring", "lines"]),
    operation=st.sampled_from([bfb.all_gather, bfb.reduce_scatter, all_reduce]),
    protocol=st.sampled_from(["Simple", "LL", "LL128"]),
    most_bytes=st.sampled_from([0, 1, 2**20, 2**26]),
    gathers=st.sampled_from([None, True, False]),
    channels=st.integers(1, 3),
)
def test_any_graph(degree, nodes, seed, kind, operation, protocol, most_bytes, gathers, channels):
    if kind == "ring":
        graph = graphs.ring(nodes)
    elif kind == "random":
        even = nodes + nodes % 2
        graph = graphs.random_regular(max(even, 6), max(degree, 2), seed=seed)
    elif kind == "lines":
        graph = graphs.directed_circulant(nodes, [1] * degree)
    else:
        graph = graphs.generalized_kautz(min(max(degree, 2), nodes - 1), nodes)
    lowering = Lowering(operation(graph), gathers)
    table = lowering.table(channels, protocol, most_bytes)
    algorithm = table.algorithm()
    checked(algorithm)
    held, size = BUFFERED[protocol]
    if refusals(table) == []:
        assert read_xml(write_xml(table).encode()).gpus == algorithm.gpus
    # Connections hold whatever the runtime makes of an instruction.
    whole = max(size // -(-most_bytes // table.chunks), 1) if most_bytes else 1
    slots = Order(split(algorithm, whole)).slots()
    assert slots is not None
    assert slots <= held

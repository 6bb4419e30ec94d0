"""Law: of ranks that do the same, estimators simulate one, and the result is that of all."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend import collectives
from frontend import network_api_pb2 as api
from frontend.collectives.program.composition import side_by_side
from tests.ns3_scratch import streams
from tests.ns3_scratch.streams import Trace, collective, header, program, run, star

FABRICS = ("analytical", "flow")


def fold(
    records: Sequence[api.Record], fabric: str = "analytical", **changes: Any
) -> tuple[dict[str, Any], int]:
    """Return the result and the number of simulated ranks; the result is that without folding."""
    whole, folded = (
        run([header(), streams.settings(fabric=fabric, replay=replay, **changes), *records])
        for replay in (False, True)
    )
    ranks = sum(len(one.trace.ranks) for one in records)
    simulated = folded.pop("simulator").get("ranks", ranks)
    whole.pop("simulator")
    assert folded == whole
    return folded, simulated


def in_groups(
    algorithm: str, size: int, groups: int, nbytes: int, operation: str = "all_reduce"
) -> list[api.Record]:
    """Return a collective of all ranks, of which each `size` neighbours are a group."""
    made = side_by_side(collectives.build(operation, algorithm, size), groups).table()
    ranks = range(size * groups)
    trace = Trace(ranks)
    trace.issue(0, [trace.compute(5_000_000)])
    issue = collective(0, 0, ranks, nbytes, groups=groups)
    return [star(size * groups), program(0, made), issue, trace.record()]


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("algorithm", ["ring", "direct"])
def test_a_collective_of_all_ranks_is_that_of_one(algorithm: str, fabric: str) -> None:
    result, simulated = fold(in_groups(algorithm, 8, 1, 800_000), fabric)
    assert simulated == 1
    assert result["network"]["messages"] > 8


def test_groups_are_like_one() -> None:
    result, simulated = fold(in_groups("ring", 4, 6, 400_000))
    assert simulated == 1
    (entry,) = result["collectives"]
    assert (entry["group_size"], entry["groups"]) == (4, 6)


def test_what_differs_inside_groups_is_kept() -> None:
    # A binary tree has a root, so no member is like another; the groups are.
    _, simulated = fold(in_groups("binary_tree", 4, 6, 400_000))
    assert simulated == 4


def neighbours(ranks: int, sizes: Sequence[int], modulus: int) -> api.Record:
    """Every rank sends a message to each of its next ranks in turn, all with the same tag."""
    trace = Trace(range(ranks))
    last: list[int] = []
    for offset, size in enumerate(sizes, 1):
        trace.send(offset, size, last)
        last = [trace.receive(modulus - offset, size)]
    record = trace.record()
    record.trace.peer_modulus = modulus
    return record


@pytest.mark.parametrize("fabric", FABRICS)
def test_messages_reach_the_rank_that_stands_for_their_target(fabric: str) -> None:
    # Rank 0 gets messages from two ranks, both of which it stands for itself.
    result, simulated = fold([star(6), neighbours(6, [60_000, 10_000], 6)], fabric)
    assert simulated == 1
    assert result["network"]["messages"] == 12
    assert result["network"]["payload_bytes"] == 6 * 70_000


def test_ranks_that_do_two_things_at_once_are_all_simulated() -> None:
    # The last rank of a group begins the collective before its message, the others after it.
    records = in_groups("ring", 4, 2, 400_000)
    trace = Trace(range(8))
    trace.issue(0)
    trace.send(4, 60_000)
    trace.receive(4, 60_000)
    record = trace.record()
    record.trace.peer_modulus = 8
    assert fold([*records[:-1], record])[1] == 8


def change(name: str, index: int, value: int) -> Callable[[list[api.Record]], None]:
    def act(records: list[api.Record]) -> None:
        getattr(records[0].topology, name)[index] = value

    return act


def another_trace(records: list[api.Record]) -> None:
    first = records[-1].trace
    other = api.Record(trace=first)
    other.trace.ranks[:] = [7]
    other.trace.duration_ps[0] += 1
    first.ranks[:] = range(7)
    records.append(other)


def one_byte_more(records: list[api.Record]) -> None:
    records[2].collective.bytes += 1  # the units of a chunk have two sizes


def other_traffic(records: list[api.Record]) -> None:
    records[0].topology.traffic.append(
        api.Traffic(
            text="a burst",
            sources=[0],
            targets=[1],
            interval_ps=10**9,
            burst=True,
            sizes=[1000],
            cumulative_ppb=[10**9],
            end_ps=10**7,
        )
    )


def straggler(records: list[api.Record]) -> None:
    records[0].topology.events.append(
        api.NetworkEvent(
            kind=api.NetworkEvent.COMPUTE, text="slow", ranks=[3], factor_ppm=2_000_000
        )
    )


DIFFERENT = {
    "rate": change("link_rate_bps", 3, streams.RATE_BPS // 2),
    "latency": change("link_latency_ps", 9, streams.LATENCY_PS + 1),
    "buffer": change("link_buffer_bytes", 9, 10**6),
    "trace": another_trace,
    "unequal units": one_byte_more,
    "straggler": straggler,
    "other traffic": other_traffic,
}


@pytest.mark.parametrize("difference", DIFFERENT)
def test_a_difference_between_ranks_is_seen(difference: str) -> None:
    records = in_groups("ring", 8, 1, 800_000)
    assert fold(records)[1] == 1
    DIFFERENT[difference](records)
    assert fold(records)[1] == 8


def test_links_that_ranks_share_are_not_folded() -> None:
    # Two stars with a link between them: what crosses it meets there.
    records = in_groups("ring", 8, 1, 800_000)
    topology = records[0].topology
    topology.nodes += 1
    for link in range(16):
        ends = topology.link_source if link >= 8 else topology.link_target
        ends[link] = 8 + link % 8 // 4
    for source, target in ((8, 9), (9, 8)):
        topology.link_source.append(source)
        topology.link_target.append(target)
        topology.link_rate_bps.append(streams.RATE_BPS)
        topology.link_latency_ps.append(streams.LATENCY_PS)
        topology.link_buffer_bytes.append(streams.UNLIMITED_BYTES)
        topology.link_ecn_threshold_bytes.append(0)
        topology.link_dimension.append(0)
    begin, links = [0], list[int]()
    for source, target in zip(topology.path_source, topology.path_target, strict=True):
        between = {(0, 0): [], (1, 1): [], (0, 1): [16], (1, 0): [17]}[source // 4, target // 4]
        links += [source, *between, 8 + target]
        begin.append(len(links))
    topology.path_begin[:], topology.path_links[:] = begin, links
    # The two halves are alike, the ranks of a half are not.
    assert fold(records)[1] == 4


@st.composite
def mixes(draw: st.DrawFn) -> list[api.Record]:
    """Draw collectives in groups of several sizes, messages, and perhaps a difference."""
    ranks = draw(st.sampled_from([4, 6, 8, 12, 16]))
    records = [star(ranks)]
    trace = Trace(range(ranks))
    last: list[int] = []
    for number in range(draw(st.integers(1, 3))):
        size = draw(st.sampled_from([n for n in range(2, ranks + 1) if ranks % n == 0]))
        stride = draw(st.sampled_from([1, ranks // size]))
        algorithm = draw(st.sampled_from(["ring", "direct", "dbt", "binary_tree", "bruck"]))
        operation = "all_to_all" if algorithm == "bruck" else "all_reduce"
        algorithm = "direct" if algorithm == "bruck" else algorithm
        built = collectives.build(operation, algorithm, size)
        made = side_by_side(built, ranks // size).table()
        members = [
            group * (size if stride == 1 else 1) + member * stride
            for group in range(ranks // size)
            for member in range(size)
        ]
        nbytes = draw(st.sampled_from([1, 3, 4800, 96_000, 96_001, 960_000]))
        chunks = draw(st.integers(1, 3))
        records += [
            program(number, made),
            collective(number, number, members, nbytes, chunks, groups=ranks // size),
        ]
        if draw(st.booleans()):
            last = [trace.compute(draw(st.integers(0, 10**7)), last)]
        last = [trace.issue(number, last)]
    if draw(st.booleans()):
        offset, nbytes = draw(st.integers(1, ranks - 1)), draw(st.integers(0, 10**5))
        trace.send(offset, nbytes)
        trace.receive(ranks - offset, nbytes, last)
    record = trace.record()
    record.trace.peer_modulus = ranks
    if draw(st.booleans()):
        topology = records[0].topology
        topology.link_rate_bps[draw(st.integers(0, 2 * ranks - 1))] //= 2
    # Programs come before collectives, and these before traces.
    records.sort(
        key=lambda one: ("topology", "program", "collective").index(one.WhichOneof("kind") or "")
    )
    return [*records, record]


@settings(max_examples=200, deadline=None)
@given(records=mixes(), fabric=st.sampled_from(FABRICS), injection=st.sampled_from([0, 10**6]))
def test_the_result_is_that_of_all_ranks(
    records: list[api.Record], fabric: str, injection: int
) -> None:
    fold(records, fabric, injection_ps=injection)

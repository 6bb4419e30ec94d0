"""The algorithm `nccl`: programs of its channels, and the model of NCCL's tuner."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from frontend.collectives import ALGORITHMS, problems
from frontend.collectives.algorithms.nccl import Place, orders_of, trees_of
from frontend.collectives.nccl_options import NcclOptions
from frontend.collectives.nccl_plugins import PLUGINS
from frontend.collectives.nccl_regions import REGIONS, Tuner, chosen
from frontend.collectives.nccl_tuner import (
    LIMITS,
    PROTOCOLS,
    WIRE,
    Kind,
    Machine,
    ProtocolName,
    bus_bandwidth,
    candidates,
    latency_us,
    links_bandwidth,
    step_us,
    time_us,
    tree_part,
    wire_of,
)
from frontend.collectives.program.program import Program, ProgramBuilder
from frontend.collectives.program.rotation import Rotation

H100 = Machine(
    ranks=8, servers=1, scale_up_bps=3600 * 10**9, nics=8, nic_bps=400 * 10**9, near_ps=0, far_ps=0
)


@st.composite
def places(draw: st.DrawFn) -> tuple[int, Place]:
    """Return a group size, and where the members are."""
    local = draw(st.integers(1, 6))
    heads = draw(st.sets(st.integers(0, local - 1), min_size=1).map(sorted))
    size = local * draw(st.integers(1 if local > 1 else 2, 5))
    return size, Place(local, tuple(heads))


@given(places())
def test_a_ring_enters_and_leaves_each_server_once(drawn: tuple[int, Place]) -> None:
    size, place = drawn
    orders = orders_of(size, place)
    servers = size // place.local_size
    assert len(orders) == (1 if servers == 1 else len(place.heads))
    entered = Counter[int]()
    for order in orders:
        assert sorted(order) == list(range(size))
        hops = [(order[k - 1], one) for k, one in enumerate(order)]
        far = [(a, b) for a, b in hops if a // place.local_size != b // place.local_size]
        assert len(far) == (servers if servers > 1 else 0)
        entered.update(b for _, b in far)
    if servers > 1:  # by the NIC of its channel
        assert entered == Counter(
            server * place.local_size + head for server in range(servers) for head in place.heads
        )


@given(places())
def test_trees_reach_every_member_from_one_root(drawn: tuple[int, Place]) -> None:
    size, place = drawn
    for parents in trees_of(size, place):
        assert parents.count(None) == 1
        for member in range(size):
            seen = set()
            above: int | None = member
            while above is not None:
                assert above not in seen
                seen.add(above)
                above = parents[above]


@pytest.mark.parametrize(
    "operation",
    ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all"],
)
@settings(max_examples=20)
@given(drawn=places(), kind=st.sampled_from(["ring", "tree"]), segments=st.integers(1, 3))
def test_programs_compute_the_operation(
    operation: str, drawn: tuple[int, Place], kind: str, segments: int
) -> None:
    size, place = drawn
    rooted = {"root": size - 1} if operation in ("broadcast", "reduce") else {}
    program = ALGORITHMS["nccl"].build(
        operation, size, algorithm=kind, place=place, segments=segments, **rooted
    )
    assert problems(program.table()) == []


def message_by_message(operation: str, size: int, place: Place) -> Program:
    """Return the rings of all channels, one message after another."""
    orders, local = orders_of(size, place), place.local_size
    units = size * len(orders)
    builder = ProgramBuilder(
        "nccl", operation, size, units=units, space=3 * units, dimensions=("scale_out",)
    )
    received: dict[tuple[int, int], list[int]] = {}
    halves = {"reduce_scatter": (0, 1), "all_gather": (1, 2), "all_reduce": (0, 2)}[operation]
    for k in range(halves[0] * (size - 1), halves[1] * (size - 1)):
        before, received = received, {}
        reduces = k < size - 1
        for channel, order in enumerate(orders):
            for p, source in enumerate(order):
                unit = order[(p - k - 1) % size] * len(orders) + channel
                target, own = order[(p + 1) % size], unit
                after = before.get((channel, source), [])
                if place.relays and size > local and source // local != target // local:
                    relay = source // local * local + order[0]
                    own += units if reduces else 2 * units
                    _, last = builder.message(source, relay, unit, 1, into=own, after=after)
                    source, after = relay, [last]
                _, last = builder.message(
                    source, target, own, 1, into=unit, reduce=reduces, after=after
                )
                received[channel, target] = [last]
    return builder.build()


def graph(program: Program) -> dict[tuple[int, ...], tuple[object, object]]:
    """Return the partner of each step and what it waits for; steps by what they do, and how often
    the member did it before."""
    columns = (program.members(), program.op, program.peer, program.offset, program.count)
    often = Counter[tuple[int, ...]]()
    names = []
    for step in zip(*(column.tolist() for column in columns), strict=True):
        names.append((*step, often[step]))
        often[step] += 1
    waits: list[set[object]] = [set() for _ in names]
    for step, dep in zip(program.dependents(), program.dep, strict=True):
        waits[step].add(names[dep])
    return {
        name: (names[mate], frozenset(deps))
        for name, mate, deps in zip(names, program.target, waits, strict=True)
    }


@pytest.mark.parametrize("operation", ["all_reduce", "all_gather", "reduce_scatter"])
@settings(max_examples=20, deadline=None)
@given(drawn=places(), shared=st.booleans())
def test_rings_are_those_built_message_by_message(
    operation: str, drawn: tuple[int, Place], shared: bool
) -> None:
    size, place = drawn
    half = place.local_size // 2
    if shared and place.local_size == 2 * half:  # each NIC by two members
        heads = sorted({head % half for head in place.heads})
        place = Place(2 * half, tuple(heads), tuple(head + half for head in heads))
    rule = ALGORITHMS["nccl"].build(operation, size, algorithm="ring", place=place)
    assert isinstance(rule, Rotation)
    assert rule.block == (1 if size == place.local_size else place.local_size)
    assert graph(rule.table()) == graph(message_by_message(operation, size, place))


def test_the_latency_is_what_nccl_logged() -> None:
    """`NCCL_DEBUG` of 3 × 8 H100 (NVIDIA/nccl, issue 1453): tree with LL, 4096 and 8192 bytes."""
    times = {4096: 25.874907, 8192: 26.549810}
    machine = H100._replace(ranks=24, servers=3)
    slope = (times[8192] - times[4096]) / 4096
    assert latency_us(machine, "all_reduce", "tree", "LL") == pytest.approx(
        times[4096] - 4096 * slope, abs=1e-4
    )
    for size, time in times.items():
        assert time_us(machine, "all_reduce", "tree", "LL", size) == pytest.approx(time, abs=1e-4)
    assert candidates(machine, "all_reduce", 4096)[0].name == "Algo TREE proto LL"


def test_protocols_by_size_in_one_server() -> None:
    """On 8 H200, NCCL has ring with LL up to 1 MiB, and Simple in the end (ml-engineering)."""
    names = {size: candidates(H100, "all_reduce", size)[0].name for size in (2**15, 2**20, 2**30)}
    assert names == {
        2**15: "Algo RING proto LL",
        2**20: "Algo RING proto LL",
        2**30: "Algo RING proto SIMPLE",
    }


@given(
    st.integers(1, 64),
    st.sampled_from([300, 450, 900]),
    st.sampled_from(["ring", "tree"]),
    st.sampled_from(PROTOCOLS),
    st.integers(6, 36),
)
def test_links_carry_no_more_than_the_tuner_expects(
    servers: int, gigabytes: int, kind: Kind, protocol: ProtocolName, exponent: int
) -> None:
    """LL and LL128 cost a link what is left of its rate in the model, and at least their flags.

    Trees between servers with LL128 and Simple cost what the threads of all channels leave.
    """
    machine = H100._replace(ranks=8 * servers, servers=servers, scale_up_bps=gigabytes * 8 * 10**9)
    cost, links = wire_of(machine, kind, protocol, 2**exponent), links_bandwidth(machine, kind)
    if kind == "ring" and servers > 1:
        links = machine.nics * machine.nic_bps / 8e9
    part = tree_part(machine, kind, protocol, 2**exponent)
    expected = bus_bandwidth(machine, kind, protocol) * part
    assert cost >= WIRE[protocol]
    limits = LIMITS[machine.generation]
    if kind == "tree" and servers > 1 and protocol != "LL":
        most = limits.tree if protocol == "Simple" else limits.tree_ll128
        channel = machine.nics * most[machine.column]
        assert links / cost == pytest.approx(min(channel, links / WIRE[protocol]))
    elif protocol == "Simple":
        assert cost == 1
    else:
        assert links / cost == pytest.approx(min(expected, links / WIRE[protocol]))
    assert 0.4 <= part <= 1
    assert kind == "tree" or part == 1


def test_the_latency_that_a_plug_in_tells_is_not_what_a_step_takes() -> None:
    """On two p5, NCCL takes trees with LL by AWS's 75 µs; each step takes 19 µs more."""
    verbs, p5 = (
        H100._replace(ranks=16, servers=2, plugin=PLUGINS[name]) for name in ("verbs", "efa_p5")
    )
    for protocol, told in zip(PROTOCOLS, (75, 75, 150), strict=True):
        more = latency_us(p5, "all_reduce", "tree", protocol) - 2 * told
        assert more == pytest.approx(latency_us(verbs, "all_reduce", "tree", protocol))
        near, far = step_us(verbs, "tree", protocol)
        assert step_us(p5, "tree", protocol) == (near, far + 19)


def test_variables_of_google_leave_simple() -> None:
    machine = H100._replace(ranks=16, servers=2, reduces=True)
    for name, expected in (
        ("tcpxo_simple", {"ring Simple", "tree Simple"}),
        ("tcpx", {"ring Simple"}),
    ):
        found = candidates(machine._replace(plugin=PLUGINS[name]), "all_reduce", 2**20)
        assert {f"{one.kind} {one.protocol}" for one in found} == expected


@given(
    st.sampled_from(sorted(REGIONS)), st.integers(1, 36), st.integers(0, 999), st.integers(2, 512)
)
def test_the_tuner_of_aws_takes_rings_and_trees_by_size(
    key: tuple[Tuner, str], exponent: int, part: int, servers: int
) -> None:
    """Where it chooses, larger sizes never have a protocol with less bandwidth."""
    tuner, operation = key
    size = 2**exponent + part * 2**exponent // 1000
    first, second = (chosen(tuner, operation, one, 8 * servers) for one in (size, 4 * size))
    if first and second:
        assert PROTOCOLS.index(first.protocol) <= PROTOCOLS.index(second.protocol)


def test_a_version_may_be_written_as_a_number() -> None:
    """YAML reads 2.20 without quotes as 2.2."""
    assert [NcclOptions.model_validate({"version": number}).version for number in (2.2, 2.27)] == [
        "2.20",
        "2.27",
    ]
    with pytest.raises(ValidationError, match=r"2\.18"):
        NcclOptions.model_validate({"version": 2.204})


def test_older_versions_choose_otherwise() -> None:
    """By NCCL 2.27, 6 B200 take NVLS (ml-engineering); by 2.20, rings with LL are slower."""
    b200 = H100._replace(ranks=6, scale_up_bps=7200 * 10**9, nics=6, reduces=True)
    for version, name in ((27, "Algo NVLS proto SIMPLE"), (30, "Algo RING proto SIMPLE")):
        old = b200._replace(version=version)
        assert candidates(old, "all_reduce", 2**33)[0].name == name
    p4d = Machine(
        16, 2, 2400 * 10**9, nics=4, nic_bps=100 * 10**9, near_ps=0, far_ps=0,
        plugin=PLUGINS["efa_p4d"],
    )  # fmt: skip
    for version, name in ((20, "Algo TREE proto LL"), (30, "Algo RING proto LL")):
        old = p4d._replace(version=version)
        assert candidates(old, "all_reduce", 2**17)[0].name == name
    old = b200._replace(ranks=16, servers=2, nics=8, version=18)
    for protocol in PROTOCOLS:  # times are those of today's tables
        assert wire_of(old, "ring", protocol, 2**20) == wire_of(old.today, "ring", protocol, 2**20)


@pytest.mark.parametrize(
    ("tuner", "mebibytes", "ranks", "taken"),
    [
        ("p5", 29, 16, "tree LL128"),
        ("p5", 31, 16, "nvls_tree Simple"),
        ("p5", 1024, 32, "ring LL128"),
        ("p5", 2048, 32, "ring Simple"),
        ("p5en", 12, 16, "tree LL128"),
        ("p5en", 14, 16, "ring LL128"),
        ("p6", 1, 32, "tree LL128"),
        ("p6", 512, 16, "nvls_tree Simple"),
    ],
)
def test_corners_of_the_tuner_of_aws(tuner: Tuner, mebibytes: int, ranks: int, taken: str) -> None:
    region = chosen(tuner, "all_reduce", mebibytes * 2**20, ranks)
    assert region
    assert f"{region.kind} {region.protocol}" == taken


@given(
    st.integers(1, 64),
    st.sampled_from([300, 450, 900]),
    st.sampled_from(["all_reduce", "all_gather"]),
)
def test_a_protocol_never_has_more_bandwidth_than_its_bytes_leave(
    servers: int, gigabytes: int, operation: str
) -> None:
    machine = H100._replace(ranks=8 * servers, servers=servers, scale_up_bps=gigabytes * 8 * 10**9)
    simple = bus_bandwidth(machine, "ring", "Simple")
    for protocol in PROTOCOLS:
        assert bus_bandwidth(machine, "ring", protocol) * WIRE[protocol] <= simple * 1.0001
    sizes = [2**exponent for exponent in range(10, 34)]
    best = [candidates(machine, operation, size)[0].time_us for size in sizes]
    assert best == sorted(best)

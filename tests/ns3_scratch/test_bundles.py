"""Bundles of messages give the same times as single messages, with a fraction of the events.

`message_by_message` turns off the grouping of steps and the network's bundles. The links have
different rates and latencies, so no two messages reach the same place at the same picosecond, and
ties do not matter.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from frontend import collectives
from frontend import network_api_pb2 as api
from frontend.collectives.program.program import Program
from tests.ns3_scratch.streams import LOCAL, NEGOTIATED, Trace, one_collective, run

RATE = st.integers(10 * 10**9, 400 * 10**9)
LATENCY = st.integers(100_000, 1_000_000)
FLAT = [
    ("all_reduce", "ring"),
    ("all_reduce", "direct"),
    ("all_reduce", "dbt"),
    ("all_reduce", "halving_doubling"),
    ("all_to_all", "direct"),
    ("reduce_scatter", "direct"),
    ("all_gather", "dbt"),
]


def both(records: list[api.Record]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a stream with and without bundles."""
    bundled = run(records)
    for record in records:
        if record.HasField("settings"):
            record.settings.system.message_by_message = True
    return bundled, run(records)


def counted(result: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a result that does not depend on the number of events."""
    return {key: value for key, value in result.items() if key != "simulator"}


@st.composite
def streams(draw: st.DrawFn, fabric: str) -> list[api.Record]:
    ranks = draw(st.integers(2, 9))
    operation, algorithm = draw(st.sampled_from(FLAT))
    made: Program = collectives.build(operation, algorithm, ranks)
    records = one_collective(
        made,
        draw(st.integers(0, 400_000)),
        draw(st.integers(1, 6)),
        fabric=fabric,
        limits=[draw(st.integers(1, 4))],
        admission=draw(st.sampled_from([LOCAL, NEGOTIATED])),
        injection_ps=draw(st.sampled_from([0, 10_007])),
        reduction_bytes_per_s=draw(st.sampled_from([0, 10**11])),
    )
    records.pop()
    for rank in range(ranks):  # with LOCAL, messages arrive before their receiver has begun
        trace = Trace([rank])
        trace.issue(0, [trace.compute(draw(st.integers(0, 20_000_000)))])
        records.append(trace.record())
    topology = next(record.topology for record in records if record.HasField("topology"))
    links = len(topology.link_rate_bps)
    unique = st.lists(RATE, min_size=links, max_size=links, unique=True)
    topology.link_rate_bps[:] = draw(unique)
    topology.link_latency_ps[:] = draw(
        st.lists(LATENCY, min_size=links, max_size=links, unique=True)
    )
    return records


@hypothesis_settings(max_examples=80, deadline=None)
@given(streams("analytical"))
def test_the_analytical_fabric_gives_the_same(records: list[api.Record]) -> None:
    """All reported values are equal, to the picosecond."""
    bundled, single = both(records)
    assert counted(bundled) == counted(single)


@hypothesis_settings(max_examples=40, deadline=None)
@given(streams("flow"))
def test_the_flow_fabric_gives_the_same(records: list[api.Record]) -> None:
    """Results agree except for rounding: sums of rates depend on the order of events."""
    bundled, single = both(records)
    assert bundled["time_ns"] == pytest.approx(single["time_ns"], rel=1e-6)
    assert bundled["network"]["messages"] == single["network"]["messages"]


@pytest.mark.parametrize("algorithm", ["ring", "direct", "halving_doubling"])
@pytest.mark.parametrize("fabric", ["analytical", "flow"])
def test_equal_links(algorithm: str, fabric: str) -> None:
    """Results are equal even if all links are equal and messages meet at the same picosecond."""
    made = collectives.build("all_reduce", algorithm, 16)
    records = one_collective(made, 1_000_000, 8, fabric=fabric, injection_ps=10_000)
    bundled, single = both(records)
    assert bundled["time_ns"] == pytest.approx(single["time_ns"], abs=0.01)


def test_a_direct_exchange_costs_events_of_ranks_not_of_messages() -> None:
    ranks = 32
    made = collectives.build("all_to_all", "direct", ranks)
    bundled, single = both(one_collective(made, ranks * 1461, injection_ps=10_000))
    assert bundled["time_ns"] == single["time_ns"]
    assert bundled["simulator"]["events"] <= 10 < single["simulator"]["events"]

"""The cost model equals Table 2, computed by hand, and the published ratios."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topology_gen.cost import (
    ARCHITECTURES,
    PRICES,
    equivalent_bandwidth,
    fat_tree,
    fibre_cost,
    prices_for,
)
from topology_gen.errors import CostError

GBPS = 10**9


def bill(name, servers=128, degree=4, rate=100):
    return ARCHITECTURES[name].bill(servers, degree, rate * GBPS, 1)


def test_a_fast_link_has_the_cheapest_ports():
    """400 Gbps are two ports of 200 Gbps on one NIC; four of 100 Gbps would take two NICs."""
    switch = bill("ideal_switch")
    assert switch.nics == 128 * 815
    assert 128 * (2 * 678 - 815) / switch.total == pytest.approx(0.062, abs=0.001)


def test_bills_by_hand():
    # "A TopoOpt system of 128 nodes with degree d uses 128·d NICs and transceivers, but 128·2·d
    # patch panel ports" (Appendix G); a NIC has two ports.
    topoopt = bill("topoopt")
    assert topoopt.nics == 128 * 4 / 2 * 678
    assert topoopt.transceivers == 128 * 4 * 99
    assert topoopt.patch_panel_ports == 128 * 2 * 4 * 100
    assert topoopt.optical_switches == 128 * 4 * 25
    # "A standard k = 8 Fat-tree has ... 640 switch ports in total, in addition to 1 NIC per host
    # and one transceiver per NIC and switch port."
    tree = fat_tree(128, 100 * GBPS)
    assert tree.switch_ports == 640 * 187
    assert tree.nics == 128 * 678
    assert tree.transceivers == (128 + 640) * 99
    # OCSs need no look-ahead ports; an expander needs nothing but NICs and fibres.
    assert bill("ocs_reconfig").ocs_ports == 128 * 4 * 520
    assert bill("expander").total == pytest.approx(
        128 * 4 * (678 / 2 + 99) + 0.3 * 500 * 128 * 4 / 2, rel=0.05
    )
    assert bill("ideal_switch") == fat_tree(128, 400 * GBPS)
    # Half of the links above the first tier are left out.
    assert bill("oversubscribed_fat_tree").switch_ports == bill("ideal_switch").switch_ports * 3 / 5


def test_published_ratios():
    # Section 5.2: OCSs make TopoOpt 1.33 times as dear, and Ideal Switch costs 3.2 times TopoOpt,
    # both on average. The bandwidths averaged over are not given: these are of 100 and 200 Gbps.
    rates = (100, 200)
    ocs = mean(bill("ocs_reconfig", rate=r).total / bill("topoopt", rate=r).total for r in rates)
    ideal = mean(bill("ideal_switch", rate=r).total / bill("topoopt", rate=r).total for r in rates)
    assert ocs == pytest.approx(1.33, abs=0.01)
    assert ideal == pytest.approx(3.2, rel=0.15)
    # A k = 26 Fat-tree's 4394 servers: "3.0×".
    large = bill("ideal_switch", 4394).total / bill("topoopt", 4394).total
    assert large == pytest.approx(3.0, rel=0.15)
    # The expander is the least expensive.
    for rate in rates:
        assert min(ARCHITECTURES, key=lambda name: bill(name, rate=rate).total) == "expander"


def test_fibres():
    # Uniform between 0 and 1000 m at 30 cents: 150 dollars on average.
    assert fibre_cost(20_000) / 20_000 == pytest.approx(150, rel=0.02)
    assert fibre_cost(10, seed=1) == fibre_cost(10, seed=1) != fibre_cost(10, seed=2)
    assert fibre_cost(0) == 0


@given(
    st.integers(1, 5000),
    st.integers(1, 12),
    st.integers(1, 200),
    st.integers(0, 5),
    st.sampled_from(sorted(ARCHITECTURES)),
)
def test_more_costs_more(servers, degree, rate, seed, name):
    make = ARCHITECTURES[name].bill
    total = make(servers, degree, rate * GBPS, seed).total
    assert 0 < total < make(servers + 1, degree, rate * GBPS, seed).total
    assert total < make(servers, degree + 1, rate * GBPS, seed).total * 1.0001
    for slow, fast in pairwise(prices.rate_bps for prices in PRICES):
        assert make(servers, degree, slow, seed).total <= make(servers, degree, fast, seed).total


@given(st.integers(50, 2000), st.integers(4, 8), st.sampled_from([10, 25, 40, 100, 200]))
def test_equivalent_bandwidth_costs_the_same(servers, degree, rate):
    budget = bill("topoopt", servers, degree, rate).total
    link = degree * equivalent_bandwidth(servers, degree, rate * GBPS)
    # Where a step of the parts' bandwidths has it, exactly; else between those of the two steps.
    steps = [prices.rate_bps for prices in PRICES]
    below = max((step for step in steps if step <= link), default=0)
    assert fat_tree(servers, below).total <= budget * (1 + 1e-9)
    assert fat_tree(servers, round(link) + 200 * GBPS).total > budget
    again = equivalent_bandwidth(servers, degree, rate * GBPS)
    assert link == degree * again


def test_prices_for_rates_between():
    assert prices_for(1).rate_bps == 10 * GBPS
    assert prices_for(10 * GBPS).rate_bps == 10 * GBPS
    assert prices_for(10 * GBPS + 1).rate_bps == 25 * GBPS


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: bill("topoopt", servers=0), "0 servers: expected at least 1"),
        (lambda: bill("topoopt", degree=0), "degree 0: expected at least 1"),
        (lambda: bill("ideal_switch", degree=0), "degree 0: expected at least 1"),
        (lambda: bill("topoopt", rate=400), "400 Gbps a port: expected more than 0, at most 200"),
        (lambda: bill("expander", rate=0), "0 Gbps a port: expected more than 0, at most 200"),
        (lambda: fat_tree(4, 0), "0 bit/s a link: expected at least 1"),
        (lambda: equivalent_bandwidth(100, 1, 10 * GBPS), "a fat tree costs at least"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(CostError, match=text):
        call()

"""The search: FlexFlow's acceptance rule, the chain, and the alternating optimisation."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.parallelization import (
    Estimator,
    OperatorGraph,
    Placement,
    Server,
    State,
    Strategy,
    StrategyError,
    accept,
    alternate,
    begin,
    by_samples,
    check_placement,
    data_parallel,
    demand,
    group_rings,
    hybrid,
    mcmc,
    next_round,
    placements,
    propose,
    search,
    state_from_json,
    state_to_json,
)
from tests.frontend.parallelization.graphs import dense, jobs, small_dlrm, table
from topology_gen import direct_connect, flat
from topology_gen.topoopt import data_parallel as demand_of_all
from topology_gen.topoopt import topology_finder

SERVER = Server(4, 1e11, 1e10, 0.5, 1e9, 1e10)


def place(graph, server=SERVER):
    """Return what makes an estimator on the topology for a demand: 4 ports of 1 Gbit/s."""

    def on(wanted):
        topology = topology_finder(wanted, 4)
        return Estimator(graph, server, direct_connect(topology.graph, 10**9, 10**6), topology)

    return on


@given(st.floats(0, 1, exclude_max=True), st.floats(-1, 0, exclude_max=True), st.floats(0, 100))
def test_faster_is_always_accepted(chance, difference, beta):
    assert accept(difference, beta, chance)


@pytest.mark.parametrize("beta", [0.0, 0.5, 3.0])
def test_slower_is_accepted_with_the_probability_of_the_rule(beta):
    # Of evenly spread chances, exp(-β·Δ) are below exp(-β·Δ), with Δ = 0.4 ms.
    chances = (np.arange(10_000) + 0.5) / 10_000
    taken = sum(accept(0.4e-3, beta, chance) for chance in chances)
    assert taken / 10_000 == pytest.approx(math.exp(-beta * 0.4), abs=1e-4)


@settings(max_examples=40, deadline=None)
@given(jobs(), st.integers(0, 2**32))
def test_proposals_are_among_the_placements_and_possible(job, seed):
    graph, strategy = job
    random = np.random.default_rng(seed)
    for _ in range(20):
        changes = propose(graph, strategy.servers, random, gpus=2)
        first = next(iter(changes))
        assert changes[first] in list(placements(graph.operators[first], strategy.servers, 2))
        before: set[int] = set()
        for index, placement in changes.items():
            check_placement(placement, graph.operators[index], strategy.servers)
            assert set(placement.servers) == set(changes[first].servers)
            # A placement spreads only to neighbours and equals of operators that have a new one.
            near = {*graph.neighbours[index], *graph.equals[index]}
            assert not before or near & before
            before.add(index)


def test_all_placements_are_proposed_some_time():
    graph = OperatorGraph("one", (dense("one", (), 8, 3),), 4)
    random = np.random.default_rng(1)
    drawn = {propose(graph, 6, random)[0] for _ in range(3000)}
    every = list(placements(graph.operators[0], 6))
    assert drawn == set(every)
    # By samples: 3 blocks of two and 3 pairs three apart, one of four (the first), one of six. On
    # one server: 6. By columns: as many as by samples of two, as there are 3 parts. By samples and
    # columns: two parts of four and of six, each next to each other or apart.
    assert len(every) == len(set(every)) == 8 + 6 + 6 + 4


@settings(max_examples=40, deadline=None)
@given(jobs(), st.integers(0, 2**32))
def test_the_space_of_samples_divides_nothing_else(job, seed):
    graph, strategy = job
    random = np.random.default_rng(seed)
    for _ in range(20):
        for one in propose(graph, strategy.servers, random, gpus=2, space="samples").values():
            assert (one.columns, one.rows, one.gpus) == (1, 1, "samples")


def test_a_search_by_samples_keeps_what_a_free_search_divides():
    """Columns of wide layers with few samples are worth dividing; the smaller space has no such."""
    graph = OperatorGraph("heavy", (dense("a", (), 2048, 2048), dense("b", (0,), 2048, 16)), 16)
    on = place(graph, SERVER)(demand_of_all(4, 1.0))
    start = data_parallel(graph, 4)
    free = search(on, start, 400, seed=1)
    assert any(one.columns > 1 or one.rows > 1 for one in free.strategy.placements)
    less = search(on, start, 400, seed=1, space="samples")
    assert all(one.columns == one.rows == 1 for one in less.strategy.placements)
    assert less.strategy.microbatches == 1
    assert free.seconds < less.seconds <= on.seconds(on.plan(start))


def test_rows_follow_columns():
    """Tensor parallelism of two layers can be proposed at once, the second divided by rows."""
    up, down = dense("up", (), 8, 32), dense("down", (0,), 32, 8)._replace(rows=32)
    graph = OperatorGraph("two", (up, down), 4)
    random = np.random.default_rng(1)
    wanted = {0: Placement((0, 1, 2, 3), columns=2), 1: Placement((0, 1, 2, 3), rows=2)}
    assert any(propose(graph, 4, random) == wanted for _ in range(2000))
    # And the first layer can follow the second.
    assert any(
        list(changes) == [1, 0] and changes[0].columns == changes[1].rows == 4
        for changes in (propose(graph, 4, random) for _ in range(2000))
    )


TINY = [
    # Data parallelism is best if and only if sending gradients is cheap.
    OperatorGraph("wide", (dense("a", (), 256, 64), dense("b", (0,), 64, 256)), 4096),
    OperatorGraph("heavy", (dense("a", (), 2048, 2048), dense("b", (0,), 2048, 16)), 16),
    OperatorGraph("table", (table("t", 10**6, 16), dense("b", (0,), 16, 64)), 512),
    small_dlrm(tables=2, layers=1, batch=1024, width=64),
]


@pytest.mark.parametrize("graph", TINY, ids=lambda graph: graph.name)
@pytest.mark.parametrize("topoopt", [False, True])
def test_the_chain_finds_what_exhaustive_search_finds(graph, topoopt):
    servers = 3
    # The GPUs of a server double the number of placements, so only small graphs have several.
    server = SERVER if len(graph.operators) < 4 else SERVER._replace(gpus=1)
    estimator = place(graph, server)(demand_of_all(servers, 1.0))
    if not topoopt:
        estimator = Estimator(graph, server, flat(servers, 4 * 10**9, 10**6))
    every = [list(placements(one, servers, server.gpus)) for one in graph.operators]
    plans = (estimator.plan(Strategy(servers, each)) for each in itertools.product(*every))
    best = min(estimator.seconds(plan) for plan in plans if estimator.fits(plan))
    found = search(estimator, hybrid(graph, servers), 1500, seed=3)
    assert found.seconds == best
    assert estimator.seconds(estimator.plan(found.strategy)) == best


def test_the_same_seed_finds_the_same():
    graph = small_dlrm(tables=4, layers=2, batch=1024, width=256)
    estimator = place(graph)(demand_of_all(8, 1.0))
    again = place(graph)(demand_of_all(8, 1.0))
    start = hybrid(graph, 8)
    told = []
    found = search(estimator, start, 150, seed=5, on_proposal=lambda *one: told.append(one))
    assert search(again, start, 150, seed=5) == found
    # The best strategy so far never gets slower, and the search returns it.
    assert [number for number, _ in told] == list(range(1, 151))
    seconds = [best.seconds for _, best in told]
    assert seconds == sorted(seconds, reverse=True)
    assert told[-1][1] == found
    assert search(estimator, start, 0).strategy == start
    with pytest.raises(StrategyError, match="a budget of -1 proposals"):
        search(estimator, start, -1)


def test_what_does_not_fit_into_memory_is_not_accepted():
    # Either table alone is 6.4 MB of a server's 7 MB: neither both on one, nor a copy on each.
    graph = small_dlrm(tables=2, layers=1, batch=8, width=16)
    small = SERVER._replace(memory_bytes=7e6 / 4)
    estimator = Estimator(graph, small, flat(2, 10**9, 10**6))
    with pytest.raises(StrategyError, match=r"server 0 would store 12\.8 GB|would store 0\.0 GB"):
        search(estimator, data_parallel(graph, 2), 10)
    start = hybrid(graph, 2)
    moves = set()
    for seed in range(5):
        found = search(estimator, start, 100, beta=0.0, seed=seed)
        tables = found.strategy.placements[:2]
        moves.add(tables)
        assert estimator.fits(estimator.plan(found.strategy))
        assert by_samples((0, 1)) not in tables
    roomy = Estimator(graph, SERVER, flat(2, 10**9, 10**6))
    assert roomy.fits(roomy.plan(data_parallel(graph, 2)))


GRAPH = small_dlrm(tables=6, layers=3, batch=2048, width=256)


def test_alternating_gives_the_pair_that_it_promises():
    on = place(GRAPH)
    start = begin(GRAPH, on, hybrid(GRAPH, 8))
    assert start.best.seconds == on(start.demand).seconds(on(start.demand).plan(start.strategy))
    states: list[State] = []
    end = alternate(GRAPH, on, start, 4, 200, seed=2, on_round=states.append)
    assert states[-1] == end
    assert [state.rounds for state in states] == list(range(1, end.rounds + 1))
    assert end.best.seconds <= min(min(pair) for pair in end.history)
    assert end.best.seconds < start.best.seconds
    # The reported time is the strategy's time on the topology of the demand.
    estimator = on(end.best.demand)
    assert estimator.seconds(estimator.plan(end.best.strategy)) == end.best.seconds
    assert demand(GRAPH, end.strategy).mp.tolist() == end.demand.mp.tolist()
    # The search ends when a round makes no progress, or after the last round.
    assert end.converged or end.rounds == 4
    assert alternate(GRAPH, on, end._replace(converged=True), 9, 200) == end._replace(
        converged=True
    )


def test_resumed_from_any_round_the_result_is_the_same():
    on = place(GRAPH)
    start = begin(GRAPH, on, hybrid(GRAPH, 8))
    written = [json.dumps(state_to_json(start, GRAPH))]

    def keep(state):
        written.append(json.dumps(state_to_json(state, GRAPH)))

    alternate(GRAPH, on, start, 3, 200, seed=2, on_round=keep)
    assert len(written) > 2
    for text in written:
        state = state_from_json(json.loads(text), GRAPH)
        # Writing and reading the state loses nothing.
        assert json.dumps(state_to_json(state, GRAPH)) == text
        end = alternate(GRAPH, on, state, 3, 200, seed=2)
        assert json.dumps(state_to_json(end, GRAPH)) == written[-1]


def test_another_seed_takes_another_way():
    on = place(GRAPH)
    start = begin(GRAPH, on, hybrid(GRAPH, 8))
    # Few proposals: with more of them, all ways lead to the same strategy.
    ways = {next_round(GRAPH, on, start, 10, seed=seed).strategy for seed in range(4)}
    assert len(ways) > 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": "other"}, "cosim.search.v1"),
        ({"rounds": "many"}, "rounds: value 'many': expected a whole number"),
        ({"best": {}}, "expected the keys"),
        ({"demand": {"nodes": 1}}, "demand: 1 servers"),
        ({"strategy": {}}, "cosim.strategy.v1"),
    ],
)
def test_states_that_are_refused(change, sentence):
    state = begin(GRAPH, place(GRAPH), hybrid(GRAPH, 4))
    content = state_to_json(state, GRAPH) | change
    with pytest.raises(StrategyError, match=sentence):
        state_from_json(content, GRAPH)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 16), st.integers(2, 6), st.data())
def test_every_ring_of_a_group_goes_through_all_of_it_once(nodes, degree, data):
    members = data.draw(st.sets(st.integers(0, nodes - 1), min_size=2))
    wanted = data.draw(st.sampled_from([demand_of_all(nodes, 1.0)]))
    topology = topology_finder(wanted, degree)
    rings = group_rings(sorted(members), topology)
    assert rings.orders
    assert all(sorted(order) == sorted(members) for order in rings.orders)
    assert rings.duplex == (len(members) > 2)


def test_a_group_with_rings_of_its_own_takes_them():
    graph = OperatorGraph("half", (dense("a", (), 64, 64),), 8)
    half = Strategy(8, (by_samples((0, 2, 4, 6)),))
    topology = topology_finder(demand(graph, half), 4)
    assert group_rings((6, 0, 2, 4), topology).orders == ((0, 2, 4, 6),)


def test_strategies_with_too_many_messages_are_not_accepted(monkeypatch):
    """Tables that are divided among all servers send as much in more messages."""
    graph = small_dlrm(tables=6, layers=2, batch=2048, width=64)
    estimator = place(graph)(demand_of_all(8, 1.0))
    start = hybrid(graph, 8)
    # From each table to 7 servers, and back.
    assert estimator.plan(start).messages == 6 * 7 * 2
    # Other seeds find that two servers are enough, which send nothing but gradients.
    free = search(estimator, start, 200, seed=2)
    many = estimator.plan(free.strategy).messages
    assert many > 100
    monkeypatch.setattr(mcmc, "MOST_MESSAGES", 100)
    few = search(estimator, start, 200, seed=2)
    assert estimator.plan(few.strategy).messages <= 100
    # What the start has is always accepted.
    monkeypatch.setattr(mcmc, "MOST_MESSAGES", 0)
    assert estimator.plan(search(estimator, start, 50, seed=1).strategy).messages <= 6 * 7 * 2

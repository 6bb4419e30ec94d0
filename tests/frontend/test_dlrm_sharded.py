"""DLRM with tables that are cut by rows: where rows are, and the collectives of an iteration."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bridge
from bridge.studies.measured_training.dlrm import TABLE
from frontend import ScenarioError, load_scenario
from frontend.resolve import resolve
from frontend.workloads.dlrm_sharded import different_rows
from frontend.workloads.dlrm_shards import look_ups, place
from frontend.workloads.plan import NodeType


def scenario(name, **workload):
    data = TABLE.runs[name].scenario(1.0)
    return load_scenario(data | {"workload": data["workload"] | workload})


@pytest.mark.parametrize(
    ("name", "places", "each", "shards", "cost"),
    [
        # sharding/planner.py of mlcommons/training_results_v5.0 at 0fdc28f, with stable sorts.
        ("dlrm-h100-8", 8, 1, 21, 29.5),
        ("dlrm-h200-8", 8, 1, 21, 31.75),
        ("dlrm-b200-8", 8, 1, 21, 30.5),
        ("dlrm-b200-16-xe9680", 16, 1, 21, 15.75),
        ("dlrm-gb200-64", 64, 1, 69, 8.25),
        ("dlrm-h100-64", 8, 8, 15, 61.5),
        ("dlrm-h100-128", 16, 8, 16, 41.75),
        ("dlrm-h200-16-hpe", 2, 8, 12, 197.75),
        ("dlrm-h200-32-hpe", 4, 8, 13, 106.0),
    ],
)
def test_shards_are_where_the_submissions_have_them(name, places, each, shards, cost):
    workload = scenario(name).workload
    found = place(workload, places, each)
    assert sum(map(len, found.shards)) == shards == sum(found.splits.values())
    table_cost = workload.embedding.sharding.table_cost
    costs = [
        sum(look_ups(workload)[table] / found.splits[table] + table_cost for table in tables)
        for tables in found.shards
    ]
    assert max(costs) == pytest.approx(cost)
    for tables in found.shards:
        assert len(set(tables)) == len(tables)
    assert {*found.splits, *found.replicated} == set(range(26))


def test_shards_need_memory():
    workload = scenario("dlrm-h100-8").workload
    small = workload.embedding.sharding.model_copy(update={"memory": 10**9})
    embedding = workload.embedding.model_copy(update={"sharding": small})
    with pytest.raises(ScenarioError, match=r"sharding\.memory: expected more"):
        place(workload.model_copy(update={"embedding": embedding}), 8, 1)


@given(st.integers(1, 10**8), st.integers(0, 10**8))
def test_different_rows_are_at_most_the_look_ups_and_the_rows(rows, number):
    found = different_rows(rows, number)
    assert 0 <= found <= min(rows, number) * (1 + 1e-9) + 1e-9


def test_two_look_ups_meet_by_chance():
    assert different_rows(10, 1) == pytest.approx(1)
    assert different_rows(10, 2) == pytest.approx(2 - 1 / 10)


def test_a_flat_iteration_exchanges_what_shards_sum_up():
    plan = resolve(scenario("dlrm-h100-8", iterations=1)).plan
    forward, backward, reduced = plan.issues
    sums = 6912 * 128 * 2
    # The busiest rank sends the sums of its shards to all; all get the sums of all shards.
    assert forward.blocks is not None
    most = max(sum(row) for row in forward.blocks)
    assert forward.bytes == sums * max(most, sum(row[0] for row in forward.blocks))
    assert backward.blocks == tuple(zip(*forward.blocks, strict=True))
    dense = 13 * 512 + 512 * 256 + 256 * 128 + 3 * 2 * 3456 * 512
    dense += 3456 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256
    replicated = 7424 + 3 + 7122 + 1543 + 63 + 10 + 2209 + 155 + 4 + 976 + 14 + 108 + 36
    assert reduced.bytes == 2 * dense + 2 * 128 * replicated


def test_super_nodes_exchange_inside_first():
    plan = resolve(scenario("dlrm-h200-16-hpe", iterations=1)).plan
    names = [node.name for node in plan.traces[0].nodes if node.type is NodeType.COLLECTIVE]
    assert names == [
        "embedding.forward_exchange_0",
        "embedding.forward_all_to_all",
        "embedding.backward_all_to_all",
        "embedding.backward_exchange_0",
        "gradients.all_reduce",
    ]
    between = next(issue for issue in plan.issues if issue.name == names[1])
    assert between.groups == 8
    assert between.ranks is not None
    assert between.ranks[:4] == (0, 8, 1, 9)
    # Every rank has a trace, and none has two.
    assert sorted(rank for trace in plan.traces for rank in trace.ranks or ()) == list(range(16))


def test_iterations_reach_a_steady_state():
    result = bridge.run(scenario("dlrm-h200-16-hpe", iterations=3))
    first, second, third = (one.time_ns for one in result.iterations)
    assert third == pytest.approx(second, rel=1e-9)
    # Ranks with fewer look-ups begin early, which the first iteration does not show.
    assert 0.95 * first < second <= first


def test_half_the_efficiency_doubles_kernels():
    whole = bridge.run(scenario("dlrm-h100-8", iterations=1))
    compute = {"accelerator": "h100", "efficiency": 0.5, "weight_update_accesses": 12}
    half = bridge.run(scenario("dlrm-h100-8", compute=compute, iterations=1))
    assert half.iterations[0].compute_ns == pytest.approx(
        2 * whole.iterations[0].compute_ns, rel=1e-6
    )


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"rows": None}, "embedding.rows: .*expected 26 numbers"),
        ({"pooling": [1, 2]}, "embedding.pooling: .*expected 26 numbers"),
        ({"sharding": None}, "embedding.pooling: .*expected a number"),
    ],
)
def test_tables_need_their_numbers(change, path):
    data = TABLE.runs["dlrm-h100-8"].scenario(1.0)
    embedding = data["workload"]["embedding"] | change
    with pytest.raises(ScenarioError, match=path):
        scenario("dlrm-h100-8", embedding=embedding)


def test_super_nodes_are_needed():
    data = TABLE.runs["dlrm-h200-8"].scenario(1.0)
    data["workload"]["embedding"]["sharding"]["hierarchical"] = True
    with pytest.raises(ScenarioError, match=r"sharding\.hierarchical: expected false"):
        _ = resolve(load_scenario(data)).plan


def test_an_accelerator_needs_known_kernels():
    compute = {"accelerator": "mi300x"}
    with pytest.raises(
        ScenarioError, match=r"compute\.accelerator: .*expected null or one of a100"
    ):
        resolve(scenario("dlrm-h100-8", compute=compute))


def test_no_shape_means_the_roofline():
    compute = {"peak_flops": "1000TFLOPS", "memory_bandwidth": "3000GB/s"}
    result = bridge.run(scenario("dlrm-h100-8", compute=compute))
    assert math.isfinite(result.iterations[0].time_ns)
    assert result.iterations[0].compute_ns > 0

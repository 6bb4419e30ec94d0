"""`auto` compares the candidates by latency and bandwidth, and says what it found."""

from pathlib import Path

import pytest

from frontend import load_scenario
from frontend.collectives.algorithms.auto import CANDIDATES
from frontend.collectives.registry import ALGORITHMS, OPERATIONS
from frontend.compiler.programs import ProgramLibrary
from frontend.resolve import resolve

SCENARIOS = Path(__file__).parents[3] / "scenarios"


def chosen(scenario, operation, size, group=None, **changes):
    workload = {"kind": "collective", "operation": operation, "algorithm": "auto", "bytes": size}
    whole = {"workload": workload | {"group": group}, "collective": None}
    made = load_scenario(SCENARIOS / f"{scenario}.yaml", whole | changes)
    library = ProgramLibrary(resolve(made))
    (issue,) = library.resolved.plan.issues
    use = library.use(issue)
    return library.programs[use.program], use.choice


def test_every_operation_has_candidates_that_support_it():
    assert tuple(CANDIDATES) == OPERATIONS
    for operation, names in CANDIDATES.items():
        assert all(operation in ALGORITHMS[name].operations for name in names)


def test_small_data_takes_trees_and_large_data_rings():
    # All-reduce over 16 ranks: a ring has 30 steps, trees have 8 and move 16/15 of the bytes.
    assert chosen("collective_small", "all_reduce", "10kB")[0].name == "dbt"
    assert chosen("collective_small", "all_reduce", "100MB")[0].name == "ring"
    assert chosen("collective_small", "broadcast", "1kB")[0].name == "dbt"
    assert chosen("collective_small", "broadcast", "100MB", [0, 1, 2])[0].name == "ring"


def test_the_choice_names_the_estimates_and_what_they_rest_on():
    # 2 · 15 · (2 · 0.5 µs + 2 · 10 ns) + 2 · 15/16 · 1 MB / 100 Gbit/s = 30.6 + 150 µs
    _, why = chosen("collective_small", "all_reduce", "1MB")
    assert "ring 180.6 µs" in why
    assert why.endswith("16 ranks, 1.02 µs and 100 Gbit/s between neighbours")


def test_a_group_inside_a_super_node_uses_its_switches():
    program, _ = chosen("dlrm_hier_small", "all_reduce", "1MB", [0, 1, 2, 3])
    assert (program.name, program.group_size) == ("direct", 4)
    assert program.phase_dimension == ("scale_up",)
    across, _ = chosen("dlrm_hier_small", "all_reduce", "1MB", [0, 8])
    assert across.phase_dimension == ("scale_out",)


def test_ranks_of_several_super_nodes_sum_locally_first():
    program, why = chosen("dlrm_hier_small", "all_reduce", "100MB")
    assert program.name == "hierarchical_optimal"
    assert why.startswith("hierarchical_optimal")


@pytest.mark.parametrize("operation", ["reduce_scatter", "all_gather"])
def test_a_shard_goes_between_super_nodes_once(operation):
    # One ring has the whole data on each link between super-nodes; here a link has an eighth.
    program, why = chosen("dlrm_hier_small", operation, "100MB")
    assert program.name == "hierarchical"
    assert why.startswith("hierarchical")
    assert chosen("dlrm_hier_small", operation, "100MB", [0, 8])[0].name == "ring"


@pytest.mark.parametrize("operation", ["all_to_all", "gather", "scatter"])
def test_one_candidate_needs_no_estimate(operation):
    program, why = chosen("collective_small", operation, "1MB", [4, 2, 9])
    assert program.name == "direct"
    assert why == "direct: the only candidate for this operation and group"


@pytest.mark.parametrize("group", [[0, 1, 8, 9], [0, 1, 8], [1, 0, 9]])
def test_groups_over_super_nodes(group):
    # [0, 1, 8] has unequal parts of super-nodes, so only algorithms without super-nodes remain.
    program, why = chosen("dlrm_hier_small", "all_reduce", "100MB", group)
    assert program.group_size == len(group)
    assert ("hierarchical" in why) == (group == [0, 1, 8, 9])

"""Looking up algorithms, and the errors for unknown names."""

import doctest

import pytest

import frontend.collectives
from frontend.collectives import (
    ALGORITHMS,
    OPERATIONS,
    Algorithm,
    CollectiveError,
    algorithm_names,
    build,
    options,
)
from frontend.collectives import group_rings as rings_module
from frontend.collectives import registry as registry_module
from frontend.collectives.program import program as program_module
from topology_gen.errors import RegistrationError


def test_table():
    flat = {"ring", "direct", "halving_doubling", "auto"}
    switches = {"nvls", "sharp"}
    flat |= {"nccl"}
    rooted = {"ring", "direct", "dbt", "trees", "auto", "nccl"} | switches
    no_all_to_all = {"dbt", "bfb", "superposed_rings", "torus_rings", "multi_ring", "trees"}
    expected = {
        "all_reduce": flat
        | no_all_to_all
        | switches
        | {"hierarchical", "hierarchical_optimal", "binary_tree"},
        "reduce_scatter": flat | no_all_to_all | switches | {"hierarchical"},
        "all_gather": flat | no_all_to_all | switches | {"hierarchical"},
        "all_to_all": flat | {"hierarchical", "relay"},
        "broadcast": rooted,
        "reduce": rooted,
        "gather": {"direct", "auto"},
        "scatter": {"direct", "auto"},
        "barrier": {"direct", "dissemination", "auto"},
    }
    assert {operation: set(names) for operation, names in algorithm_names().items()} == expected
    assert tuple(algorithm_names()) == OPERATIONS
    for name in expected["all_reduce"]:
        assert ALGORITHMS[name].description


def test_options_are_the_keywords_of_the_algorithm():
    assert options("all_reduce", "direct") == {"peer_order", "seed", "dimension"}
    assert options("all_reduce", "dbt") == {"segments", "separate_links", "pairs", "dimension"}
    assert "local_size" in options("all_to_all", "hierarchical")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (("sum", "ring", 4), "operation 'sum' is not known; accepted: all_reduce, "),
        (("all_reduce", "tree", 4), "algorithm 'tree' is not known; accepted for all_reduce: ring"),
        (("all_to_all", "dbt", 4), "all_to_all by 'dbt' is not supported; accepted for all_to_all"),
        (("all_reduce", "ring", 0), "group size 0 is not a positive number"),
        (("all_reduce", "ring", 2.0), r"group size 2\.0 is not a positive number"),
        (("all_reduce", "hierarchical", 4), "needs the option 'local_size'"),
    ],
)
def test_errors_say_what_is_accepted(request_, message):
    with pytest.raises(CollectiveError, match=message):
        build(*request_)


def test_unknown_option():
    with pytest.raises(CollectiveError, match="'segments' is not known to all_reduce by 'ring'"):
        build("all_reduce", "ring", 4, segments=2)


@pytest.mark.parametrize("local_size", [0, 4, 7, -2, True, 2.0])
def test_local_size_must_divide(local_size):
    with pytest.raises(CollectiveError, match="does not divide the group of 6; accepted: 1, 2, 3"):
        build("all_reduce", "hierarchical", 6, local_size=local_size)


def test_subgroup_algorithms_are_checked_too():
    with pytest.raises(CollectiveError, match="all_to_all by 'dbt' is not supported"):
        build("all_to_all", "hierarchical", 6, local_size=2, scale_out_algorithm="dbt")


def test_dimensions_are_named_by_the_caller():
    assert build("all_reduce", "ring", 4, dimension="nv").phase_dimension == ("nv",)
    chosen = {"local_size": 2, "dimensions": ("nv", "ib")}
    program = build("all_reduce", "hierarchical_optimal", 4, **chosen)
    assert program.phase_dimension == ("nv", "ib", "nv")


def test_registration(monkeypatch):
    monkeypatch.setattr(ALGORITHMS, "_entries", dict(ALGORITHMS._entries))
    mine = Algorithm(
        "mine", "a test", {"all_reduce": frontend.collectives.algorithms.ring.all_reduce}
    )
    ALGORITHMS.register(mine)
    assert build("all_reduce", "mine", 3).steps == 24
    assert "mine" in algorithm_names()["all_reduce"]
    with pytest.raises(RegistrationError, match="registered twice"):
        ALGORITHMS.register(mine)
    with pytest.raises(CollectiveError, match="operation 'sum' is not known"):
        Algorithm("other", "", {"sum": frontend.collectives.algorithms.ring.all_reduce})


@pytest.mark.parametrize("module", [program_module, registry_module, rings_module])
def test_examples_run(module):
    public = {name: getattr(frontend.collectives, name) for name in frontend.collectives.__all__}
    result = doctest.testmod(module, extraglobs=public)
    assert result.attempted > 0
    assert result.failed == 0

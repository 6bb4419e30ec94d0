"""A program that is not cosim's own is verified against the collective that asked for it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from frontend import ScenarioError, compile_scenario, load_scenario, validate_scenario
from frontend.collectives import ALGORITHMS, OWN, Algorithm, ProgramBuilder, build
from frontend.collectives.algorithms import ring
from frontend.collectives.program.rotation import Rotation
from frontend.compiler.programs import MOST_MEMORY, memory_bytes

SMALL = Path(__file__).parents[2] / "scenarios" / "collective_small.yaml"


@pytest.fixture
def foreign(monkeypatch):
    """Return a function that registers an algorithm, and returns a scenario with it."""

    def scenario(function, operation="all_reduce", **overrides):
        monkeypatch.setitem(
            ALGORITHMS._entries, "mine", Algorithm("mine", "", {operation: function})
        )
        changes = {"workload.algorithm": "mine", "workload.operation": operation} | overrides
        return load_scenario(SMALL, changes)

    return scenario


def all_reduce(size, *, dimension="scale_out", back=True, name="all_reduce", root=0):
    builder = ProgramBuilder("mine", name, size, units=1, dimensions=(dimension,), root=root)
    last: list[int] = []
    for member in range(1, size):
        last = [builder.message(member, 0, 0, 1, reduce=True, receive_after=last)[1]]
    for member in range(1, size if back else 1):
        builder.message(0, member, 0, 1, after=last)
    return builder.build()


def sentence(scenario):
    """Return what `validate_scenario` and `compile_scenario` say."""
    with pytest.raises(ScenarioError) as validated:
        validate_scenario(scenario)
    with pytest.raises(ScenarioError) as compiled:
        compile_scenario(scenario)
    assert str(validated.value) == str(compiled.value)
    assert "\n" not in str(validated.value)
    return str(validated.value)


def test_a_right_program_runs(foreign):
    scenario = foreign(all_reduce)
    validate_scenario(scenario)
    compile_scenario(scenario)


def test_a_missing_contribution_is_named(foreign):
    said = sentence(foreign(lambda size, *, dimension: all_reduce(size, back=False)))
    assert said.startswith(
        "workload.algorithm: value mine: all_reduce: all_reduce by 'mine': member 1 ends without "
        "the contribution of member 0, "
    )


def test_a_check_of_its_own_does_not_replace_the_verification(foreign, monkeypatch):
    scenario = foreign(lambda size, *, dimension: all_reduce(size, back=False))
    mine = ALGORITHMS["mine"]
    careless = Algorithm("mine", "", mine.operations, check=lambda setting: None)
    monkeypatch.setitem(ALGORITHMS._entries, "mine", careless)
    assert "ends without the contribution" in sentence(scenario)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (
            lambda size, *, dimension: all_reduce(size, back=False, name="reduce"),
            "the program has the operation reduce: expected all_reduce",
        ),
        (
            lambda size, *, dimension: all_reduce(size - 1),
            "the program has the group size 7: expected 8",
        ),
        (
            lambda size, *, dimension: all_reduce(size, dimension="rail"),
            "the program has the dimension 'rail': expected scale_out",
        ),
        (lambda size, *, dimension: None, "its function returns NoneType: expected a program"),
    ],
)
def test_a_program_for_something_else_is_refused(foreign, function, expected):
    assert expected in sentence(foreign(function, **{"topology.ranks": 8}))


def test_another_root_is_refused_although_the_options_are_the_same(foreign):
    def broadcast(size, *, dimension, root):
        builder = ProgramBuilder("mine", "broadcast", size, units=1, dimensions=(dimension,))
        for member in range(1, size):
            builder.message(0, member, 0, 1)
        return builder.build()

    validate_scenario(foreign(broadcast, "broadcast"))
    said = sentence(foreign(broadcast, "broadcast", **{"workload.root": 1}))
    assert "the program has the root 0: expected 1" in said


def test_rules_are_verified_like_tables(foreign):
    validate_scenario(foreign(ring.RING.operations["all_reduce"]))

    def short(size, *, dimension):
        whole = ring.RING.build("all_reduce", size, dimension=dimension)
        assert isinstance(whole, Rotation)
        return replace(whole, offset_turn=whole.offset_turn * 0)

    assert "all_reduce by 'mine': " in sentence(foreign(short))


def test_what_is_too_large_is_refused_unless_the_scenario_says_so(foreign):
    large = {"topology.ranks": 2048, "fabric": "analytical"}
    ringed = ring.RING.operations["all_reduce"]
    began = time.process_time()
    said = sentence(foreign(ringed, **large))
    assert time.process_time() - began < 5  # it is refused before its steps are there
    assert "16769024 steps are too many to verify" in said
    assert said.endswith("expected at most 4 GiB, or verify: false")
    validate_scenario(foreign(ringed, **large, **{"workload.verify": False}))


def test_the_estimate_of_memory_grows_with_ranks():
    assert memory_bytes(build("all_reduce", "ring", 1024)) < MOST_MEMORY
    assert memory_bytes(build("all_reduce", "ring", 64)) < memory_bytes(
        build("all_reduce", "ring", 65)
    )


def test_every_algorithm_of_this_package_is_among_those_that_are_tested():
    assert [algorithm.name for algorithm in OWN] == list(ALGORITHMS)[: len(OWN)]

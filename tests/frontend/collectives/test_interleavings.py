"""Programs that the checker accepts have the right result in every order (by hypothesis)."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.collectives import (
    Op,
    ProgramBuilder,
    algorithm_names,
    build,
    check,
    options,
    problems,
)
from frontend.collectives.verify.check import structure_problems
from tests.frontend.collectives.interleaving import Interleaving
from topology_gen import graphs
from topology_gen.graphs.digraph import from_edges
from topology_gen.graphs.wiring import uniform

PAIRS = [(operation, name) for operation, names in algorithm_names().items() for name in names]


def tori(size):
    """Draw a torus of `size` ranks."""
    lengths = [[n, size // n] for n in range(2, size) if size % n == 0]
    return st.sampled_from([[size], *lengths]).map(graphs.torus)


def topologies(size, rings):
    """Draw a direct-connect topology of `size` ranks, with or without rings and parallel links."""
    if size == 1:
        return st.just(from_edges([[0, 0]]))
    made_of_rings = [
        graphs.ring(size),
        graphs.ring(size, 4),
        graphs.unidirectional_ring(size, 2),
    ]
    others = [graphs.complete(size), graphs.generalized_kautz(2, size)]
    return st.sampled_from(made_of_rings if rings else made_of_rings + others)


@st.composite
def right_programs(draw, largest=9):
    """Draw a program of any algorithm with any options."""
    operation, algorithm = draw(st.sampled_from(PAIRS))
    size = draw(st.integers(2 if algorithm == "torus_rings" else 1, largest))
    known = options(operation, algorithm)
    chosen = {}
    if "segments" in known:
        chosen["segments"] = draw(st.integers(1, 4))
    if "peer_order" in known:
        chosen["peer_order"] = draw(st.sampled_from(["rotated", "same", "random"]))
        chosen["seed"] = draw(st.integers(0, 99))
    if "local_size" in known:
        chosen["local_size"] = draw(
            st.sampled_from([d for d in range(1, size + 1) if size % d == 0])
        )
        usable = [n for n in ("ring", "direct", "halving_doubling", "dbt")
                  if n in algorithm_names()[operation]]  # fmt: skip
        chosen["scale_up_algorithm"] = draw(st.sampled_from(usable))
        chosen["scale_out_algorithm"] = draw(st.sampled_from(usable))
    if "wiring" in known:
        chosen["wiring"] = uniform(draw(topologies(size, rings=False)))
    if "root" in known:
        chosen["root"] = draw(st.integers(0, size - 1))
    if "graph" in known:
        chosen["graph"] = draw(
            tori(size)
            if algorithm == "torus_rings"
            else topologies(size, rings=algorithm == "superposed_rings")
        )
    if "orders" in known:
        orders = st.lists(st.permutations(range(size)), min_size=1, max_size=3)
        chosen["orders"] = draw(orders)
        chosen["duplex"] = draw(st.booleans())
    if "shard_chunks" in known:
        chosen["shard_chunks"] = draw(st.integers(1, 3))
    return build(operation, algorithm, size, **chosen)


@st.composite
def mutants(draw):
    """Draw a correct program and change a few of its numbers."""
    program = draw(right_programs(largest=5).filter(lambda p: p.steps > 0))
    program = replace(program, equal_units=True)
    for _ in range(draw(st.integers(1, 3))):
        name = draw(
            st.sampled_from(["offset", "offset", "op", "dep", "drop", "peer-swap", "phase"])
        )
        if name == "drop" and program.dep.size:
            gone = draw(st.integers(0, program.dep.size - 1))
            begin = program.dep_begin.astype(int)
            begin[begin > gone] -= 1
            program = replace(program, dep=np.delete(program.dep, gone), dep_begin=begin)
        elif name == "phase":
            program = replace(program, phase=np.zeros(program.steps), phase_dimension=("a",))
        elif name in ("offset", "op", "dep"):
            array = getattr(program, name).copy()
            if array.size:
                index = draw(st.integers(0, array.size - 1))
                value = draw(st.sampled_from(sorted(set(array.tolist()))))
                array[index] = value
                program = replace(program, **{name: array})
        elif name == "peer-swap":
            sends = np.flatnonzero(program.op == Op.SEND)
            a, b = (draw(st.sampled_from(sends.tolist())) for _ in range(2))
            target = program.target.copy()
            target[[a, b]] = target[[b, a]]
            target[target[[a, b]]] = [a, b]
            program = replace(program, target=target)
    return program


@settings(max_examples=80, deadline=None)
@given(right_programs(), st.integers(0, 1 << 30))
def test_every_interleaving_is_right(program, seed):
    check(program)
    assert Interleaving(program, seed).run() == []


@settings(max_examples=300, deadline=None)
@given(mutants(), st.integers(0, 1 << 30))
def test_what_the_checker_accepts_runs_right(program, seed):
    if problems(program) == []:
        for shift in range(3):
            assert Interleaving(program, seed + shift).run() == []


@settings(max_examples=200, deadline=None)
@given(mutants(), st.integers(0, 1 << 30))
def test_what_runs_wrong_is_found(program, seed):
    if structure_problems(program) == [] and Interleaving(program, seed).run():
        assert problems(program)


def test_a_race_shows_in_some_interleaving():
    builder = ProgramBuilder("early", "all_reduce", 2, units=1, dimensions=("a",))
    builder.message(0, 1, 0, 1, reduce=True)
    builder.message(1, 0, 0, 1)  # does not wait for the sum
    program = builder.build()
    assert problems(program)[0].kind == "race"
    outcomes = {bool(Interleaving(program, seed).run()) for seed in range(40)}
    assert outcomes == {True, False}


def test_an_interleaving_reports_a_deadlock():
    builder = ProgramBuilder("stuck", "all_gather", 2, units=2, dimensions=("a",))
    builder.message(0, 1, 0, 1, after=[3])
    builder.message(1, 0, 1, 1, after=[1])
    program = builder.build()
    (found,) = Interleaving(program, 0).run()
    assert found.kind == "deadlock"
    assert len(found.steps) == 4

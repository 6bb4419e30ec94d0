"""Every algorithm computes its operation's result for group sizes 2 … 33, 64 and 128."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.collectives import algorithm_names, build, check, options, problems
from topology_gen.topoopt import ring, select_permutations, totient_perms

SIZES = [*range(2, 34), 64, 128]
PAIRS = [
    (operation, name)
    for operation, names in algorithm_names().items()
    for name in names
    if not {"graph", "wiring"} & options(operation, name)  # test_scheduled.py tests these
]
DIVISORS = {n: [d for d in range(1, n + 1) if n % d == 0] for n in SIZES}


def variants(operation, algorithm, size):
    """Return every combination of options that changes the program."""
    known = options(operation, algorithm)
    if "local_size" in known:
        return [{"local_size": d} for d in DIVISORS[size]]
    if "root" in known:
        return [{"root": 0}, {"root": size - 1}]
    if "segments" in known:
        return [{"segments": 1}, {"segments": 5}, {}]
    if "peer_order" in known:
        return [{"peer_order": o, "seed": size} for o in ("rotated", "same", "random")]
    if "orders" in known:
        strides = select_permutations(totient_perms(size), 3, size)
        orders = [ring(range(size), stride) for stride in strides]
        return [{}, {"orders": orders}, {"orders": orders, "duplex": True}]
    return [{}]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("operation", "algorithm"), PAIRS)
def test_program_is_right(operation, algorithm, size):
    for chosen in variants(operation, algorithm, size):
        program = build(operation, algorithm, size, **chosen)
        assert (program.operation, program.ranks) == (operation, size)
        check(program)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_size_root_and_number_of_segments(data):
    operation, algorithm = data.draw(st.sampled_from(PAIRS))
    size = data.draw(st.integers(2, 200))
    given = {
        "root": st.integers(0, size - 1),
        "segments": st.integers(1, 9),
        "seed": st.integers(0, 99),
        "peer_order": st.sampled_from(["rotated", "same", "random"]),
        "local_size": st.sampled_from([d for d in range(1, size + 1) if size % d == 0]),
        "scale_up_algorithm": st.sampled_from(["ring", "direct", "halving_doubling"]),
        "scale_out_algorithm": st.sampled_from(["ring", "direct", "halving_doubling"]),
    }
    known = options(operation, algorithm) & given.keys()
    chosen = {name: data.draw(given[name], label=name) for name in sorted(known)}
    check(build(operation, algorithm, size, **chosen))


@pytest.mark.parametrize("size", [4, 6, 12, 18, 24])
@pytest.mark.parametrize("across", ["ring", "direct", "dbt", "halving_doubling"])
@pytest.mark.parametrize("local", ["ring", "direct", "dbt", "halving_doubling"])
def test_any_algorithm_serves_in_either_dimension(local, across, size):
    for local_size in DIVISORS[size]:
        for operation, algorithm in (
            ("all_reduce", "hierarchical"),
            ("all_reduce", "hierarchical_optimal"),
            ("reduce_scatter", "hierarchical"),
            ("all_gather", "hierarchical"),
        ):
            check(
                build(
                    operation,
                    algorithm,
                    size,
                    local_size=local_size,
                    scale_up_algorithm=local,
                    scale_out_algorithm=across,
                    segments=3,
                )
            )
        if "dbt" not in (local, across):
            check(
                build(
                    "all_to_all",
                    "hierarchical",
                    size,
                    local_size=local_size,
                    scale_up_algorithm=local,
                    scale_out_algorithm=across,
                )
            )


@pytest.mark.parametrize(("operation", "algorithm"), PAIRS)
def test_group_of_one_is_an_empty_program(operation, algorithm):
    needed = {"local_size": 1} if "local_size" in options(operation, algorithm) else {}
    program = build(operation, algorithm, 1, **needed)
    assert program.steps == 0
    assert len(program.phase_dimension) == 1
    assert problems(program) == []

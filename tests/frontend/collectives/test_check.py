"""The checker detects and names every kind of mutation of a correct program."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.collectives import (
    Op,
    ProgramBuilder,
    ScheduleError,
    algorithm_names,
    build,
    check,
    options,
    problems,
)
from frontend.collectives.program.program import assemble
from tests.frontend.collectives.interleaving import Interleaving
from topology_gen import graphs
from topology_gen.graphs.wiring import uniform

COLUMNS = ("phase", "op", "peer", "offset", "count", "target")
MEMBER, OP, OFFSET, TARGET = 0, 2, 4, 6


def small(operation, algorithm):
    chosen: dict[str, object] = {}
    if "local_size" in options(operation, algorithm):
        chosen["local_size"] = 3
    if "segments" in options(operation, algorithm):
        chosen["segments"] = 2
    if "graph" in options(operation, algorithm):
        is_torus = algorithm == "torus_rings"
        chosen["graph"] = graphs.torus([3, 2]) if is_torus else graphs.ring(6, 2)
    if "wiring" in options(operation, algorithm):
        chosen["wiring"] = uniform(graphs.ring(6, 2))
    return build(operation, algorithm, 6, **chosen)


PROGRAMS = [
    pytest.param(small(operation, name), id=f"{operation}-{name}")
    for operation, names in algorithm_names().items()
    for name in names
]

# With nvls, the multicast of a shard also reaches the member that has it, which needs no copy.
NEEDED = [program for program in PROGRAMS if program.id != "all_gather-nvls"]


def taken_apart(program):
    """Return the steps and edges from which `assemble` builds the program."""
    columns = [program.members(), *(getattr(program, name).astype(int) for name in COLUMNS)]
    return np.column_stack(columns), np.column_stack((program.dependents(), program.dep))


def put_together(program, steps, edges):
    return assemble(program, steps, edges.astype(int))


def without_steps(program, dropped):
    """Return the program without some steps; their dependents inherit their dependencies."""
    steps, edges = taken_apart(program)
    for gone in dropped:
        before = edges[edges[:, 0] == gone, 1]
        after = edges[edges[:, 1] == gone, 0]
        bridges = [(a, b) for a in after for b in before]
        edges = edges[(edges != gone).all(axis=1)]
        edges = np.vstack((edges, np.array(bridges, int).reshape(-1, 2)))
    kept = np.setdiff1d(np.arange(len(steps)), dropped)
    number = np.full(len(steps), -1)
    number[kept] = np.arange(kept.size)
    steps = steps[kept]
    message = steps[:, OP] <= Op.RECV_REDUCE
    steps[message, TARGET] = number[steps[message, TARGET]]
    return put_together(program, steps, number[edges])


def kinds(program):
    return {problem.kind for problem in problems(program)}


@pytest.mark.parametrize("program", PROGRAMS)
def test_taking_apart_changes_nothing(program):
    again = put_together(program, *taken_apart(program))
    assert all(np.array_equal(getattr(again, c), getattr(program, c)) for c in COLUMNS)
    check(again)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_dependency_is_needed(program):
    # Halving-doubling's gather also names receives that its messages imply, and some dependencies
    # of trees, relays and of reductions by bfb only set the pace.
    implied = (
        program.name in ("trees", "relay")
        or (program.name == "bfb" and program.operation in ("all_reduce", "reduce_scatter"))
        or (program.name == "halving_doubling" and program.operation == "all_reduce")
    )
    steps, edges = taken_apart(program)
    found = [
        kinds(put_together(program, steps, np.delete(edges, e, axis=0))) for e in range(len(edges))
    ]
    assert all(kind == {"race"} or (implied and not kind) for kind in found)


@pytest.mark.parametrize("program", NEEDED)
def test_every_message_is_needed(program):
    for send in np.flatnonzero(program.op == Op.SEND):
        assert problems(without_steps(program, [int(send), int(program.target[send])]))


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_copy_is_needed(program):
    copies = (program.op == Op.COPY) & (program.offset != program.target)
    if program.operation == "all_gather":  # every member has its own shard already
        copies &= program.target * program.group_size // program.units != program.members()
    for copy in np.flatnonzero(copies):
        assert problems(without_steps(program, [int(copy)]))


@pytest.mark.parametrize("program", PROGRAMS)
def test_half_a_message_is_not_matched(program):
    target = program.target.copy()
    receives = np.flatnonzero((program.op == Op.RECV) | (program.op == Op.RECV_REDUCE))
    target[receives[0]] = target[receives[-1]]
    assert kinds(replace(program, target=target)) == {"matching"}
    count = program.count.copy()
    count[receives[0]] += 1
    assert kinds(replace(program, count=count)) & {"matching", "structure"}


@pytest.mark.parametrize("program", NEEDED)
def test_swapped_offsets_are_found(program):
    steps, edges = taken_apart(program)
    swapped = 0
    for g in range(program.group_size):
        of_member = np.flatnonzero((steps[:, MEMBER] == g) & (steps[:, OP] <= Op.RECV_REDUCE))
        for a in of_member:
            for b in of_member[of_member > a]:
                alike = steps[a, OP] == steps[b, OP] and steps[a, 5] == steps[b, 5]
                if not alike or steps[a, OFFSET] == steps[b, OFFSET]:
                    continue
                wrong = steps.copy()
                wrong[[a, b], OFFSET] = wrong[[b, a], OFFSET]
                mutant = put_together(program, wrong, edges)
                assert problems(mutant)
                # With equal units, only the contents reveal the error.
                if swapped < 200:
                    assert problems(replace(mutant, equal_units=True))
                swapped += 1


@pytest.mark.parametrize("algorithm", ["ring", "direct", "dbt", "halving_doubling"])
@pytest.mark.parametrize("operation", ["all_reduce", "reduce_scatter"])
def test_contributions_count_once(operation, algorithm):
    program = small(operation, algorithm)
    for send in np.flatnonzero(program.op == Op.SEND):
        receive = int(program.target[send])
        if program.op[receive] != Op.RECV_REDUCE:
            continue
        steps, edges = taken_apart(program)
        extra = steps[[send, receive]]
        extra[:, TARGET] = [len(steps) + 1, len(steps)]
        old, new = [send, receive], [len(steps), len(steps) + 1]
        copied = [
            (new[old.index(a)] if a in old else a, new[old.index(b)] if b in old else b)
            for a, b in edges.tolist()
            if a in old or b in old
        ]
        mutant = put_together(
            program,
            np.vstack((steps, extra)),
            np.vstack((edges, np.array(copied, int).reshape(-1, 2))),
        )
        assert "double" in kinds(mutant) or kinds(mutant) == {"race"}
    assert "double" in kinds(mutant)


def test_cyclic_wait_names_members_and_steps():
    builder = ProgramBuilder("cycle", "all_gather", 3, units=3, dimensions=("a",))
    for g in range(3):  # each waits for its predecessor's shard before it sends its own
        builder.message(g, (g + 1) % 3, g, 1)
    program = builder.build()
    steps, _ = taken_apart(program)
    sends = np.flatnonzero(program.op == Op.SEND)
    receives = [
        int(np.flatnonzero((program.op == Op.RECV) & (steps[:, 0] == g))[0]) for g in (0, 1, 2)
    ]
    cyclic = put_together(program, steps, np.column_stack((sends, receives)))
    (found,) = problems(cyclic)
    assert found.kind == "deadlock"
    assert found.message.startswith("6 steps never run, of members 0, 1, 2: member 0 step 0")
    assert "waits for member 2" in found.message
    assert set(found.steps) == set(range(6))
    with pytest.raises(
        ScheduleError, match=r"program cycle \(all_gather, 3 members\): deadlock: 6"
    ):
        check(cyclic)


def test_step_that_waits_for_itself_is_a_deadlock():
    program = build("all_gather", "direct", 2)
    steps, _ = taken_apart(program)
    assert kinds(put_together(program, steps, np.array([[0, 0]]))) == {"deadlock"}


def test_overwriting_what_is_being_sent_is_a_race():
    builder = ProgramBuilder("swap", "all_reduce", 2, units=1, dimensions=("a",))
    builder.message(0, 1, 0, 1)
    builder.message(1, 0, 0, 1)
    found = problems(builder.build())
    assert [p.kind for p in found] == ["race", "race"]
    assert "SEND units 0…0" in found[0].message
    assert "RECV units 0…0" in found[0].message


def test_order_through_other_members_is_order():
    # Member 0 sends unit 0 and receives it back, so the receive cannot come before the SEND.
    builder = ProgramBuilder("loop", "all_reduce", 2, units=1, dimensions=("a",))
    _, there = builder.message(0, 1, 0, 1, reduce=True)
    builder.message(1, 0, 0, 1, after=[there])
    check(builder.build())


def test_sending_what_is_not_there():
    builder = ProgramBuilder("early", "all_gather", 2, units=2, dimensions=("a",))
    builder.message(0, 1, 1, 1)
    found = problems(builder.build())
    assert found[0].kind == "undefined"
    assert {p.kind for p in found} == {"undefined", "result"}


def test_unfinished_result_says_what_is_held():
    builder = ProgramBuilder("half", "all_reduce", 2, units=1, dimensions=("a",))
    builder.message(0, 1, 0, 1, reduce=True)
    (found,) = problems(builder.build())
    assert str(found) == ("result: member 0 ends without the contribution of member 1 to unit 0")


def test_wrong_contents_are_named():
    builder = ProgramBuilder("wrong", "broadcast", 3, units=1, dimensions=("a",))
    builder.message(0, 1, 0, 1)
    (found,) = problems(builder.build())
    assert str(found) == (
        "result: member 2 ends with nothing in unit 0, not with unit 0 of member 0"
    )
    # The copy overwrites what member 0 has received.
    builder = ProgramBuilder(
        "swapped", "all_gather", 2, units=2, equal_units=True, dimensions=("a",)
    )
    builder.message(0, 1, 0, 1, into=0)
    builder.message(1, 0, 1, 1, into=1)
    check(builder.build())
    builder.copy(0, 0, 1, 1, after=[3], phase=0)
    assert "member 0 ends with unit 0 of member 0 in unit 1, not with unit 1 of member 1" in str(
        problems(builder.build())[-1]
    )


def test_a_message_may_be_empty_but_a_copy_not():
    builder = ProgramBuilder("order", "all_gather", 2, units=2, dimensions=("a",))
    builder.message(0, 1, 0, 1)
    builder.message(1, 0, 1, 1)
    builder.message(0, 1, 0, 0)
    check(builder.build())
    builder.copy(0, 0, 1, 0)
    (found,) = problems(builder.build())
    assert "no units" in str(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"peer": (0, 9)}, "a peer outside the group"),
        ({"peer": (0, 0)}, "a message to itself"),
        ({"offset": (0, 6)}, "units beyond the space"),
        ({"phase": (0, 1)}, "a phase that is not declared"),
        ({"op": (0, 7)}, "unknown op 7"),
        ({"target": (0, 10_000)}, "a partner that does not exist"),
        ({"dep": (0, 10_000)}, "waits for a step that does not exist"),
        ({"dep": (0, 30)}, "waits for another member"),
        ({"step_begin": (0, 1)}, "step_begin does not rise"),
        ({"dep_begin": (-1, 1)}, "dep_begin does not rise"),
    ],
)
def test_malformed_programs(change, message):
    program = build("all_reduce", "ring", 6)
    ((name, (index, value)),) = change.items()
    array = getattr(program, name).copy()
    array[index] = value
    found = problems(replace(program, **{name: array}))
    assert {p.kind for p in found} == {"structure"}
    assert any(message in str(p) for p in found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"units": 5}, "5 units do not divide into 6 equal shards"),
        ({"space": 11}, "as many units of output as of input"),
        ({"phase_dimension": ()}, "there is no phase"),
        ({"op": np.zeros(3, np.uint32)}, "entries, not"),
        ({"equal_units": False}, "received into units of different sizes"),
    ],
)
def test_impossible_heads(change, message):
    found = problems(replace(build("all_to_all", "direct", 6), **change))
    assert any(message in str(p) for p in found)


def test_phases_in_order_of_the_member():
    program = small("all_reduce", "hierarchical")
    begin, end = program.step_begin[:2].tolist()
    phase = program.phase.copy()
    phase[begin:end] = phase[begin:end][::-1]
    assert any(
        "before that of the previous" in str(p) for p in problems(replace(program, phase=phase))
    )


def test_phases_replace_dependencies_and_are_checked():
    program = small("all_reduce", "hierarchical")
    merged = replace(program, phase=np.zeros(program.steps), phase_dimension=("scale_out",))
    assert kinds(merged) == {"race"}


def test_overlapping_copies_are_refused():
    builder = ProgramBuilder("slide", "all_reduce", 1, units=4, equal_units=True, dimensions=("a",))
    builder.copy(0, 0, 1, 2)
    assert "source and target overlap" in str(problems(builder.build())[0])


@st.composite
def mutants(draw):
    """Return a change, a correct program, and the program with this change of a random message.

    The change is of a SEND and its receive, so that only the data is wrong and not the pairs.
    """
    program = draw(st.sampled_from([parameter.values[0] for parameter in NEEDED]))
    send = draw(st.sampled_from(np.flatnonzero(program.op == Op.SEND).tolist()))
    receive = int(program.target[send])
    steps, edges = taken_apart(program)
    change = draw(st.sampled_from(["drop", "double", "redirect", "shift"]))
    match change:
        case "drop":
            return change, program, without_steps(program, [send, receive])
        case "double":
            extra = steps[[send, receive]]
            extra[:, TARGET] = [len(steps) + 1, len(steps)]
            alike = {send: len(steps), receive: len(steps) + 1}
            after = [(alike.get(a, a), alike.get(b, b)) for a, b in edges.tolist()]
            # The copy runs after the original, in whose place it stands for what comes later.
            after += [(alike[receive], receive), (alike[send], send)]
            steps = np.vstack((steps, extra))
            edges = np.unique(np.vstack((edges, np.array(after, int))), axis=0)
        case "redirect":
            others = set(range(program.group_size)) - set(steps[[send, receive], MEMBER].tolist())
            other = draw(st.sampled_from(sorted(others)))
            steps[receive, MEMBER], steps[send, 3] = other, other
            edges = edges[(edges != receive).all(axis=1)]
        case "shift":
            count = int(steps[send, 5])
            places = np.setdiff1d(
                np.arange(program.space - count + 1), [steps[send, OFFSET], steps[receive, OFFSET]]
            )
            if places.size:
                steps[send, OFFSET] = draw(st.sampled_from(places.tolist()))
            else:
                steps[send, 5] += 1
    return change, program, put_together(program, steps, edges)


@settings(max_examples=300, deadline=None)
@given(mutants(), st.integers(0, 99))
def test_a_random_change_is_found(pair, seed):
    change, program, mutant = pair
    assert problems(program) == []
    if not problems(mutant):
        # What is reduced may take another way to its end, and a copy of a unit is as good as it.
        assert change in ("redirect", "shift")
        assert Interleaving(mutant, seed).run() == []

"""Programs by a rule run as the tables that Python makes of them, event by event."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from frontend import network_api_pb2 as api
from frontend.collectives import ALGORITHMS, Op
from frontend.collectives.algorithms import ring
from frontend.collectives.algorithms.nccl import Place
from frontend.collectives.program.composition import (
    AnyProgram,
    Composition,
    on_routes,
    parts_of,
    side_by_side,
)
from frontend.collectives.program.program import ProgramBuilder
from frontend.collectives.program.rotation import Repetition, Rotation, repetition, rotation
from frontend.compiler.compile import program_records
from tests.ns3_scratch.streams import (
    LOCAL,
    NEGOTIATED,
    Trace,
    collective,
    header,
    run,
    settings,
    star,
)

Changes = dict[str, Any]
DIMENSIONS = ("scale_up", "scale_out")

RING = ring.all_reduce(4)
PAIRS = side_by_side(ring.all_gather(2), 2)

BUILT: list[tuple[str, str, int, Changes]] = [
    *(("ring", operation, 5, {}) for operation in ("all_reduce", "reduce_scatter", "all_to_all")),
    *(("direct", operation, 6, {}) for operation in ("all_reduce", "all_gather", "barrier")),
    ("direct", "all_to_all", 5, {}),
    ("halving_doubling", "all_to_all", 7, {}),
    *(
        ("hierarchical", operation, 12, {"local_size": 3})
        for operation in ("all_reduce", "reduce_scatter", "all_gather", "all_to_all")
    ),
    ("hierarchical", "all_reduce", 8, {"local_size": 4, "scale_out_algorithm": "direct"}),
    ("hierarchical", "all_to_all", 6, {"local_size": 2, "scale_out_algorithm": "ring"}),
    ("hierarchical_optimal", "all_reduce", 12, {"local_size": 4, "segments": 3}),
    ("dbt", "all_reduce", 7, {"segments": 5}),
    ("dbt", "all_reduce", 2, {"segments": 3, "pairs": 2}),
    ("hierarchical", "all_reduce", 5, {"local_size": 1, "segments": 2}),
    *(
        ("nccl", operation, 6, {"place": Place(local, heads, lasts)})
        for operation in ("all_reduce", "reduce_scatter", "all_gather")
        for local, heads, lasts in ((3, (0, 2), ()), (3, (1,), (0,)), (1, (0,), ()))
    ),
]


def stream(made: AnyProgram, size: int, chunks: int = 1, **changes: Any) -> list[api.Record]:
    """Return a stream in which every rank issues one collective."""
    ranks, limits = made.group_size, changes.pop("limits", (3, 2))
    trace = Trace(range(ranks))
    trace.issue(0)
    programs = [*parts_of(made), made]
    return [
        header(),
        settings(limits=limits, **changes),
        star(ranks, DIMENSIONS),
        *program_records(programs, DIMENSIONS),
        collective(0, len(programs) - 1, range(ranks), size, chunks),
        trace.record(),
    ]


@pytest.mark.parametrize("admission", [NEGOTIATED, LOCAL])
@pytest.mark.parametrize("fabric", ["analytical", "flow", "express", "native"])
@pytest.mark.parametrize(("algorithm", "operation", "size", "options"), BUILT)
def test_a_rule_runs_as_its_table(
    algorithm: str, operation: str, size: int, options: Changes, fabric: str, admission: Any
) -> None:
    made = ALGORITHMS[algorithm].build(operation, size, **options)
    assert isinstance(made, Rotation | Repetition | Composition)
    # 10 007 bytes do not divide into units of equal size.
    changes = {"fabric": fabric, "admission": admission, "injection_ps": 10_000}
    rule = run(stream(made, 10_007, 3, **changes))
    assert rule["status"] == "complete"
    assert rule == run(stream(made.table(), 10_007, 3, **changes))


MESSAGE = st.tuples(
    st.integers(0, 2), st.integers(1, 6), st.sampled_from([0, 1, 3]), st.integers(0, 4)
)
"""Sender, distance to the receiver, turn of the address, and which earlier message of the sender to
wait for, if any."""


@st.composite
def rotations(draw: st.DrawFn) -> Rotation:
    """Draw messages to any distance, with any addresses, that wait for earlier receives."""
    block = draw(st.integers(1, 3))
    size = block * draw(st.integers(1 if block > 1 else 2, 6 // block))
    ring = [(member, 1, 1, 0) for member in range(block)]  # it connects all members
    units = size * 3
    columns: list[tuple[int, int, int, int]] = []  # op, peer, offset, turn
    owner: list[int] = []
    edges = []
    for source, ahead, turn, wait in [*ring, *draw(st.lists(MESSAGE, max_size=5))]:
        source, peer = source % block, (source % block + 1 + (ahead - 1) % (size - 1)) % size
        target = peer % block
        first = draw(st.integers(0, units - 1))
        received = [n for n in range(1, len(owner), 2) if owner[n] == source]
        if wait and received:
            edges.append((len(owner), received[(wait - 1) % len(received)]))
        columns.append((Op.SEND, peer, first, turn))
        columns.append((Op.RECV_REDUCE, (source - peer + target) % size, first, turn))
        owner += [source, target]
    order = np.argsort(owner, kind="stable")
    number = np.argsort(order)
    op, peers, offset, turns = np.array(columns)[order].T
    waits = number[np.array(edges, np.int64).reshape(-1, 2)]
    return rotation(
        "drawn",
        "all_reduce",
        size,
        units=units,
        space=2 * units,
        dimension="scale_out",
        op=op,
        peer=peers,
        offset=offset,
        target=number[order ^ 1],
        edges=waits[np.argsort(waits[:, 0])],
        offset_turn=turns,
        step_begin=np.searchsorted(np.array(owner)[order], np.arange(block + 1)),
    )


@hypothesis_settings(max_examples=60)
@given(made=rotations(), groups=st.integers(1, 3), data=st.data())
def test_any_rotation_runs_as_its_table(made: Rotation, groups: int, data: st.DataObject) -> None:
    several = side_by_side(made, groups)
    changes = {
        "fabric": data.draw(st.sampled_from(["analytical", "flow", "express"])),
        "admission": data.draw(st.sampled_from([LOCAL, NEGOTIATED])),
        "reduction_bytes_per_s": data.draw(st.sampled_from([0, 10**10])),
    }
    size = data.draw(st.integers(0, 20_000))
    rule, table = (run(stream(each, size, 2, **changes)) for each in (several, several.table()))
    assert rule == table


@st.composite
def repetitions(draw: st.DrawFn) -> Repetition:
    """Draw messages between any members, and copies, that wait for earlier steps of the member."""
    size, units = draw(st.integers(2, 5)), 12
    builder = ProgramBuilder("drawn", "all_reduce", size, units=units, dimensions=("scale_out",))
    done: list[list[int]] = [[] for _ in range(size)]

    def earlier(member: int) -> list[int]:
        return draw(st.lists(st.sampled_from(done[member]), max_size=2)) if done[member] else []

    for _ in range(draw(st.integers(1, 12))):
        src = draw(st.integers(0, size - 1))
        ahead = draw(st.integers(0, size - 1))
        first, count = draw(st.integers(0, 3)), draw(st.integers(0, 2))
        if ahead == 0:
            done[src].append(builder.copy(src, first, first + 3, count, after=earlier(src)))
            continue
        dst = (src + ahead) % size
        sent, received = builder.message(
            src, dst, first, count, reduce=draw(st.booleans()), after=earlier(src)
        )
        done[src].append(sent)
        done[dst].append(received)
    times = draw(st.integers(2, 4))
    return repetition(builder.build(), times, draw(st.integers(1, 4 // (times - 1))))


@hypothesis_settings(max_examples=100)
@given(made=repetitions(), groups=st.integers(1, 3), data=st.data())
def test_any_repetition_runs_as_its_table(
    made: Repetition, groups: int, data: st.DataObject
) -> None:
    several = side_by_side(made, groups)
    changes = {
        "fabric": data.draw(st.sampled_from(["analytical", "flow", "express"])),
        "admission": data.draw(st.sampled_from([LOCAL, NEGOTIATED])),
        "reduction_bytes_per_s": data.draw(st.sampled_from([0, 10**10])),
        "injection_ps": data.draw(st.sampled_from([0, 10_000])),
    }
    size = data.draw(st.integers(0, 20_000))
    rule, table = (run(stream(each, size, 2, **changes)) for each in (several, several.table()))
    assert rule == table


def test_equal_steps_merge_whatever_stands_between_them() -> None:
    """The second message of a repetition waits for step 0, the others for nothing."""
    builder = ProgramBuilder("drawn", "all_reduce", 2, units=12, dimensions=("scale_out",))
    first, _ = builder.message(0, 1, 0, 1)
    builder.message(0, 1, 0, 0)
    builder.message(0, 1, 0, 0, after=[first])
    made = repetition(builder.build(), 2, 1)
    assert run(stream(made, 8748, 2)) == run(stream(made.table(), 8748, 2))


def test_a_deadlock_names_the_peer_of_a_member() -> None:
    made = RING
    late = replace(made, edges=np.vstack([[[0, made.op.size - 1]], made.edges]))
    result = run(stream(late, 4000))  # the first step waits for the last one
    assert result["status"] == "deadlock"
    assert "0 of 12 steps done in phase 0, waiting for rank 2" in result["error"]
    assert result["error"] == run(stream(late.table(), 4000))["error"]


Change = Callable[[api.Program], object]

TREES = ALGORITHMS["dbt"].build("all_reduce", 4, segments=2)

WRONG: dict[str, tuple[AnyProgram, Change, str]] = {
    "peer of itself": (RING, lambda p: p.peer.__setitem__(0, 0), "step 0 has peer 0"),
    "peer outside": (RING, lambda p: p.peer.__setitem__(0, 4), "step 0 has peer 4"),
    "other distance": (RING, lambda p: p.peer.__setitem__(1, 2), "sends to step 1, which does not"),
    "step of another list": (RING, lambda p: p.target.__setitem__(0, 12), "sends to step 12"),
    "turns of some steps": (RING, lambda p: p.offset_turn.pop(), "offset_turn has 11 entries"),
    "no target turns": (RING, lambda p: p.target_turn.pop(), "target_turn has 11 entries"),
    "turn beyond the space": (
        RING,
        lambda p: p.offset_turn.__setitem__(0, 2),
        "step 0 reaches past the 4 units of its space",
    ),
    "largest turn": (
        RING,
        lambda p: p.offset_turn.__setitem__(0, 2**32 - 1),
        "step 0 reaches past the 4 units of its space",
    ),
    "count at the end of a region": (
        RING,
        lambda p: (p.count.__setitem__(0, 2), p.count.__setitem__(1, 2)),
        "reaches past the 4 units of its space",
    ),
    "steps of no divisor": (
        RING,
        lambda p: p.step_begin.MergeFrom([12, 12]),
        "step_begin of a rotation has 4 entries, but one more than a divisor of the 4 members is",
    ),
    "steps of no member": (
        RING,
        lambda p: p.ClearField("step_begin"),
        "step_begin of a rotation has 0 entries",
    ),
    "two phases": (
        RING,
        lambda p: p.phase_dimension.append(0),
        "a rotation has 2 phases, but 1 is expected",
    ),
    "too many members": (
        RING,
        lambda p: setattr(p, "group_size", 5),
        "group_size is 5, but the topology has 4 ranks",
    ),
    "a piece of itself": (
        PAIRS,
        lambda p: setattr(p.pieces[0], "program", 1),
        "piece 0 has program 1, but an earlier one with steps is expected",
    ),
    "steps and pieces": (PAIRS, lambda p: p.op.append(0), "it has pieces as well as steps"),
    "other units": (PAIRS, lambda p: setattr(p, "space", 3), "has other units than the program"),
    "late piece": (PAIRS, lambda p: setattr(p.pieces[0], "phase", 1), "ends after the 1 phases"),
    "no group": (PAIRS, lambda p: setattr(p.pieces[0], "groups", 0), "has 0 groups"),
    "no member step": (
        PAIRS,
        lambda p: setattr(p.pieces[0], "member_step", 0),
        "groups and member_step 0",
    ),
    "members beyond": (
        PAIRS,
        lambda p: setattr(p.pieces[0], "first", 1),
        "has members beyond the 4 of the program",
    ),
    "largest steps": (
        PAIRS,
        lambda p: setattr(p.pieces[0], "group_step", 2**32 - 1),
        "has members beyond the 4 of the program",
    ),
    "same members twice": (
        PAIRS,
        lambda p: setattr(p.pieces[0], "group_step", 1),
        "member 1 is in two groups in phase 0",
    ),
    "repetitions beyond the space": (
        TREES,
        lambda p: setattr(p, "repeat", 3),
        "reaches past the 4 units of its space",
    ),
    "repetitions at one place": (
        TREES,
        lambda p: setattr(p, "repeat_step", 0),
        "1 phases and repeat_step 0, but 1 phase, at least 1 and no turns are expected",
    ),
    "repetition of two phases": (
        TREES,
        lambda p: p.phase_dimension.append(0),
        "a repetition has 2 phases",
    ),
    "repetition of a rotation": (
        RING,
        lambda p: p.MergeFrom(api.Program(repeat=2, repeat_step=1)),
        "no turns are expected",
    ),
    "repetition of pieces": (
        PAIRS,
        lambda p: setattr(p, "repeat", 2),
        "it has pieces as well as steps",
    ),
    "too many repetitions": (
        TREES,
        lambda p: setattr(p, "repeat", 2**31),
        r"2147483648 repetitions of 24 steps are more than the 4294967295 that are accepted",
    ),
    "units beyond": (
        PAIRS,
        lambda p: setattr(p.pieces[0], "unit_step", 1),
        "piece 0 reaches past the 2 units of the program's space",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_refused(name: str) -> None:
    made, change, sentence = WRONG[name]
    records = stream(made, 4000)
    change([r for r in records if r.HasField("program")][-1].program)
    with pytest.raises(ValueError, match=sentence):
        run(records)


@pytest.mark.parametrize(("block", "groups"), [(1, 2), (2, 3)])
def test_a_rotation_in_separate_groups_is_refused(block: int, groups: int) -> None:
    # Each member sends to the second one after it, or only the first of each two does.
    made = rotation(
        "x",
        "all_gather",
        4,
        units=4,
        dimension="scale_out",
        op=[Op.SEND, Op.RECV],
        peer=[2, 2],
        offset=[0, 2],
        target=[1, 0],
        step_begin=[0, 2, 2][: block + 1],
    )
    with pytest.raises(ValueError, match=f"exchange messages in {groups} separate groups"):
        run(stream(made, 4000))


def test_a_rule_needs_the_paths_of_all_its_members() -> None:
    with pytest.raises(ValueError, match=r"needs one .* as route 1"):
        run(stream(on_routes(PAIRS, 1), 4000))

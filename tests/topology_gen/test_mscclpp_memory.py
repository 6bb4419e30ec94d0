"""MSCCL++ plans that read and write the memory of other ranks, with semaphores and pipelines.

Every plan below computes an all-reduce in place. Where a plan leaves out what orders two accesses,
the check must find the race.
"""

import json
import re

import pytest

from frontend.collectives.algorithm_files import checked
from tests.topology_gen.mscclpp_plans import (
    data,
    getting,
    here,
    plan,
    plan_with_meetings,
    signal,
    there,
)
from topology_gen.errors import AlgorithmError, FileFormatError
from topology_gen.formats.mscclpp import read_plan


def check(content):
    return checked(read_plan(content)).program


def reading(rank):
    """Each rank adds the other's chunk to its own, and stores the sum at the other."""
    add = data("rres", [here("i", rank), there(0, rank)], [here("i", rank), there(0, rank)])
    return [[signal(), signal("wait"), add, signal(), signal("wait")]]


def exchanging(rank):
    """The ranks write to scratch memory, and `res` adds and stores."""
    return [
        [
            data("put", [here("i", 1 - rank)], [there(1, 1 - rank)]),
            signal(),
            signal("wait"),
            data("res", [here("i", rank), here("s", rank)], [here("i", rank), there(0, rank)]),
            signal(),
            signal("wait"),
        ]
    ]


@pytest.mark.parametrize("blocks", [reading, getting, exchanging])
def test_memory_of_other_ranks(blocks):
    program = check(plan(blocks))
    assert (program.operation, program.group_size, program.units) == ("all_reduce", 2, 2)


def test_a_wait_left_out_is_found():
    def hasty(rank):
        (ops,) = exchanging(rank)
        return [[ops[0], *ops[3:]]]

    with pytest.raises(AlgorithmError, match="in no fixed order"):
        check(plan(hasty))


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_switch_channels(ranks):
    everyone = range(ranks - 1)

    def blocks(rank):
        whole = [{"switch_channel_id": 0, "index": rank, "size": 1}]
        add = data("glres", whole, whole)
        ready, done = signal("signal", everyone), signal("wait", everyone)
        return [[ready, done, add, ready, done]]

    assert check(plan(blocks, ranks)).group_size == ranks

    def alike(rank):
        return blocks(0)

    with pytest.raises(AlgorithmError, match="in no fixed order"):  # all add chunk 0
        check(plan(alike, ranks))


def test_a_store_to_a_switch_channel():
    def blocks(rank, *, hasty=False):
        put = data("put", [here("i", 1 - rank)], [there(1, 1 - rank)])
        add = data("re", [here("i", rank), here("s", rank)], [here("s", rank)])
        whole = [{"switch_channel_id": 0, "index": rank, "size": 1}]
        store = data("gstore", [here("s", rank)], whole)
        meet = [signal(), signal("wait")]
        return [[put, *([] if hasty else meet), add, store, *meet]]

    assert check(plan(blocks)).operation == "all_reduce"
    with pytest.raises(AlgorithmError, match="in no fixed order"):
        check(plan(lambda rank: blocks(rank, hasty=True)))


def handing_over(rank, release=True, turns=1):
    """Block 0 does the first half of `getting` in a pipeline, block 1 the second."""
    first, second = getting(rank)[0][:4], getting(rank)[0][4:]
    semaphore = {"semaphore_ids": [0]}
    if release:
        first = [*first, {"name": "sem_release"} | semaphore]
    acquire = [{"name": "sem_acquire"} | semaphore] * turns
    first = [
        {"name": "pipeline", "iter_context": {"unit_size": 1024, "num_chunks": 1}, "ops": first}
    ]
    return [first, [*acquire, *second]]


def test_semaphores_and_pipelines():
    assert check(plan(handing_over, semaphores=[0])).operation == "all_reduce"
    # A semaphore that is free from the beginning orders nothing.
    with pytest.raises(AlgorithmError, match="in no fixed order"):
        check(plan(handing_over, semaphores=[1]))
    # A second acquisition takes the initial value or a second release, of which there is none.
    assert check(plan(lambda rank: handing_over(rank, turns=2), semaphores=[1]))
    for blocks, expected in (
        (lambda rank: handing_over(rank, turns=2), "expected at least 2 releases of semaphore 0"),
        (lambda rank: handing_over(rank, release=False), "at least 1 releases of semaphore 0"),
    ):
        with pytest.raises(FileFormatError, match=expected):
            read_plan(plan(blocks, semaphores=[0]))
    with pytest.raises(FileFormatError, match=re.escape("semaphore_ids: 0: expected 0 … -1")):
        read_plan(plan(handing_over))


def test_barriers():
    assert check(plan_with_meetings()).operation == "all_reduce"


def test_barriers_of_many_blocks_are_bounded():
    """A barrier of n blocks has n² waits, which a plan of some 100 kB could not hold in memory."""
    blocks = 1025
    meeting = {"name": "barrier", "barrier_id": 0, "num_threadblocks": blocks}
    few = {"id": 0, "ops": [meeting], "channels": [], "remote_buffer_refs": []}
    document = json.loads(plan(reading))
    document["gpus"][0]["threadblocks"] = [few | {"id": number} for number in range(blocks)]
    with pytest.raises(FileFormatError, match="at most 1048576 waits at barriers of a rank"):
        read_plan(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (data("get", [there(0, 0)], []), "src_buff: expected 0 of them, not 1"),
        (data("get", [there(9, 0)], [here("s", 0)]), "buffer_id: 9: expected 0 … 1"),
        (
            data("rre", [here("i", 0), there(0, 0) | {"size": 2}], [here("i", 0)]),
            "size: expected the size of the other places",
        ),
        (data("rre", [], []), "src_buff: expected a place of this rank"),
        (
            data("glres", [here("i", 0)], [{"switch_channel_id": 1, "index": 0, "size": 1}]),
            "switch_channel_id: 1: expected 0 … 0",
        ),
    ],
)
def test_wrong_operations(operation, said):
    with pytest.raises(FileFormatError, match=re.escape(said)):
        read_plan(plan(lambda rank: [[operation]]))


def test_a_group_of_a_switch_channel_has_its_rank():
    wrong = json.loads(plan(reading))
    wrong["gpus"][0]["channels"][1]["rank_groups"][0]["ranks"] = [1]
    with pytest.raises(FileFormatError, match="expected a list of ranks with rank 0"):
        read_plan(json.dumps(wrong).encode())

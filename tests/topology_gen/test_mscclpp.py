"""MSCCL++ execution plans: their structure, and the errors of bad plans.

That they do what they should is shown in tests/frontend/collectives/test_from_algorithm.py.
"""

import json
import re
from collections import Counter

import pytest

from frontend.collectives.algorithm_files import checked
from topology_gen import graphs
from topology_gen.errors import AlgorithmError, FileFormatError
from topology_gen.formats.mscclpp import read_plan, write_plan
from topology_gen.schedules import bfb
from topology_gen.schedules.all_reduce import all_reduce
from topology_gen.schedules.all_to_all_schedule import all_to_all_schedule

GRAPH = graphs.circulant(8, [1, 3])
PLANS = {
    schedule.operation: json.loads(write_plan(schedule))
    for schedule in (
        bfb.all_gather(GRAPH),
        bfb.reduce_scatter(GRAPH),
        all_reduce(GRAPH),
        all_to_all_schedule(GRAPH, 2).schedule,
    )
}

# What the executor's reader looks up, and as what (src/core/executor/execution_plan.cc).
BUFFER = {"type": str, "index": int, "size": int}
REMOTE = {"buffer_id": int, "index": int, "size": int}
SYNC = {"name": str, "channel_ids": list, "channel_type": str}
OPERATIONS = {
    "nop": {"name": str},
    "barrier": {"name": str, "barrier_id": int, "num_threadblocks": int},
    "put": SYNC | {"src_buff": list, "dst_buff": list},
    "pws": SYNC | {"src_buff": list, "dst_buff": list},
    "copy": {"name": str, "src_buff": list, "dst_buff": list},
    "signal": SYNC,
    "wait": SYNC,
    "flush": SYNC,
    "re": {"name": str, "src_buff": list, "dst_buff": list, "reduce_op": str},
}


def types(entry):
    return {key: type(value) for key, value in entry.items()}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_structure(plan):
    assert plan["inplace"] is False
    assert plan["protocol"] == "Simple"
    assert [gpu["id"] for gpu in plan["gpus"]] == list(range(8))
    for gpu in plan["gpus"]:
        (channels,) = gpu["channels"]
        assert channels["channel_type"] == "port"
        for remote in gpu["remote_buffers"]:
            assert remote["access_channel_types"] == ["port"]
            assert remote["rank"] in channels["connected_to"]
            assert remote["type"] in ("o", "s")
        assert [block["id"] for block in gpu["threadblocks"]] == list(range(4))
        meetings = set()
        for block in gpu["threadblocks"]:
            (used,) = block["channels"]
            assert len(block["ops"]) <= 64
            refs = [ref["remote_buffer_ids"] for ref in block["remote_buffer_refs"]]
            for op in block["ops"]:
                assert types(op) == OPERATIONS[op["name"]]
                for channel in op.get("channel_ids", []):
                    assert 0 <= channel < len(used["channel_ids"])
                put = op["name"] in ("put", "pws")
                for end in op.get("src_buff", []):
                    assert types(end) == BUFFER
                for end in op.get("dst_buff", []):
                    assert types(end) == (REMOTE if put else BUFFER)
                    assert not put or 0 <= end["buffer_id"] < len(refs[0])
            meetings.add(sum(op["name"] == "barrier" for op in block["ops"]))
        assert len(meetings) == 1  # all blocks are as often at the barrier


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_channels_pair_up(plan):
    # As many from a to b as from b to a, or the executor would add some of its own.
    pairs = Counter(
        (gpu["id"], peer) for gpu in plan["gpus"] for peer in gpu["channels"][0]["connected_to"]
    )
    assert all(pairs[b, a] == number for (a, b), number in pairs.items())


def test_sizes():
    sizes = {
        operation: {
            (gpu["input_chunks"], gpu["output_chunks"]) for gpu in plan["gpus"]
        }
        for operation, plan in PLANS.items()
    }  # fmt: skip
    chunks = bfb.all_gather(GRAPH).chunks
    assert sizes == {
        "all_gather": {(chunks, 8 * chunks)},
        "reduce_scatter": {(8 * chunks, chunks)},
        "all_reduce": {(8 * chunks, 8 * chunks)},
        "all_to_all": {(16, 16)},
    }


def test_too_many_operations():
    with pytest.raises(AlgorithmError, match=r"gpu 0 thread block 0 has \d+ operations: expected"):
        write_plan(all_reduce(graphs.unidirectional_ring(20)))


def with_first(plan, **values):
    """The plan with values of the first operation of rank 0's first thread block that has them."""
    changed = json.loads(json.dumps(plan))
    for op in changed["gpus"][0]["threadblocks"][0]["ops"]:
        if values.keys() <= op.keys():
            op.update(values)
            break
    return changed


PLAN = PLANS["reduce_scatter"]


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (PLAN | {"collective": "broadcast"}, "collective: 'broadcast': expected one of allreduce"),
        (PLAN | {"protocol": "LL128"}, "protocol: 'LL128': expected one of Simple, LL"),
        (PLAN | {"gpus": PLAN["gpus"][1:]}, r"gpus\[0\].id: expected 0"),
        (with_first(PLAN, name="gain"), r"gpus\[0\].threadblocks\[0\].ops\[0\].name: 'gain'"),
        (with_first(PLAN, channel_ids=[5]), r"channel_ids: 5: expected 0 … 1"),
        (with_first(PLAN, channel_type="switch"), "channel_type: 'switch': expected one of port"),
        (with_first(PLAN, num_threadblocks=3), "num_threadblocks: barrier 0: expected 4"),
        (with_first(PLAN, num_threadblocks=3 * 10**8), "num_threadblocks: barrier 0: expected 4"),
        (with_first(PLAN, num_threadblocks=10**20), "expected a whole number from 1 to 2147483647"),
        (with_first(PLAN, barrier_id=1), "num_threadblocks: barrier 1: expected 1"),
        (
            with_first(PLAN, name="nop", barrier_id=0),
            "barrier 0: expected all blocks to use it the same number of times",
        ),
        (with_first(PLAN, name="wait", channel_type="port"), "waits on port channel"),
        (with_first(PLAN, src_buff=[]), r"src_buff: expected 1 of them, not 0"),
        (
            with_first(PLAN, src_buff=[{"type": "i", "index": 0, "size": 99}]),
            r"dst_buff\[0\].size: expected 99, the size of src_buff",
        ),
    ],
)
def test_bad_plans(plan, sentence):
    read_plan(json.dumps(PLAN).encode())
    with pytest.raises(FileFormatError, match=sentence):
        read_plan(json.dumps(plan).encode())


def test_channels_without_an_other_end():
    lonely = json.loads(json.dumps(PLAN))
    lonely["gpus"][0]["channels"][0]["connected_to"].append(1)
    with pytest.raises(FileFormatError, match="to rank 1 has no counterpart there"):
        read_plan(json.dumps(lonely).encode())
    lonely["gpus"][0]["channels"][0]["connected_to"][-1] = 0
    with pytest.raises(FileFormatError, match="rank 0: expected another rank's number"):
        read_plan(json.dumps(lonely).encode())


def packet_plan():
    """Return a plan in which two ranks exchange their halves as packets, and add them."""

    def local(buffer, index):
        return {"type": buffer, "index": index, "size": 1}

    def gpu(rank):
        other = 1 - rank
        remote = {"buffer_id": 0, "index": rank, "size": 1}
        put = {"name": "ppkt", "src_buff": [local("i", other)], "dst_buff": [remote]}
        add = {
            "name": "respkt",
            "src_buff": [local("i", rank), local("s", other)],
            "dst_buff": [local("i", rank), {"buffer_id": 0, "index": 2 + rank, "size": 1}],
        }
        unpack = {
            "name": "upkt",
            "src_buff": [local("s", 2 + other)],
            "dst_buff": [local("i", other)],
        }
        channels = [{"channel_type": "memory", "channel_ids": [0]}]
        buffers = [{"access_channel_type": "memory", "remote_buffer_ids": [0]}]
        return {
            "id": rank,
            "input_chunks": 2,
            "output_chunks": 2,
            "scratch_chunks": 4,
            "threadblocks": [
                {"id": 0, "ops": [put, add], "channels": channels, "remote_buffer_refs": buffers},
                {"id": 1, "ops": [unpack], "channels": [], "remote_buffer_refs": []},
            ],
            "channels": [{"channel_type": "memory", "connected_to": [other]}],
            "remote_buffers": [{"rank": other, "type": "s", "access_channel_types": ["memory"]}],
            "semaphores": [],
        }

    plan = {"name": "packets", "collective": "allreduce", "protocol": "LL", "inplace": True}
    return json.dumps(plan | {"gpus": [gpu(0), gpu(1)]})


def test_packets_are_their_own_signals():
    algorithm = read_plan(packet_plan().encode())
    assert algorithm.protocol == "LL"
    program = checked(algorithm).program
    assert (program.operation, program.group_size) == ("all_reduce", 2)
    # Nothing writes chunk 2 of this scratch buffer, so its reader waits for nothing.
    wrong = json.loads(packet_plan())
    wrong["gpus"][0]["threadblocks"][1]["ops"][0]["src_buff"][0]["index"] = 2
    with pytest.raises(AlgorithmError, match="touch the same chunks in no fixed order"):
        checked(read_plan(json.dumps(wrong).encode()))


def in_groups(plan, size):
    """Return a plan whose thread blocks are divided among groups of `size` blocks."""
    for gpu in plan["gpus"]:
        blocks: list[dict[str, object]] = []
        for block in gpu["threadblocks"]:
            for number in range(size):
                info = {"tb_id": number, "tbg_size": size}
                operations = [operation | {"tbg_info": info} for operation in block["ops"]]
                blocks.append(block | {"id": len(blocks), "ops": operations})
        gpu["threadblocks"] = blocks
    return plan


def test_groups_of_thread_blocks_divide_chunks():
    whole = read_plan(packet_plan().encode())
    divided = read_plan(json.dumps(in_groups(json.loads(packet_plan()), 3)).encode())
    assert divided.chunks == 3 * whole.chunks
    assert checked(divided).program.operation == "all_reduce"
    # Without one of the three blocks, a third of the data is missing.
    lame = in_groups(json.loads(packet_plan()), 3)
    lame["gpus"][0]["threadblocks"][2]["ops"] = []
    with pytest.raises(AlgorithmError):
        checked(read_plan(json.dumps(lame).encode()))
    for size, number, said in (
        (2, 2, "tb_id: 2: expected 0 … 1"),
        (0, 0, "tbg_size: 0: expected a whole number from 1"),
        (97, 0, "tbg_info: expected groups that divide a chunk into at most 64 parts"),
    ):
        wrong = json.loads(packet_plan())
        info = {"tb_id": number, "tbg_size": size}
        wrong["gpus"][0]["threadblocks"][1]["ops"][0]["tbg_info"] = info
        with pytest.raises(FileFormatError, match=re.escape(said)):
            read_plan(json.dumps(wrong).encode())

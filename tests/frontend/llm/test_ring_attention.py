"""Ring attention: the same computation as with an all-gather, and messages beside it."""

import cosim
from frontend.kernels import kernels
from frontend.workloads.plan import NodeType

from .llms import CARD, peer_of, resolved, scenario


def work(exchange, **workload):
    layout = {"tp": 2, "cp": 4, "cp_exchange": exchange}
    return resolved(16, layout=layout, **workload).plan


def busy(plan):
    return {
        sum(node.duration_ps for node in trace.nodes if node.type == NodeType.COMPUTE)
        for trace in plan.all_traces()
    }


def test_the_computation_is_that_of_an_all_gather():
    assert busy(work("ring")) == busy(work("all_gather"))


def test_each_rank_sends_to_the_next_and_receives_from_the_one_before():
    plan = work("ring")
    assert len(plan.all_traces()) == 4
    for trace in plan.all_traces():
        for node in trace.nodes:
            if node.name == "attention.kv":
                way = 1 if node.type == NodeType.SEND else -1
                for rank in trace.ranks:
                    # tp has consecutive ranks, and then cp
                    replica, within = divmod(rank, 8)
                    place, tensor = divmod(within, 2)
                    neighbour = replica * 8 + (place + way) % 4 * 2 + tensor
                    assert peer_of(trace, node, rank) == neighbour


def test_messages_hide_behind_the_attention():
    """With slow computation, three blocks arrive while others are computed: nothing is exposed."""
    given = scenario(4, layout={"cp": 4, "cp_exchange": "ring"}, compute={"peak_flops": "1GFLOPS"})
    given["workload"]["model"] = CARD | {"sequence": 1024}
    ring = cosim.run(given)
    gather = cosim.run(given, {"workload.layout.cp_exchange": "all_gather"})
    exposed = {
        name: {one.name: one.exposed_comm_ns for one in result.layers}["context_parallel"]
        for name, result in (("ring", ring), ("gather", gather))
    }
    # Only the gradients of the last block are in nobody's shadow.
    assert exposed["ring"] < 0.5 * exposed["gather"]
    assert ring.time_ns < gather.time_ns


def test_copies_and_sums_of_kernels():
    """With kernels by their shape, a ring copies and adds up, and exchanged heads are copied.

    Source: Transformer Engine 2.4, `context_parallel.py`. K and V of half of the tokens of each
    other rank are copied; sums read the old and the new value and write the new one.
    """
    shapes = {"compute": {"kernels": "shapes", "accelerator": "h100"}}
    passes = kernels("h100", "bf16").pass_ps
    layers = CARD["layers"] * 2  # micro-batches of the one replica of a rank
    workload = {"global_batch": 4, "model": CARD | {"kv_heads": 8}} | shapes

    def of_attention(exchange):
        (trace, *_) = work(exchange, **workload).all_traces()
        return [node for node in trace.nodes if node.name.startswith("attention.")]

    # 64 / 4 tokens, 8 / 2 heads of queries and of results, and 2 · 8 / 2 of keys and values.
    head = 64 // 4 * 8 * 2
    result, keys = 4 * head, 8 * head
    turns = [node for node in of_attention("ring") if node.name == "attention.scores_gradient"]
    assert len(turns) == 4 * layers
    first, second = (
        sum(map(passes, moved))
        for moved in ((2 * keys, 2 * keys, 2 * result), (keys, 3 * keys // 2, 3 * result))
    )
    assert abs(first - second - (turns[0].duration_ps - turns[1].duration_ps)) <= 1
    copies = [n for n in of_attention("all_to_all") if n.name == "attention.copy"]
    # Before and after nine exchanges: queries and results of both phases, and keys and values.
    assert sum(node.duration_ps for node in copies) == layers * (
        2 * (2 + 3) * passes(2 * result) + 2 * 4 * passes(2 * keys // 2)
    )

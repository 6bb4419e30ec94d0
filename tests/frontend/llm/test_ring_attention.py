"""Ring attention: the same computation as with an all-gather, and messages beside it."""

import cosim
from frontend.workloads.plan import NodeType

from .llms import peer_of, resolved, scenario


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
    given["workload"]["model"] |= {"sequence": 1024}
    ring = cosim.run(given)
    gather = cosim.run(given, {"workload.layout.cp_exchange": "all_gather"})
    exposed = {
        name: {one.name: one.exposed_comm_ns for one in result.layers}["context_parallel"]
        for name, result in (("ring", ring), ("gather", gather))
    }
    # Only the gradients of the last block are in nobody's shadow.
    assert exposed["ring"] < 0.5 * exposed["gather"]
    assert ring.time_ns < gather.time_ns

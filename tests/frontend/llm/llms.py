"""Small language models for the tests, and what their plans transfer."""

from collections import Counter
from typing import Any

from frontend.loading.load import load_scenario
from frontend.resolve.resolved import Resolved, resolve
from frontend.workloads.plan import Node, NodeType, Plan, Trace

CARD = {
    "layers": 8, "hidden": 64, "heads": 8, "kv_heads": 4, "feed_forward": 96, "vocabulary": 128,
    "sequence": 64,
}  # fmt: skip


def scenario(ranks: int, **workload: Any) -> dict[str, Any]:
    """Return a scenario on one switch."""
    links = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
    return {
        "fabric": "analytical",
        "topology": {"family": "flat", "ranks": ranks, **links},
        "workload": {"kind": "llm", "model": CARD, "global_batch": 8} | workload,
    }


def resolved(ranks: int, **workload: Any) -> Resolved:
    return resolve(load_scenario(scenario(ranks, **workload)))


def peer_of(trace: Trace, node: Node, rank: int) -> int:
    """Return the rank at the other end of a message of `rank`."""
    return (rank + node.peer) % trace.peer_modulus


def carried(plan: Plan, ranks: int) -> dict[tuple[str, str], Counter[int]]:
    """Return the buffers of all collectives and sends, by layer and operation, for each rank."""
    found: dict[tuple[str, str], Counter[int]] = {}
    for trace in plan.all_traces():
        for node in trace.nodes:
            if node.type == NodeType.COLLECTIVE:
                issue = plan.issues[node.collective]
                key, size = (plan.layers[node.layer], issue.operation), issue.bytes
                assert issue.ranks is not None
                assert set(trace.ranks or ()) <= set(issue.ranks)
            elif node.type == NodeType.SEND:
                key, size = (plan.layers[node.layer], "send"), node.bytes
            else:
                continue
            for rank in trace.ranks or ():
                found.setdefault(key, Counter())[rank] += size
    assert all(0 <= rank < ranks for counts in found.values() for rank in counts)
    return found

"""Weights that are gathered before the forward phase: each block waits for its own bucket."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.workloads.plan import Node, NodeType, Plan

from .llms import CARD, resolved

ELEMENT = 4  # bytes of a gradient, by which buckets are filled


def plan_of(bucket: int, **layout: Any) -> Plan:
    own = {"dp": None, "zero": 1} | layout
    return resolved(
        4, layout=own, bucket=f"{bucket}B", overlap={"gather": True}, global_batch=16
    ).plan


def gathers(plan: Plan, nodes: tuple[Node, ...]) -> dict[int, int]:
    """Return the weights of each gather of a trace by its node."""
    return {
        place: plan.issues[node.collective].bytes // 2
        for place, node in enumerate(nodes)
        if node.type == NodeType.COLLECTIVE
        and plan.issues[node.collective].operation == "all_gather"
    }


def before(nodes: tuple[Node, ...], place: int) -> set[int]:
    """Return the nodes that a computation waits for: its dependencies, and earlier computations."""
    found, left = set[int](), [place]
    while left:
        for one in nodes[left.pop()].dependencies:
            if one not in found:
                found.add(one)
                left.append(one)
    return found


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 2_000_000), st.sampled_from([1, 2]), st.sampled_from([1, 2]))
def test_all_weights_are_gathered_once(bucket: int, stages: int, chunks: int) -> None:
    chunks = chunks if stages > 1 else 1
    plan = plan_of(bucket, pp=stages, chunks=chunks)
    whole = sum(sum(gathers(plan, trace.nodes).values()) for trace in plan.all_traces())
    reduced = sum(
        plan.issues[node.collective].bytes // ELEMENT
        for trace in plan.all_traces()
        for node in trace.nodes
        if node.type == NodeType.COLLECTIVE
        and plan.issues[node.collective].operation == "reduce_scatter"
    )
    assert whole == reduced > 0


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 2_000_000))
def test_a_block_waits_for_the_weights_up_to_its_own(bucket: int) -> None:
    """Computations of the first micro-batch wait for a growing part, and the last one for all."""
    plan = plan_of(bucket)
    [trace] = plan.all_traces()
    sizes = gathers(plan, trace.nodes)
    forward = [
        place
        for place, node in enumerate(trace.nodes)
        if node.type == NodeType.COMPUTE and node.name.endswith(".forward")
    ][: 2 * CARD["layers"] + 2]  # the embedding, two halves of each layer, and the output layer
    waits = [len(before(trace.nodes, place) & set(sizes)) for place in forward]
    assert waits == sorted(waits)
    assert waits[0] == 1
    assert waits[-1] == len(sizes)
    # All buckets but the first one of the forward phase are full, and none is two blocks too large.
    largest = max(each * ELEMENT for each in sizes.values())
    full = [each * ELEMENT >= bucket for each in sizes.values()]
    assert all(full[1:])
    assert largest < bucket + 2 * ELEMENT * CARD["hidden"] * CARD["feed_forward"] * 4


def test_other_chunks_are_gathered_whole() -> None:
    plan = plan_of(1, pp=2, chunks=2)
    first, second = plan.all_traces()
    layers = CARD["layers"] // 4
    assert len(gathers(plan, first.nodes)) == 1 + layers + 1  # embedding, layers; a whole chunk
    assert len(gathers(plan, second.nodes)) == 2

"""Gradients of the output layer's weights that the last stage leaves for the end."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend import ScenarioError
from frontend.workloads.llm import stage_memory
from frontend.workloads.llm.grid import Grid
from frontend.workloads.plan import Plan

from .llms import CARD, carried, resolved
from .test_schedule import ends

CHEAP = {"peak_flops": "1GFLOPS", "memory_bandwidth": "1000TB/s", "efficiency": 1}
GRADIENT = 2 * 64 * 64 * 128 * 1000
"""Picoseconds of a gradient: 64 tokens, 64 elements and 128 words at 10⁹ FLOP/s."""


def plan_of(limit: int, *, stages: int = 4, **workload: Any) -> Plan:
    own: dict[str, Any] = {"model": CARD, "compute": CHEAP | {"update_accesses": 0}} | workload
    own["layout"] = {"pp": stages} | own.get("layout", {})
    return resolved(stages * 2, **own, global_batch=16, deferred_output=limit).plan


@settings(max_examples=15, deadline=None)
@given(st.sampled_from([2, 4]), st.sampled_from([1, 2]), st.integers(0, 10), st.integers(0, 1))
def test_the_first_micro_batches_leave_their_gradient_to_the_end(stages, chunks, limit, modules):
    keys = {"layout": {"chunks": chunks}, "model": CARD | {"mtp_layers": modules}}
    plan, same = (plan_of(number, stages=stages, **keys) for number in (limit, 0))
    last = plan.all_traces()[-1]
    for own, before in zip(plan.all_traces()[:-1], same.all_traces()[:-1], strict=True):
        assert [node._replace(collective=0) for node in own.nodes] == [
            node._replace(collective=0) for node in before.nodes
        ]
    # All gradients are computed, and as many as are left come after the last backward step.
    work = [sum(node.duration_ps for node in one.all_traces()[-1].nodes) for one in (plan, same)]
    assert work[0] == work[1]
    names = [node.name for node in last.nodes if node.duration_ps]
    left = min(limit, 8) * (1 + modules)
    while names and names[-1] == "output.weight_gradient":
        names.pop()
        left -= 1
    assert left == 0
    # What the last stage computes before is shorter, so no other stage ends later.
    *finished, _ = (max(times.values()) for times in ends(plan))
    *usual, _ = (max(times.values()) for times in ends(same))
    assert all(now <= before for now, before in zip(finished, usual, strict=True))


def test_a_last_stage_that_is_the_longest_decides_the_step():
    # It never waits between its steps, so it ends at the same time, and the others earlier: the
    # first stage by each gradient that comes after the last backward step, as long as they do not
    # take longer than what the other stages have left.
    before, after = ([max(one.values()) for one in ends(plan_of(n, stages=2))] for n in (0, 1))
    assert before[-1] == after[-1]
    assert before[0] - after[0] == GRADIENT


def test_memory_has_what_is_left():
    def activations(limit):
        work = resolved(
            4, model=CARD, layout={"pp": 2, "tp": 2}, global_batch=8, deferred_output=limit
        ).scenario.only_work.workload  # fmt: skip
        first, last = stage_memory(work, Grid(work.layout, 4))
        return first.activations, last.activations

    # Of each micro-batch, 64 tokens: half of 128 gradients of logits, and 64 elements of half.
    (first, last), (other, more) = activations(0), activations(3)
    assert first == other
    assert more - last == 3 * 64 * (128 // 2 + 64 // 2) * 2


@pytest.mark.parametrize(
    ("keys", "because"),
    [
        ({"stages": 1}, "there is one pipeline stage"),
        ({"layout": {"schedule": "zero_bubble"}}, "the schedule is zero_bubble"),
        ({"layout": {"zero": 2}}, "zero 2 reduces gradients after each micro-batch"),
        ({"lora": {}}, "only adapters are trained"),
        ({"model": CARD | {"vocabulary": 0}}, "the model has no output layer"),
    ],
)
def test_what_is_refused(keys, because):
    sentence = f"workload.deferred_output: value 1: expected 0, because {because}"
    with pytest.raises(ScenarioError, match=sentence):
        plan_of(1, **keys)


@pytest.mark.parametrize("overlap", [False, True])
def test_gradients_are_reduced_after_the_last_of_them(overlap):
    plan, same = (
        resolved(
            8, layout={"pp": 2, "tp": 2, "zero": 1}, global_batch=8, deferred_output=limit,
            overlap={"dp": overlap},
        ).plan
        for limit in (3, 0)
    )  # fmt: skip
    assert carried(plan, 8) == carried(same, 8)
    nodes = plan.traces[-1].nodes
    last = max(at for at, node in enumerate(nodes) if node.name == "output.weight_gradient")
    sums = [at for at, node in enumerate(nodes) if node.name == "gradients.reduce_scatter"]
    assert sums[-1] > last
    assert last in nodes[sums[-1]].dependencies

"""Adapters beside frozen matrices: what is computed, exchanged and kept, against closed forms.

Source of the forms: E. Hu et al., "LoRA: low-rank adaptation of large language models", ICLR 2022,
section 4.1: beside a matrix of d rows and k columns, r · (d + k) weights are trained.
"""

from typing import Any

import pytest

from frontend import ScenarioError, load_scenario
from frontend.models.cards import Card
from frontend.models.transformer import multiplied_weights, parameters
from frontend.workloads.llm import KIND
from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.operators import Operators, Times
from frontend.workloads.llm.partition import rank_memory
from frontend.workloads.llm.workload import LlmWorkload
from frontend.workloads.plan import NodeType

from .llms import CARD, carried, resolved, scenario

RANK = 4
ENDS = {"qkv": 64 + 64 + 64, "proj": 64 + 64, "fc1": 64 + 2 * 96, "fc2": 96 + 64}
"""Rows and columns of each matrix of `CARD`: 8 heads and 2 · 4 of keys and values, 8 wide each."""


def workload(ranks: int = 2, **keys: Any) -> LlmWorkload:
    found = load_scenario(scenario(ranks, **keys)).only_work.workload
    assert isinstance(found, LlmWorkload)
    return found


def trained(*targets: str) -> int:
    """Return the weights of all adapters."""
    return CARD["layers"] * RANK * sum(ENDS[name] for name in targets)


@pytest.mark.parametrize("targets", [["qkv"], ["proj", "fc2"], ["qkv", "proj", "fc1", "fc2"]])
@pytest.mark.parametrize("zero", [0, 1, 3])
def test_ranks_exchange_the_gradients_of_adapters_only(targets: list[str], zero: int) -> None:
    lora = {"rank": RANK, "targets": targets}
    plan = resolved(4, lora=lora, layout={"zero": zero}, global_batch=4).plan
    found = carried(plan, 4)
    operation = "reduce_scatter" if zero else "all_reduce"
    assert set(found["data_parallel", operation].values()) == {4 * trained(*targets)}
    if zero == 1:
        assert set(found["data_parallel", "all_gather"].values()) == {2 * trained(*targets)}
    if zero == 3:
        # The backward phase needs no embedding, and keeps the output layer.
        table = CARD["vocabulary"] * CARD["hidden"]
        ends = 2 * table + CARD["hidden"]
        whole = parameters(Card.model_validate(CARD)) + trained(*targets)
        assert set(found["data_parallel", "all_gather"].values()) == {2 * (2 * whole - ends)}


def test_ranks_of_tp_divide_adapters_like_their_matrices() -> None:
    """Both matrices of an adapter have a part on each rank; so do both matrices with rank 4."""
    lora = {"rank": RANK, "targets": ["proj"]}
    plan = resolved(8, lora=lora, layout={"tp": 4}, global_batch=8).plan
    each = CARD["layers"] * RANK * ENDS["proj"] // 4
    assert set(carried(plan, 8)["data_parallel", "all_reduce"].values()) == {4 * each}


@pytest.mark.parametrize(("targets", "gathers"), [(["proj"], 4), (["qkv"], 5), (["fc1", "qkv"], 6)])
def test_the_input_comes_back_only_for_adapters(targets: list[str], gathers: int) -> None:
    plan = resolved(2, lora={"targets": targets}, layout={"tp": 2}, global_batch=1).plan
    hidden = CARD["sequence"] * CARD["hidden"] * 2
    # The output layer gathers once forward; the embedding has no backward phase.
    expected = (gathers * CARD["layers"] + 1) * hidden
    assert set(carried(plan, 2)["tensor_parallel", "all_gather"].values()) == {expected}


@pytest.mark.parametrize("schedule", ["1f1b", "zero_bubble"])
def test_frozen_matrices_compute_two_of_three_products(schedule: str) -> None:
    """With a fast memory, a token takes 4 FLOP for each frozen weight and 6 for each other one."""
    keys: dict[str, Any] = {
        "layout": {"pp": 2, "schedule": schedule},
        "compute": {"peak_flops": "1GFLOPS", "memory_bandwidth": "1000TB/s", "efficiency": 1.0},
        "lora": {"rank": RANK, "targets": ["qkv", "fc2"]},
        "global_batch": 4,
    }
    plan = resolved(2, **keys).plan
    busy_ps = sum(
        node.duration_ps
        for trace in plan.all_traces()
        for node in trace.nodes
        if node.type == NodeType.COMPUTE and "attention.scores" not in node.name
    )
    scores = Operators(workload(**keys)).scores
    tokens = 4 * CARD["sequence"]
    attention_ps = 4 * CARD["layers"] * (scores.forward + scores.input_gradient)
    flop = 4 * multiplied_weights(Card.model_validate(CARD)) + 6 * trained("qkv", "fc2")
    assert busy_ps - attention_ps == pytest.approx(tokens * flop * 1000, rel=1e-3)


def test_the_mfu_counts_no_gradients_of_frozen_weights() -> None:
    lora = {"rank": RANK, "targets": ["qkv"]}
    tuned, plain = (KIND.training(workload(lora=one), 2) for one in (lora, None))
    tokens = 8 * CARD["sequence"]
    less = 2 * multiplied_weights(Card.model_validate(CARD)) - 6 * trained("qkv")
    assert plain.flop - tuned.flop == tokens * less


def test_memory() -> None:
    """A rank keeps all weights, but gradients and the optimizer's state of adapters only."""
    lora = {"rank": RANK, "targets": ["qkv"]}
    plain, tuned = (workload(layout={"zero": 1}, lora=one) for one in (None, lora))
    before, after = (rank_memory(one, Grid(one.layout, 2), 0, 4) for one in (plain, tuned))
    assert after.weights - before.weights == 2 * trained("qkv")
    assert after.gradients == 4 * trained("qkv")
    assert after.optimizer == 12 * trained("qkv") // 2
    # The inputs of both matrices of the network are not kept: 64 + 96 elements of each token.
    kept = 2 * CARD["layers"] * CARD["sequence"] * (64 + 96)
    assert before.activations - after.activations == kept


def test_kernels_of_adapters() -> None:
    """Scaling and dropout are passes of their own; casts for frozen matrices have one layout."""
    adapter = {"rank": RANK, "targets": ["qkv"]}
    plain, tuned, dropped, frozen = (
        Operators(workload(compute={"kernels": "shapes"}, precision="fp8", lora=lora)).projections
        for lora in (None, adapter, adapter | {"dropout": True}, {"targets": ["fc1"]})
    )
    assert frozen.weight_gradient == 0
    assert frozen.forward < plain.forward < tuned.forward < dropped.forward
    assert dropped.input_gradient - tuned.input_gradient == dropped.forward - tuned.forward
    assert isinstance(tuned, Times)
    assert tuned.weight_gradient > 0


EXPERTS = {"count": 4, "top_k": 1, "width": 32}


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ({"lora": {"targets": []}}, r"workload.lora.targets: .*expected"),
        ({"lora": {"targets": ["q_proj"]}}, r"workload.lora.targets.0: .*did you mean proj"),
        (
            {"lora": {"targets": ["qkv", "qkv"]}},
            r"workload.lora.targets: .*expected each name once",
        ),
        ({"lora": {}, "model": CARD | {"experts": EXPERTS}}, r"workload.lora: .*has experts"),
        (
            {"layout": {"cp": 2, "tp": 4, "cp_exchange": "all_to_all"}},
            r"workload.layout.cp: .*divisor of the 1 heads",
        ),
    ],
)
def test_what_is_refused(keys: dict[str, Any], error: str) -> None:
    with pytest.raises(ScenarioError, match=error):
        load_scenario(scenario(8, **keys))

"""What each rank puts into collectives and messages, against closed forms, for random layouts.

Sources of the forms: Narayanan et al., SC 2021, section 3; Korthikanti et al., MLSys 2023, section
4.2; Rajbhandari et al., SC 2020, section 7.
"""

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from frontend.models.cards import CARDS, Card
from frontend.models.transformer import parameters
from frontend.workloads.llm.workload import ORDERS
from frontend.workloads.plan import NodeType

from .llms import CARD, carried, resolved

EXPERTS = {"count": 8, "top_k": 2, "width": 32, "shared": 1}
POWERS = st.sampled_from([1, 2, 4])


@settings(max_examples=200, deadline=None)
@given(
    tp=POWERS, cp=POWERS, pp=POWERS, chunks=st.sampled_from([1, 2]), ep=POWERS, dp=POWERS,
    zero=st.integers(0, 3), spread=st.booleans(), experts=st.booleans(),
    recompute=st.sampled_from(["none", "selective", "full"]), overlap=st.booleans(),
    order=st.sampled_from(ORDERS), micro_batch=st.sampled_from([1, 2]),
    schedule=st.sampled_from(["1f1b", "zero_bubble", "dual_pipe"]),
    exchange=st.sampled_from(["all_gather", "ring", "all_to_all"]),
    gather=st.booleans(), element=st.sampled_from([1, 2]),
    precision=st.sampled_from(["bf16", "fp8", "fp4"]), scaling=st.sampled_from(["current", "mx"]),
)  # fmt: skip
def test_volumes(
    tp, cp, pp, chunks, ep, dp, zero, spread, experts, recompute, overlap, order, micro_batch,
    schedule, exchange, gather, element, precision, scaling,
):  # fmt: skip
    assume(2 <= tp * cp * pp * dp <= 64)
    assume(exchange != "all_to_all" or tp * cp <= CARD["kv_heads"])
    dual = schedule == "dual_pipe"
    assume(not dual or pp == 2)
    chunks = 2 if dual else chunks if pp > 1 and schedule == "1f1b" else 1
    ep = min(ep, dp) if experts else 1
    ranks, batches = tp * cp * pp * dp, 4
    plan = resolved(
        ranks,
        model=CARD | ({"experts": EXPERTS} if experts else {}),
        layout={
            "tp": tp, "cp": cp, "pp": pp, "chunks": chunks, "ep": ep, "zero": zero,
            "sequence_parallel": spread, "order": order,
            "schedule": schedule,
            "cp_exchange": exchange,
        },
        global_batch=batches * micro_batch * dp,
        micro_batch=micro_batch,
        recompute=recompute,
        overlap={"dp": overlap, "tp": overlap, "ep": overlap, "gather": gather},
        gather_element=f"{element}B",
        precision=precision,
        fp8_scaling=scaling,
        compute={"accelerator": "b200"},
        bucket="20kB",
    ).plan  # fmt: skip
    found = carried(plan, ranks)

    def total(layer, *operations):
        sizes: Counter[int] = Counter()
        for operation in operations:
            sizes += found.pop((layer, operation), Counter())
        return sum(sizes.values())

    # A stage has 1/pp of the layers and ranks / pp ranks, so sums over all ranks need no stages.
    layers, tokens = CARD["layers"] * batches * ranks // pp, micro_batch * CARD["sequence"]
    hidden = tokens // cp * CARD["hidden"] * 2
    ends = batches * ranks // pp  # micro-batches on the ranks of the first, or of the last stage
    again = recompute == "full"
    if tp > 1:
        halves = 1 if experts else 2  # of a layer, without the experts
        routed = tokens // cp * (EXPERTS["top_k"] + 1) * CARD["hidden"] * 2 if experts else 0
        # Inputs of products are cast before they are gathered; gradients for both products.
        inputs = hidden // 2 * {"bf16": 32, "fp8": 16, "fp4": 9}[precision] // 16
        both = precision == "fp4" or (precision == "fp8" and scaling == "mx")
        gathers = (3 + again + both) * halves * inputs + (2 + again) * routed
        scatters = (2 + again) * halves * hidden + (2 + again) * routed
        if spread:
            # Ends: the embedding scatters and gathers; the output gathers twice and scatters.
            assert total("tensor_parallel", "all_gather") == layers * gathers + 3 * ends * hidden
            scattered = layers * scatters + 2 * ends * hidden
            assert total("tensor_parallel", "reduce_scatter") == scattered
            # For factors from the largest elements: four bytes before each, but for inputs again.
            largest = precision == "fp4" or (precision == "fp8" and scaling == "current")
            shared = 4 * largest * (2 + again) * halves * layers
            assert total("tensor_parallel", "all_reduce") == shared
        else:
            summed = (2 + again) * halves * hidden * layers + 2 * ends * hidden
            assert total("tensor_parallel", "all_reduce") == summed
            assert total("tensor_parallel", "all_gather") == layers * (2 + again) * routed
            assert total("tensor_parallel", "reduce_scatter") == layers * (2 + again) * routed
    if cp > 1:
        kv = tokens * 2 * CARD["kv_heads"] * 8 // tp * 2
        if exchange == "all_to_all":
            # Queries and results of 8 heads, keys and values of 4; in all phases. Backward, the
            # results are needed again.
            head = tokens // cp * 8 // tp * 2
            each = ((2 + again) * (2 * 8 + 2 * 4) + 8) * head
            assert total("context_parallel", "all_to_all") == layers * each
        elif exchange == "ring":
            # Keys and values take cp - 1 steps, and their gradients one more, to their owner.
            steps = (2 + again) * (cp - 1) + cp
            assert total("context_parallel", "send") == steps * layers * kv // cp
        else:
            assert total("context_parallel", "all_gather") == (2 + again) * layers * kv
            assert total("context_parallel", "reduce_scatter") == layers * kv
    if ep > 1:
        sent = tokens // cp // tp * EXPERTS["top_k"] * CARD["hidden"] * 2
        assert total("expert_parallel", "all_to_all") == (4 + 2 * again) * layers * sent
    if pp > 1:
        # Every border between chunks is passed once forward and once backward. On the way back,
        # dual_pipe has one that is inside a stage.
        borders = pp * chunks - 1 - dual
        size = hidden // tp if spread else hidden
        assert total("pipeline_parallel", "send") == 2 * borders * ends * size

    attention = 64 * 64 * 2 + 64 * 2 * 4 * 8
    norms, network, expert = 2 * 64, 3 * 64 * 96 // tp, 3 * 64 * 32 // tp
    dense = attention // tp + norms + (expert + 64 * 8 if experts else network)
    routed = 8 // ep * expert if experts else 0
    table = 2 * CARD["vocabulary"] * CARD["hidden"] // tp
    places = ranks // pp
    shared = (dense * CARD["layers"] if cp * dp > 1 else 0) * places
    of_experts = routed * CARD["layers"] * places if cp * dp // ep > 1 else 0
    ends = (table + CARD["hidden"]) * places  # with the normalisation before the output layer
    weights = shared + of_experts
    # ZeRO reduces the gradients after each micro-batch from stage 2 on.
    reductions = batches if zero >= 2 else 1
    operation = "reduce_scatter" if zero else "all_reduce"
    if cp * dp > 1:
        assert total("data_parallel", operation) == reductions * (weights + ends) * 4
        # Both phases use all weights. The output layer stays between its phases.
        often = 2 * (weights + ends) - (table // 2 + CARD["hidden"]) * places
        gathered = {0: 0, 1: weights + ends, 2: weights + ends, 3: batches * often}[zero]
        assert total("data_parallel", "all_gather") == gathered * element
    assert not any(found.values())


@pytest.mark.parametrize("vocabulary", [0, 128])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("pp", [1, 2])
def test_zero_3_gathers_all_weights_in_both_phases(vocabulary, tied, pp):
    # Rajbhandari et al., section 7.2.2: 2 Ψ for each micro-batch, of which each rank receives
    # (n - 1) / n. The output layer stays between its phases; a table that is the embedding as well
    # stays for the whole micro-batch.
    card = CARD | {"vocabulary": vocabulary, "tied_embedding": tied}
    plan = resolved(
        4 * pp, model=card, layout={"zero": 3, "pp": pp}, global_batch=12
    ).plan  # fmt: skip
    table, norm = vocabulary * CARD["hidden"], CARD["hidden"] if vocabulary else 0
    layers = parameters(Card.model_validate(card)) - CARD["hidden"]
    layers -= table if tied else 2 * table
    once = table + norm  # the output layer, and the table that is the embedding as well
    twice = layers + (0 if tied and pp == 1 else table)
    found = carried(plan, 4 * pp)["data_parallel", "all_gather"]
    assert sum(found.values()) == 3 * 4 * (2 * twice + once) * 2
    # The same weights are reduced after each micro-batch, each once.
    reduced = carried(plan, 4 * pp)["data_parallel", "reduce_scatter"]
    assert sum(reduced.values()) == 3 * 4 * (twice + once) * 4


def test_llama_3_8b_gathers_its_tables():
    plan = resolved(8, model="llama3_8b", layout={"zero": 3}, check_memory=False).plan
    card = CARDS["llama3_8b"]
    output = card["vocabulary"] * card["hidden"] + card["hidden"]
    often = 2 * parameters(Card.model_validate(card)) - output
    found = carried(plan, 8)["data_parallel", "all_gather"]
    assert set(found.values()) == {often * 2}


@pytest.mark.parametrize("iterations", [1, 2])
def test_the_first_use_of_a_chunk_waits_for_its_weights(iterations):
    plan = resolved(
        8,
        model=CARD | {"vocabulary": 0},
        layout={"pp": 2, "chunks": 2, "zero": 1},
        overlap={"gather": True},
        iterations=iterations,
    ).plan
    for trace in plan.traces:
        nodes = trace.nodes
        gathers = [at for at, node in enumerate(nodes) if node.name == "weights.all_gather"]
        assert len(gathers) == 2 * iterations
        for number, gather in enumerate(gathers):
            waiting = [node for node in nodes if gather in node.dependencies]
            first = next(node for node in waiting if node.type == NodeType.COMPUTE)
            forward = [
                at
                for at, node in enumerate(nodes)
                if node.name == "attention.forward" and node.iteration == number // 2
            ]
            # A chunk has two layers and a turn two micro-batches, so it begins every fourth time.
            assert nodes[forward[number % 2 * 4]] == first
            # The gathers follow each other, and the update of the iteration before.
            before = nodes[gather].dependencies
            updated = any(nodes[at].name == "optimizer.update" for at in before)
            assert updated == (number >= 2)
            assert number == 0 or gathers[number - 1] in before

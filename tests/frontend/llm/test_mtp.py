"""Modules for further tokens: published numbers, and closed forms of what a module adds."""

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from frontend import ScenarioError
from frontend.models.cards import CARDS, Card
from frontend.models.transformer import parameters, token_flop
from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.operators import Operators
from frontend.workloads.llm.partition import Kind, chunk_blocks, chunks, rank_memory
from frontend.workloads.llm.workload import Layout

from .llms import CARD, carried, resolved

DEEPSEEK = Card.model_validate(CARDS["deepseek_v3"])
EXPERTS = {"count": 8, "top_k": 2, "width": 32}
TABLE = CARD["vocabulary"] * CARD["hidden"]
HIDDEN, NETWORK = CARD["hidden"], CARD["feed_forward"]
LAYER = HIDDEN * HIDDEN * 2 + HIDDEN * 2 * 4 * 8 + 3 * HIDDEN * NETWORK
"""Weights of the matrices of a layer."""


def test_deepseek_v3_has_its_published_weights():
    # Weights of deepseek-ai/DeepSeek-V3 on Hugging Face, by their type. The module's copies of both
    # tables are stored again, and each latent vector has a normalisation, which cards leave out.
    published = {"BF16": 3_918_786_560, "F8_E4M3": 680_571_043_840}
    latent = (61 + 1) * (1536 + 512)
    again = 2 * DEEPSEEK.vocabulary * DEEPSEEK.hidden
    assert parameters(DEEPSEEK) + again + latent == sum(published.values())
    # README_WEIGHTS.md: 11.5 · 10^9 without the tables; the projection is not among them.
    module = parameters(DEEPSEEK) - parameters(DEEPSEEK.model_copy(update={"mtp_layers": 0}))
    assert module - 2 * 7168**2 == pytest.approx(11.5e9, rel=1e-3)


@pytest.mark.parametrize("modules", [0, 1, 2])
def test_flops_of_latent_attention_and_experts_are_those_of_megatron(modules):
    # NVIDIA/Megatron-LM (d98e8a6), num_floating_point_operations in megatron/training/training.py,
    # which counts half of the scores, and a FLOP for each element of a normalisation.
    card = DEEPSEEK.model_copy(update={"mtp_layers": modules})
    hidden, heads, length = card.hidden, card.heads, card.sequence
    query = 1536 * (hidden + heads * (128 + 64) + 1)
    keys = 512 * (hidden + heads * (128 + 128) + 1) + hidden * 64
    attention = query + keys + heads * 128 * hidden
    scores = (heads * (128 + 64) / 2 + heads * 128 / 2) * length
    dense, sparse = 3, 58 + modules
    networks = hidden * 3 * (card.feed_forward * dense + (8 + 1) * 2048 * sparse)
    merges = modules * (3 * hidden + 2 * hidden**2)
    output = hidden * card.vocabulary * (modules + 1)
    megatron = 6 * ((dense + sparse) * (attention + scores) + networks + merges + output)
    routers = 6 * hidden * 256 * sparse  # Megatron leaves them out
    ours = token_flop(card, length) - 6 * (dense + sparse) * scores - routers
    assert ours == pytest.approx(megatron, rel=1e-5)


def test_a_module_of_a_dense_model_is_a_layer_a_merge_and_the_output_layer():
    plain, more = (Card.model_validate(CARD | {"mtp_layers": number}) for number in (0, 3))
    norms = 5 * HIDDEN  # two of the layer, two of the merge, and one before the output layer
    assert parameters(more) - parameters(plain) == 3 * (LAYER + 2 * HIDDEN**2 + norms)
    # Scores: 8 heads of 8 elements, twice.
    multiplied = LAYER + 2 * HIDDEN**2 + TABLE + 64 * 8 * 8 * 2
    assert token_flop(more, 64) - token_flop(plain, 64) == 3 * 6 * multiplied


@given(
    layers=st.integers(1, 70), modules=st.integers(0, 5), pp=st.integers(1, 16),
    chunks_each=st.integers(1, 2), dense=st.integers(0, 3), tied=st.booleans(),
)  # fmt: skip
def test_all_blocks_are_on_some_stage_and_modules_on_the_last(
    layers, modules, pp, chunks_each, dense, tied
):
    experts = EXPERTS | {"dense_layers": min(dense, layers)}
    own = {"layers": layers, "mtp_layers": modules, "experts": experts, "tied_embedding": tied}
    card, layout = Card.model_validate(CARD | own), Layout(pp=pp, chunks=chunks_each)
    found = [chunk_blocks(card, layout, chunk) for chunk in chunks(card, layout)]
    counts: Counter[Kind] = Counter()
    for blocks in found:
        for block in blocks:
            counts[block.kind] += block.number
    sparse = layers - experts["dense_layers"]
    assert counts[Kind.EXPERTS] == sparse + modules * (sparse > 0)
    assert counts[Kind.DENSE] == layers - sparse + modules * (sparse == 0)
    copied = modules > 0 and pp > 1 and not tied
    assert counts[Kind.EMBEDDING] == 1 + copied
    assert counts[Kind.EMBEDDING_AGAIN] == modules - copied
    assert counts[Kind.MERGE] == counts[Kind.OUTPUT_AGAIN] == modules
    assert all(block.kind != Kind.MERGE for blocks in found[:-1] for block in blocks)
    # A module counts as a layer: chunks differ by one layer at most, unless modules are too many.
    sizes = [
        sum(one.number for one in blocks if one.kind in (Kind.DENSE, Kind.EXPERTS))
        for blocks in found
    ]
    assert sum(sizes) == layers + modules
    if (layers + modules) // len(sizes) >= modules:
        assert max(sizes) - min(sizes) <= 1
    else:
        assert sizes[-1] == modules


@settings(max_examples=150, deadline=None)
@given(
    tp=st.sampled_from([1, 2, 4]), cp=st.sampled_from([1, 2]), pp=st.sampled_from([1, 2, 4]),
    dp=st.sampled_from([1, 2, 4]), modules=st.integers(1, 3), zero=st.integers(0, 3),
    spread=st.booleans(), experts=st.booleans(), tied=st.booleans(), full=st.booleans(),
    schedule=st.sampled_from(["1f1b", "interleaved", "zero_bubble", "dual_pipe"]),
)  # fmt: skip
def test_what_a_module_adds_to_the_volumes(
    tp, cp, pp, dp, modules, zero, spread, experts, tied, full, schedule
):
    ranks, batches = tp * cp * pp * dp, 8
    assume(ranks > 1)
    assume(pp > 1 or schedule == "1f1b")
    own = {"layers": 16, "tied_embedding": tied} | ({"experts": EXPERTS} if experts else {})

    def volumes(number):
        layout = {
            "tp": tp, "cp": cp, "pp": pp, "ep": dp if experts else 1, "zero": zero,
            "sequence_parallel": spread,
            "schedule": "1f1b" if schedule == "interleaved" else schedule,
            "chunks": 2 if schedule in ("interleaved", "dual_pipe") else 1,
        }  # fmt: skip
        plan = resolved(
            ranks, model=CARD | own | {"mtp_layers": number}, layout=layout,
            recompute="full" if full else "none", global_batch=batches * dp, bucket="20kB",
        ).plan  # fmt: skip
        return {key: sum(count.values()) for key, count in carried(plan, ranks).items()}

    before, after = volumes(0), volumes(modules)
    expected: Counter[tuple[str, str]] = Counter()

    def add(layer, operation, size):
        if size:
            expected[layer, operation] += size

    ends = batches * ranks // pp * modules  # modules that ranks of the last stage compute
    tokens = CARD["sequence"] // cp
    hidden, often = tokens * HIDDEN * 2, 2 + full
    if tp > 1:
        halves = 1 if experts else 2  # of a layer, without the experts
        routed = tokens * EXPERTS["top_k"] * HIDDEN * 2 * experts
        for operation in ("all_gather", "reduce_scatter"):
            add("tensor_parallel", operation, ends * often * routed)
        sums = "reduce_scatter" if spread else "all_reduce"
        # The embedding and the output layer add up once each, and the merge its wide input.
        add("tensor_parallel", sums, ends * hidden * (often * halves + 1 + 1 + 2))
        if spread:
            # The merge gathers its wide input and its result, and backward gradient and input.
            merge = (2 + 1) * (1 + full) + 1 + 2
            gathers = (often + 1) * halves + 1 + 2 + merge
            add("tensor_parallel", "all_gather", ends * hidden * gathers)
        else:
            add("tensor_parallel", "all_gather", ends * hidden * (1 + full))
    if cp > 1:
        kv = CARD["sequence"] * 2 * CARD["kv_heads"] * 8 // tp * 2
        add("context_parallel", "all_gather", ends * often * kv)
        add("context_parallel", "reduce_scatter", ends * kv)
    if experts and dp > 1:
        sent = tokens // tp * EXPERTS["top_k"] * HIDDEN * 2
        add("expert_parallel", "all_to_all", ends * (4 + 2 * full) * sent)

    apart = pp > 1 and schedule != "dual_pipe"
    places, table = ranks // pp, TABLE // tp
    if apart and not tied:
        # The first and the last stage add up the gradients of their copies.
        add("pipeline_parallel", "all_reduce", 2 * places * table * 4)
    norms, attention = 5 * HIDDEN, LAYER - 3 * HIDDEN * NETWORK
    network = 8 * HIDDEN if experts else 3 * HIDDEN * NETWORK // tp
    dense = modules * (attention // tp + network + norms + 2 * HIDDEN**2 // tp)
    local = modules * 8 // dp * 3 * HIDDEN * 32 // tp * experts
    copy = table if apart and not tied else 0
    operation = "reduce_scatter" if zero else "all_reduce"
    reductions = batches if zero >= 2 else 1
    if cp * dp > 1:
        add("data_parallel", operation, reductions * places * (dense + copy) * 4)
        # Each module gathers an embedding that is not the output layer, which stays.
        again = 2 * (dense + (0 if tied else modules * table))
        size = {0: 0, 1: dense + copy, 2: dense + copy, 3: batches * again}[zero]
        add("data_parallel", "all_gather", places * size * 2)
    if cp > 1:
        add("data_parallel", operation, reductions * places * local * 4)
        size = {0: 0, 1: local, 2: local, 3: 2 * batches * local}[zero]
        add("data_parallel", "all_gather", places * size * 2)
    grown = {key: size - before.get(key, 0) for key, size in after.items()}
    assert {key: size for key, size in grown.items() if size} == expected


def test_a_module_computes_its_flops():
    # Without memory, a kernel takes FLOP / peak. FlashAttention computes half of the scores, and
    # 2.5 times as much backward.
    def computed(modules):
        plan = resolved(
            2, model=CARD | {"mtp_layers": modules}, global_batch=2,
            compute={"peak_flops": "1GFLOPS", "memory_bandwidth": "1000TB/s", "efficiency": 1,
                     "update_accesses": 0},
        ).plan  # fmt: skip
        return sum(node.duration_ps for node in plan.traces[0].nodes)

    products = 6 * 64 * (LAYER + 2 * HIDDEN**2 + TABLE)
    scores = (1 + 2.5) * 2 * 64 * 64 * 8 * (8 + 8) / 2
    assert computed(2) - computed(0) == pytest.approx(2 * (products + scores) * 1000, rel=1e-3)


@pytest.mark.parametrize(
    ("tied", "pp", "copies"), [(False, 1, 0), (False, 4, 1), (True, 1, 0), (True, 4, 0)]
)
def test_memory_of_the_last_stage(tied, pp, copies):
    def memory(modules, recompute):
        own = CARD | {"tied_embedding": tied, "mtp_layers": modules, "layers": 8 - modules}
        work = resolved(
            2 * pp, model=own, layout={"pp": pp}, global_batch=8, recompute=recompute
        ).scenario.only_work.workload  # fmt: skip
        return rank_memory(work, Grid(work.layout, 2 * pp), pp - 1, 4)

    for recompute, kept in (("none", 4), ("light", 2), ("full", 2)):
        plain, more = memory(0, recompute), memory(1, recompute)
        # The layer of the module is one of those that the stage has without it.
        added = 2 * HIDDEN**2 + 3 * HIDDEN + copies * TABLE
        assert more.weights - plain.weights == 2 * added
        assert more.gradients - plain.gradients == 4 * added
        assert more.optimizer - plain.optimizer == 12 * added
        # Inputs of the merge, with and without normalisation, and logits in 2 and in 4 bytes.
        activations = 64 * (2 * kept * HIDDEN + (2 + 4) * CARD["vocabulary"])
        assert more.activations - plain.activations == activations


def test_the_merge_stays_in_16_bits_and_copies_its_inputs():
    compute = {"kernels": "shapes"}
    [own, other] = (
        Operators(
            resolved(
                2, model=CARD | {"mtp_layers": 1}, compute=compute, precision=precision
            ).scenario.only_work.workload
        )
        for precision in ("bf16", "fp8")
    )  # fmt: skip
    assert own.merge == other.merge
    kernels = own._kernels
    assert kernels is not None
    product = kernels.product_ps(64, 2 * HIDDEN, HIDDEN, 2)
    norms = 2 * kernels.norm_ps(64 * HIDDEN * 2)
    assert own.merge.forward == product + norms + kernels.pass_ps(4 * 64 * HIDDEN * 2)


def test_the_output_layer_stays_while_modules_are_computed():
    # zero 3 without prefetch: the output layer, with its normalisation, and the largest other unit.
    def gathered(modules):
        work = resolved(
            4, model=CARD | {"mtp_layers": modules, "vocabulary": 32}, layout={"zero": 3},
            overlap={"prefetch": 0},
        ).scenario.only_work.workload  # fmt: skip
        return rank_memory(work, Grid(work.layout, 4), 0, 2).gathered

    layer, output = LAYER + 2 * HIDDEN, 33 * HIDDEN
    assert gathered(0) == 2 * layer
    assert gathered(2) == 2 * (layer + output)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"mtp_layers": -1}, "workload.model.mtp_layers: value -1: expected at least 0"),
        ({"mtp_layers": 1001}, "workload.model.mtp_layers: value 1001: expected at most 1000"),
        ({"mtp_layers": 1.5}, "workload.model.mtp_layers: value 1.5: expected a whole number"),
        (
            {"mtp_layers": 1, "vocabulary": 0},
            "workload.model.mtp_layers: value 1: expected 0, because vocabulary is 0",
        ),
    ],
)
def test_what_is_refused(keys, words):
    with pytest.raises(ScenarioError, match=words):
        resolved(2, model=CARD | keys)


def test_adapters_are_beside_the_layers_of_modules():
    plan = resolved(2, model=CARD | {"mtp_layers": 2}, lora={"rank": 4}, layout={"zero": 1}).plan
    reduced = carried(plan, 2)["data_parallel", "reduce_scatter"]
    kv, width = 2 * 4 * 8, 4
    inner = [(HIDDEN, HIDDEN + kv), (HIDDEN, HIDDEN), (HIDDEN, 2 * NETWORK), (NETWORK, HIDDEN)]
    each = sum(width * (rows + columns) for rows, columns in inner)
    assert set(reduced.values()) == {(8 + 2) * each * 4}

"""Unequal parts of the layers: what is conserved, how long it takes, and Megatron-LM's text."""

from fractions import Fraction
from itertools import groupby

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from frontend import ScenarioError, load_scenario
from frontend.formats.training.parts import Parts, read_parts
from frontend.models.cards import Card
from frontend.workloads.llm import stage_memory
from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.partition import (
    Kind,
    block_activations,
    chunks,
    even_layers,
    stage_chunks,
    stage_of,
    stage_steps,
    stage_weights,
)
from frontend.workloads.llm.schedule import Pass
from frontend.workloads.llm.workload import Layout

from .llms import CARD, resolved, scenario
from .test_schedule import ends

EXPERTS = {"count": 8, "top_k": 2, "width": 32, "dense_layers": 3}


@st.composite
def divided(draw, *, least=0):
    """Draw a layout with pp, chunks and schedule, and the layers of each chunk."""
    schedule = draw(st.sampled_from(["1f1b", "interleaved", "zero_bubble", "dual_pipe"]))
    pp = draw(st.integers(2, 4))
    several = draw(st.integers(2, 3)) if schedule == "interleaved" else 1
    count = 2 if schedule == "dual_pipe" else several
    middle = draw(st.lists(st.integers(1, 4), min_size=pp * count - 2, max_size=pp * count - 2))
    first, last = draw(st.integers(least, 4)), draw(st.integers(least, 4))
    assume(first + last + sum(middle) > 0)
    name = "1f1b" if schedule == "interleaved" else schedule
    return {"pp": pp, "chunks": count, "schedule": name, "layers": [first, *middle, last]}


def planned(layout, **workload):
    layers = sum(layout["layers"] or ())
    model = CARD | {"layers": layers or 8} | workload.pop("model", {})
    return resolved(
        2 * layout["pp"], model=model, layout=layout, global_batch=4 * layout["pp"], **workload
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(divided(), st.booleans(), st.integers(0, 2), st.booleans())
def test_each_layer_is_once_and_weights_and_computation_stay(layout, experts, modules, lora):
    sizes = layout["layers"]
    dense = min(EXPERTS["dense_layers"], sum(sizes))
    model = {"layers": sum(sizes), "mtp_layers": modules}
    if experts and not lora:
        model["experts"] = EXPERTS | {"dense_layers": dense}
    keys = {"model": model, "lora": {"rank": 4} if lora else None}
    own = planned(layout, **keys)
    assume(layout["pp"] * layout["chunks"] <= sum(sizes) + 2)
    even = planned(layout | {"layers": None}, **keys)
    work = own.scenario.only_work.workload
    found = chunks(work.model, work.layout)
    assert [len(one.layers) for one in found] == sizes
    assert [layer for one in found for layer in one.layers] == list(range(sum(sizes)))

    def totals(resolution):
        """Return the weights of all stages, and the computation of a rank of each stage."""
        other = resolution.scenario.only_work.workload
        weights = [stage_weights(other, stage) for stage in range(layout["pp"])]
        busy = sum(
            node.duration_ps
            for trace in resolution.plan.all_traces()
            for node in trace.nodes
            if not node.name.startswith("optimizer.")
        )
        return tuple(map(sum, zip(*weights, strict=True))), busy

    assert totals(own) == totals(even)


@settings(max_examples=40, deadline=None)
@given(divided(), st.integers(0, 2), st.integers(0, 3))
def test_a_list_of_the_even_rule_makes_the_same_plan(layout, modules, zero):
    count = layout["pp"] * layout["chunks"]
    sizes = even_layers(8 + count, modules, count)
    even = layout | {"layers": None, "zero": zero}
    model = {"layers": 8 + count, "mtp_layers": modules}
    own = planned(layout | {"layers": list(sizes), "zero": zero}, model=model).plan
    same = planned(even, model=model).plan
    assert own.issues == same.issues
    assert own.traces == same.traces


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.integers(1, 6))
def test_a_pipeline_of_unequal_stages_takes_what_its_longest_one_takes(sizes, more):
    """With 1F1B: the sum of all stages, and of the longest one for each further micro-batch.

    Exactly, if the last stage is the longest one; others wait for less, as they hold more.
    """
    batches = len(sizes) + more
    plan = resolved(
        len(sizes),
        model=CARD | {"vocabulary": 0, "layers": sum(sizes)},
        layout={"pp": len(sizes), "layers": sizes},
        global_batch=batches,
        compute={"update_accesses": 0},
    ).plan
    finished = max(max(times.values()) for times in ends(plan))
    busy = [sum(node.duration_ps for node in trace.nodes) for trace in plan.all_traces()]
    layer = Fraction(busy[0], batches * sizes[0])
    assert busy == [batches * own * layer for own in sizes]
    whole = layer * (sum(sizes) + (batches - 1) * max(sizes))
    assert layer * batches * max(sizes) <= finished <= whole
    if sizes[-1] == max(sizes):
        assert finished == whole


def activations(layout, micro_batches):
    """Return the activations of each stage, and those of a layer, in a model without ends."""
    model = {"vocabulary": 0}
    work = planned(layout, model=model).scenario.only_work.workload
    work = work.model_copy(update={"global_batch": 2 * micro_batches})
    need = stage_memory(work, Grid(work.layout, 2 * layout["pp"]))
    return [one.activations for one in need], block_activations(work, Kind.DENSE)


def test_chunks_with_fewer_layers_hold_less():
    # Interleaved, 2 stages with 2 chunks: the first stage does 4 forward steps ahead, and holds
    # (chunk 0, chunk 1) = (3, 2), (4, 1), (3, 2) … micro-batches after its forward steps.
    for sizes, most in (
        ([3, 2, 1, 2], 4 * 3 + 1 * 1),
        ([1, 2, 3, 2], 3 * 1 + 2 * 3),
        ([2, 2, 2, 2], 5 * 2),
    ):
        need, layer = activations({"pp": 2, "chunks": 2, "layers": sizes}, 8)
        assert need[0] == most * layer


@settings(max_examples=40, deadline=None)
@given(divided(least=1), st.integers(2, 9))
def test_activations_are_those_of_the_steps(layout, rounds):
    """The most that is there at a time, over all steps of an iteration."""
    need, layer = activations(layout, rounds * layout["pp"])
    own = Layout.model_validate(layout)
    for stage in range(own.pp):
        parts = [size for at, size in enumerate(layout["layers"]) if stage_of(own, at) == stage]
        held = most = 0
        for step in stage_steps(own, stage, rounds * own.pp):
            kept = {Pass.FORWARD: 1, Pass.INPUT: 0}.get(step.kind, -1)
            held += kept * parts[step.chunk]
            most = max(most, held)
        if own.schedule == "dual_pipe" and len(set(parts)) == 1:
            most = (2 * own.pp + 1) * parts[0]  # the published bound
        if own.schedule == "zero_bubble":
            most = min(own.pp, rounds * own.pp) * parts[0]
        assert need[stage] == most * layer


TEXTS = [
    # DeepSeek-V3 in a recipe of Megatron-LM, on 16 stages: a layer less on the last one.
    ("Et*4|(t*4|)*14tmL", [4] * 15 + [1], 1),
    ("Ettt|(tt|)*29L", [3] + [2] * 29 + [0], 0),
    ("E,t|t,t|L", [1, 2, 0], 0),
    ("E|(t|)*3t*2L", [0, 1, 1, 1, 2], 0),
    ("E(t|)*3,L", [1, 1, 1, 0], 0),
    ("(Et)*1|*2tL", [1, 0, 1], 0),
    ("EL", [0], 0),
    # Llama 3.1 405B on 18 stages with 7 chunks.
    ("Et|(t|)*124tL", [1] * 126, 0),
]


@pytest.mark.parametrize(("text", "layers", "modules"), TEXTS)
def test_a_text_of_megatron(text, layers, modules):
    assert read_parts(text) == Parts(tuple(layers), modules)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(0, 3))
def test_texts_are_read_as_written(sizes, modules):
    """Written out, and with each run of equal chunks as a group."""
    end = "m" * modules + "L"
    assert read_parts("E" + "|".join("t" * own for own in sizes) + end) == Parts(
        tuple(sizes), modules
    )
    *before, last = sizes
    runs = "".join(f"(t*{own}|)*{len(list(run))}" for own, run in groupby(before))
    assert read_parts(f"E{runs},t*{last}{end}") == Parts(tuple(sizes), modules)


@given(st.text("EtmL|*(),0123456789x", max_size=30))
def test_any_text_is_read_or_refused_in_one_sentence(text):
    try:
        found = read_parts(text)
    except ValueError as error:
        assert str(error).startswith("expected ")
        assert "\n" not in str(error)
    else:
        assert len(found.layers) <= 4096


def test_a_text_is_short_for_the_list():
    model = {"card": "deepseek_v3"}
    layout = {"pp": 16, "layers": "Et*4|(t*4|)*14tmL"}
    loaded = load_scenario(scenario(16, model=model, layout=layout, check_memory=False))
    assert loaded.only_work.workload.layout.layers == (4,) * 15 + (1,)
    again = load_scenario(loaded.model_dump(mode="json"))
    assert again == loaded


WRONG = [
    ([1, 2, 5], "layers: value [1, 2, 5]: expected 4 numbers, as pp · chunks, not 3"),
    ([1, 2, 2, 2], "layers: value [1, 2, 2, 2]: expected the sum 8, the layers of the model, not"),
    ([], "workload.layout.layers: value []: expected 4 numbers"),
    ([4, 0, 4, 0], "workload.layout.layers.1: value 0: expected at least 1, as the chunk has no"),
    ([4, -1, 4, 1], "workload.layout.layers.1: value -1: expected at least 0"),
    ([4, 0.5, 3, 0.5], "workload.layout.layers.1: value 0.5: expected a whole number"),
    (8, "workload.layout.layers: value 8: expected a list of whole numbers, one for each chunk"),
    ({"first": 1}, "expected a list of whole numbers, one for each chunk, or a text"),
    ("Et*4|t*4|L", "value Et*4|t*4|L: expected 4 numbers, as pp · chunks, not 3"),
    ("Et|t*3|tt|ttmL", "expected m 0 times, as model.mtp_layers, not 1"),
    ("t|Et*3|tt|ttL", "expected one E, the first letter: the first chunk has the embedding"),
    ("Et|t*3|ttL|tt", "expected one L, the last letter: the last chunk has the output layer"),
    ("Et|t*3|ttm|ttL", "expected m only behind the last |: the last chunk has all modules"),
    ("Et|t*3|tt|tmtL", "expected m behind all t: modules for further tokens follow the layers"),
    ("Et|t*3|tt|ttx", "expected E (embedding), t (layer), m (module for a further token), L ("),
    ("E(t*9999|)*9999L", "expected at most 4096 letters and borders"),
    ("", "value '': expected one E"),
]


@pytest.mark.parametrize(("layers", "words"), WRONG, ids=str)
def test_what_is_refused(layers, words):
    with pytest.raises(ScenarioError) as error:
        resolved(8, layout={"pp": 4, "layers": layers})
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_ends_without_a_vocabulary_need_a_layer():
    card = CARD | {"vocabulary": 0}
    with pytest.raises(ScenarioError, match=r"layers\.0: value 0: expected at least 1, as the"):
        resolved(8, model=card, layout={"pp": 4, "layers": [0, 4, 3, 1]})


def test_chunks_go_there_and_back_with_dual_pipe():
    layout = Layout(pp=2, chunks=2, schedule="dual_pipe", layers=(1, 4, 2, 1))
    card = Card.model_validate(CARD)
    assert [len(one.layers) for one in stage_chunks(card, layout, 0)] == [1, 1]
    assert [len(one.layers) for one in stage_chunks(card, layout, 1)] == [4, 2]
    assert [stage_of(layout, number) for number in range(4)] == [0, 1, 1, 0]


@pytest.mark.parametrize(
    "layout",
    [
        {"pp": 2, "layers": [0, 8], "schedule": "zero_bubble"},
        {"pp": 2, "chunks": 2, "layers": [0, 4, 4, 0], "schedule": "dual_pipe"},
    ],
    ids=str,
)
def test_a_frozen_embedding_alone_leaves_no_gradients(layout):
    plan = planned(layout, lora={"rank": 4}).plan
    names = {node.name for trace in plan.all_traces() for node in trace.nodes}
    assert "attention.weight_gradient" in names
    assert "embedding.gradient" not in names

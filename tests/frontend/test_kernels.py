"""Times of kernels by their shape, against published measurements and laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.errors import ScenarioError
from frontend.kernels import CHIPS, LENGTHS, Kernels
from frontend.loading.load import load_scenario
from frontend.models.transformer import network_matrices
from frontend.schema.compute import ACCELERATORS
from frontend.workloads.llm.operators import Operators
from frontend.workloads.llm.workload import LlmWorkload

H100 = Kernels("h100", fp8=False)
SIZES = st.integers(1, 2**15)


def tflops(kernels, rows, columns, inner):
    return 2 * rows * columns * inner / kernels.product_ps(rows, inner, columns)


@pytest.mark.parametrize("name", CHIPS)
@pytest.mark.parametrize("fp8", [False, True])
def test_the_measured_product_of_a_chip_takes_its_time(name, fp8):
    kernels = Kernels(name, fp8)
    best = (kernels.fp8 and CHIPS[name].fp8) or CHIPS[name].bf16
    assert tflops(kernels, best.rows, best.columns, best.inner) == pytest.approx(
        best.tflops, rel=1e-6
    )


@pytest.mark.parametrize(
    ("rows", "columns", "inner", "measured"),
    [
        # pranjalssh/fast.cu, README.md at a1bb7b2: cuBLAS on an H100 SXM.
        (8192, 8192, 8192, 797.8),
        (6144, 6144, 6144, 741.1),
    ],
)
def test_products_in_16_bits_that_the_model_has_not_seen(rows, columns, inner, measured):
    assert tflops(H100, rows, columns, inner) == pytest.approx(measured, rel=0.05)


@pytest.mark.parametrize(
    ("columns", "inner", "measured"),
    [
        # deepseek-ai/DeepGEMM, README.md at a6d97a1: 4096 rows on an H800, tiles of its own.
        (24576, 1536, 990),
        (32768, 512, 590),
        (7168, 16384, 1358),
        (4096, 7168, 1304),
        (7168, 2048, 1025),
    ],
)
def test_products_in_8_bits_that_the_model_has_not_seen(columns, inner, measured):
    assert tflops(Kernels("h800", fp8=True), 4096, columns, inner) == pytest.approx(
        measured, rel=0.11
    )


@pytest.mark.parametrize(
    ("name", "size", "measured"),
    [
        # Azure/AI-benchmarking-guide, Azure_Results: the other sizes of the same tables.
        ("h100", 2048, 1011.3),
        ("h100", 4096, 1216.9),
        ("h100", 8192, 1290.1),
        ("h100", 32768, 1382.2),
        ("h200", 4096, 1249.1),
        ("h200", 8192, 1300.6),
        ("gb200", 2048, 2243.6),
        ("gb200", 4096, 2834.6),
        ("gb200", 8192, 2876.6),
        ("gb200", 32768, 2825.6),
        ("a100", 4096, 228.0),
        ("a100", 8192, 253.7),
    ],
)
def test_square_products_that_the_model_has_not_seen(name, size, measured):
    kernels = Kernels(name, fp8=True)  # the A100 has 16 bits only
    assert tflops(kernels, size, size, size) == pytest.approx(measured, rel=0.07)


def test_a_product_and_its_casts_on_a_b200():
    # NVIDIA/TransformerEngine, issue 1747: 2377.1 TFLOP/s for a layer with 8192 of everything.
    kernels = Kernels("b200", fp8=True)
    casts = 2 * kernels.cast_ps(8192**2, "delayed")  # the input and the weights
    lasts = kernels.product_ps(8192, 8192, 8192) + casts
    assert 2 * 8192**3 / lasts == pytest.approx(2377.1, rel=0.03)


def test_casts_move_the_bytes_of_their_layouts():
    elements = 2**30
    for name, layouts in (("h100", 2), ("b200", 1)):
        kernels = Kernels(name, fp8=True)
        delayed, current = (kernels.cast_ps(elements, how) for how in ("delayed", "current"))
        assert delayed == kernels.pass_ps((2 + layouts) * elements)
        assert current - delayed == kernels.pass_ps(2 * elements)
        assert Kernels(name, fp8=False).cast_ps(elements, "current") == 0


@given(SIZES, SIZES, SIZES, st.integers(0, 64))
def test_a_collective_beside_a_product_takes_its_multiprocessors(rows, inner, columns, busy):
    alone = H100.product_ps(rows, inner, columns)
    beside = H100.product_ps(rows, inner, columns, busy_sms=busy)
    assert alone <= beside
    # At most as much longer as there are fewer, and a wave more for each of the two kernels.
    assert beside <= 2 * alone * 132 / (132 - busy)


def test_attention_has_the_measured_rates():
    for tokens, forward in zip(LENGTHS, (315, 410, 484, 518, 529, 539), strict=True):
        flop = 10**15
        lasts = H100.attention_ps(flop, tokens, 128)
        assert flop / lasts == pytest.approx(forward, rel=1e-3)
        assert H100.attention_ps(flop, tokens, 128, backward=True) > lasts


def test_flash_attention_2_has_the_measured_rates_of_both_phases_together():
    flash = Kernels("h100", fp8=False, attention="flash2")
    measured = ((128, 512, 163), (128, 4096, 294), (64, 2048, 232), (64, 16384, 284))
    for head, tokens, rate in measured:
        # Forward is two products and backward five, so the rate of both is 7 FLOP / their time.
        both = flash.attention_ps(2 * 10**15, tokens, head)
        both += flash.attention_ps(5 * 10**15, tokens, head, backward=True)
        assert 7 * 10**15 / both == pytest.approx(rate, rel=1e-3)
    # It is what the A100 has without a choice.
    default, named = (Kernels("a100", fp8=False, attention=one) for one in (None, "flash2"))
    assert default.attention_ps(10**12, 3000, 128) == named.attention_ps(10**12, 3000, 128)


def test_the_library_of_the_attention_changes_only_the_attention():
    cudnn, chosen, flash = (
        operators(compute={"kernels": "shapes", "attention": each})
        for each in ("cudnn", None, "flash2")
    )
    assert chosen.scores == cudnn.scores
    assert all(slow > fast for slow, fast in zip(flash.scores[:2], cudnn.scores[:2], strict=True))
    for name in ("projections", "output_projection", "network", "embedding", "output"):
        assert getattr(flash, name) == getattr(cudnn, name)


@given(SIZES, SIZES, SIZES)
def test_a_larger_product_is_not_faster(rows, inner, columns):
    lasts = H100.product_ps(rows, inner, columns)
    assert lasts <= H100.product_ps(rows + 1, inner, columns)
    assert lasts <= H100.product_ps(rows, inner + 1, columns)
    assert lasts <= H100.product_ps(rows, inner, columns + 1)


@given(SIZES, SIZES, SIZES, st.integers(1, 8))
def test_a_product_respects_its_bounds(rows, inner, columns, number):
    lasts = H100.product_ps(rows, inner, columns, number=number) / 1e12
    known = ACCELERATORS["h100"]
    elements = rows * inner + inner * columns + rows * columns
    assert lasts > number * 2 * rows * inner * columns / (known.bf16_tflops * 1e12)
    assert lasts > number * 2 * elements / (known.memory_gb_s * 1e9)
    # Products of one kernel share waves and a launch.
    assert lasts <= number * H100.product_ps(rows, inner, columns) / 1e12 + 1e-11


@given(st.integers(1, 2**40))
def test_a_pass_takes_longer_than_the_memory_needs(moved):
    assert H100.pass_ps(moved) > moved / 3350 * 1000


def scenario(**compute):
    links = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
    return load_scenario(
        {
            "fabric": "analytical",
            "topology": {"family": "flat", "ranks": 4, **links},
            "workload": {
                "kind": "llm", "model": {"card": "llama3_8b", "layers": 2}, "global_batch": 8,
                "layout": {"tp": 2}, "compute": {"kernels": "shapes"} | compute,
            },
        }
    )  # fmt: skip


def test_an_efficiency_is_relative_to_the_shapes():
    made = [Operators(scenario(efficiency=one).workload) for one in (None, 1, 0.5, 2)]
    for name in ("projections", "scores", "output_projection", "network", "output"):
        default, whole, half, double = (getattr(one, name) for one in made)
        assert default == whole
        assert half == pytest.approx([2 * ps for ps in whole], rel=1e-6)
        assert double == pytest.approx([ps / 2 for ps in whole], rel=1e-6)


def operators(**workload):
    content = {
        "kind": "llm", "model": {"card": "llama3_8b", "layers": 2}, "global_batch": 8,
        "layout": {"tp": 4}, "compute": {"kernels": "shapes"},
    }  # fmt: skip
    links = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
    topology = {"family": "flat", "ranks": 4, **links}
    scenario = {"fabric": "analytical", "topology": topology, "workload": content | workload}
    read = load_scenario(scenario).workload
    assert isinstance(read, LlmWorkload)
    return Operators(read)


def test_overlap_of_tp_is_not_free():
    alone, beside = (operators(overlap={"tp": tp}) for tp in (False, True))
    for name in ("projections", "output_projection", "network"):
        for free, cut in zip(getattr(alone, name), getattr(beside, name), strict=True):
            assert cut >= free
        assert sum(getattr(beside, name)) > 1.02 * sum(getattr(alone, name))
    assert beside.scores == alone.scores
    assert beside.output == alone.output


def test_the_output_layer_stays_in_16_bits():
    plain, eight = (operators(precision=precision) for precision in ("bf16", "fp8"))
    assert eight.output == plain.output
    assert sum(eight.network) < 0.8 * sum(plain.network)


def test_current_scaling_reads_activations_once_more():
    delayed, current = (
        operators(precision="fp8", fp8_scaling=how) for how in ("delayed", "current")
    )
    more = sum(current.network) - sum(delayed.network)
    kernels, tokens = Kernels("h100", fp8=True), current.tokens
    parts = [matrix.part(4) for matrix in network_matrices(4096, 14336, gated=True)]
    sides = [side for part in parts for side in (part.rows, part.columns)]
    assert more == sum(kernels.pass_ps(2 * tokens * side) for side in sides)
    assert current.output == delayed.output


def test_few_tiles_with_long_sums_are_cut():
    # 8 tiles for 132 SMs: the sums of 2^16 elements are cut, and one wave of a part is shorter.
    lasts = H100.product_ps(512, 2**16, 256)
    tile = 2 * 128 * 128 * 2**16 * 132 / 900e12 * 1e12
    assert lasts < tile / 2


@pytest.mark.parametrize(
    ("compute", "key"),
    [
        ({"accelerator": "tpu_v5p"}, "kernels"),
        ({"peak_flops": "1PFLOPS"}, "peak_flops"),
        ({"memory_bandwidth": "1TB/s"}, "memory_bandwidth"),
        ({"kernels": "roofline", "efficiency": 1.5}, "efficiency"),
        ({"kernels": "roofline", "attention": "cudnn"}, "attention"),
        ({"accelerator": "b200", "attention": "flash2"}, "attention"),
        ({"accelerator": "a100", "attention": "cudnn"}, "attention"),
    ],
)
def test_shapes_need_an_accelerator_as_it_was_measured(compute, key):
    with pytest.raises(ScenarioError, match=rf"workload\.compute\.{key}: .*expected"):
        scenario(**compute)

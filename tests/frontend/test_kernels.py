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
from frontend.workloads.llm.partition import Kind, block_activations
from frontend.workloads.llm.workload import LlmWorkload

H100 = Kernels("h100", "bf16")
SIZES = st.integers(1, 2**15)


def tflops(kernels, rows, columns, inner):
    return 2 * rows * columns * inner / kernels.product_ps(rows, inner, columns)


@pytest.mark.parametrize("name", CHIPS)
@pytest.mark.parametrize("precision", ["bf16", "fp8", "fp4"])
def test_the_measured_product_of_a_chip_takes_its_time(name, precision):
    kernels, chip = Kernels(name, precision), CHIPS[name]
    best = {"fp8": chip.fp8, "fp4": chip.fp4}.get(kernels.precision) or chip.bf16
    assert tflops(kernels, best.rows, best.columns, best.inner) == pytest.approx(
        best.tflops, rel=1e-6
    )


@pytest.mark.parametrize(
    ("rows", "columns", "inner", "measured"),
    [
        # pranjalssh/fast.cu, README.md at a1bb7b2: cuBLAS on an H100 SXM that has just begun.
        (8192, 8192, 8192, 797.8),
        (6144, 6144, 6144, 741.1),
        # zzc0721/torch-performance-test-data, issue 79: PyTorch 2.7, one size after the other.
        (4096, 4096, 4096, 788.72),
        (10240, 10240, 10240, 719.72),
    ],
)
def test_products_in_16_bits_that_the_model_has_not_seen(rows, columns, inner, measured):
    assert tflops(H100, rows, columns, inner) == pytest.approx(measured, rel=0.14)


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
    assert tflops(Kernels("h800", "fp8"), 4096, columns, inner) == pytest.approx(measured, rel=0.11)


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
    kernels = Kernels(name, "fp8")  # the A100 has 16 bits only
    assert tflops(kernels, size, size, size) == pytest.approx(measured, rel=0.07)


@pytest.mark.parametrize(
    ("name", "rows", "columns", "inner", "measured"),
    [
        # pytorch/ao, pull request 2427: the other large products of the same run on a B200.
        ("b200", 4096, 4096, 4096, 4460),
        ("b200", 6144, 6144, 6144, 5500),
        # deepseek-ai/DeepGEMM, pull request 348: cuBLASLt 13.3, then a kernel of its own.
        ("b200", 8192, 8192, 8192, 5239),
        ("b200", 8192, 8192, 8192, 5702),
        ("b200", 4096, 4096, 7168, 5332),
        # triton-lang/triton, pull request 9697: cuBLAS, then kernels of its own. It names no GPU.
        ("b200", 8192, 8192, 8192, 5589.8),
        ("b200", 16384, 16384, 16384, 5562),
        ("b200", 32768, 32768, 32768, 5362.4),
        # flashinfer-ai/flashinfer, pull requests 1979 and 2540: cuDNN.
        ("b200", 1024, 7168, 4608, 3797.9),
        ("gb200", 1024, 7168, 4608, 3878.8),
        ("gb200", 1024, 9216, 7168, 5222.8),
    ],
)
def test_products_in_4_bits_that_the_model_has_not_seen(name, rows, columns, inner, measured):
    found = tflops(Kernels(name, "fp4"), rows, columns, inner)
    assert found == pytest.approx(measured, rel=0.06)


# The linear layers of a model: inputs and outputs.
LINEAR = ((4096, 12288), (4096, 4096), (4096, 16384), (16384, 4096))
# NVIDIA/TransformerEngine, docs/examples/gemm_profiling/gemm_profiling.rst (d0067d0), on a B300:
# products with 15872 tokens, as rows, inner, columns, with and without casts [ms].
MEASURED = {
    "forward": ([(15872, inner, outer) for inner, outer in LINEAR], 1.254, 1.932),
    "input": ([(15872, outer, inner) for inner, outer in LINEAR], 1.305, 2.189),
    "weights": ([(inner, 15872, outer) for inner, outer in LINEAR], 1.205, 2.331),
}


@pytest.mark.parametrize(("shapes", "alone", "whole"), MEASURED.values(), ids=MEASURED)
def test_linear_layers_in_4_bits_and_their_casts(shapes, alone, whole):
    # In spite of half as much peak more, a B300 is not faster than the GB200 here.
    kernels = Kernels("gb300", "fp4")
    products = sum(kernels.product_ps(*shape) for shape in shapes) / 1e9
    assert 0.86 * alone < products < alone
    # Each layer casts its input, with a Hadamard transform, and its weights.
    casts = sum(
        kernels.nvfp4_cast_ps(rows * inner, hadamard=True) + kernels.nvfp4_cast_ps(inner * columns)
        for rows, inner, columns in shapes
    )
    assert casts / 1e9 == pytest.approx(whole - alone, rel=0.2)


@pytest.mark.parametrize(
    ("precision", "measured"), [("fp8", (2.158, 2.329, 2.325)), ("bf16", (4.250, 4.434, 4.418))]
)
def test_linear_layers_on_a_b300(precision, measured):
    kernels = Kernels("gb300", precision)
    for (shapes, *_), lasts in zip(MEASURED.values(), measured, strict=True):
        products = sum(kernels.product_ps(*shape) for shape in shapes) / 1e9
        assert products == pytest.approx(lasts, rel=0.1 if precision == "bf16" else 0.06)


@pytest.mark.parametrize(
    ("name", "scaling", "measured"),
    [
        # The same file: layers with their casts, of the input and of the weights.
        ("gb300", "current", (2.879, 3.063, 3.205)),
        ("gb300", "delayed", (2.486, 2.621, 2.695)),
    ],
)
def test_linear_layers_in_8_bits_and_their_casts(name, scaling, measured):
    kernels = Kernels(name, "fp8")
    for (shapes, *_), lasts in zip(MEASURED.values(), measured, strict=True):
        whole = sum(
            kernels.product_ps(rows, inner, columns)
            + kernels.cast_ps(rows * inner, scaling, for_gradient=False)
            + kernels.cast_ps(inner * columns, scaling, for_gradient=False)
            for rows, inner, columns in shapes
        )
        assert whole / 1e9 == pytest.approx(lasts, rel=0.03)


@pytest.mark.parametrize(
    ("name", "rows", "width", "forward", "backward"),
    [
        # NVIDIA/cudnn-frontend, benchmark/norms/results (df73764), cuDNN: other shapes [ms].
        ("gb200", 16384, 4096, 0.042, 0.065),
        ("gb200", 4096, 16384, 0.044, 0.084),
        ("gb200", 8192, 4096, 0.023, 0.036),
        ("gb300", 4096, 8192, 0.022, 0.041),
        ("h200", 16384, 4096, 0.072, 0.106),
        ("h200", 8192, 4096, 0.035, 0.058),
    ],
)
def test_normalisations_that_the_model_has_not_seen(name, rows, width, forward, backward):
    kernels, size = Kernels(name, "bf16"), 2 * rows * width
    gap = 900_000  # a kernel's time is without it
    assert (kernels.norm_ps(size) - gap) / 1e9 == pytest.approx(forward, rel=0.15)
    assert (kernels.norm_ps(size, backward=True) - gap) / 1e9 == pytest.approx(backward, rel=0.2)


@pytest.mark.parametrize(("name", "measured"), [("gb200", 0.0034), ("h200", 0.0029)])
def test_a_kernel_with_few_bytes_takes_its_start(name, measured):
    # The same tables: 8192 rows of 128 elements.
    lasts = (Kernels(name, "bf16").norm_ps(2 * 8192 * 128) - 900_000) / 1e9
    assert 0.7 * measured < lasts < 1.1 * measured


LARGE = st.integers(12, 64).map(lambda blocks: 256 * blocks)


@given(st.sampled_from(["b200", "b300", "gb200", "gb300"]), LARGE, LARGE, LARGE)
def test_fewer_bits_are_faster_for_large_products(name, rows, inner, columns):
    sixteen, eight, four = (
        Kernels(name, precision).product_ps(rows, inner, columns)
        for precision in ("bf16", "fp8", "fp4")
    )
    assert four < eight < sixteen
    # Not by more than the peaks.
    assert eight < 2 * four * 1.2


@given(st.integers(1, 2**36))
def test_casts_to_4_bits_move_their_bytes(elements):
    kernels = Kernels("gb200", "fp4")
    gap, largest = 2_800_000, kernels.largest_ps(2 * elements)
    plain = kernels.nvfp4_cast_ps(elements)
    # Two bytes are read, and 9/16 written for each of two products.
    assert plain - largest == pytest.approx(gap + elements * 3.125 / 6.4, abs=2)
    one = kernels.nvfp4_cast_ps(elements, for_gradient=False)
    assert one - largest == pytest.approx(gap + elements * 2.5625 / 7.2, abs=2)
    # With a Hadamard transform, each product has its own kernel, so the elements are read again.
    transformed = kernels.nvfp4_cast_ps(elements, hadamard=True)
    first = kernels.pass_ps(2 * elements)
    assert transformed - first == pytest.approx(2 * (one - largest), abs=2)
    # Without a second product, nothing is transformed.
    assert one == kernels.nvfp4_cast_ps(elements, hadamard=True, for_gradient=False)
    random = kernels.nvfp4_cast_ps(elements, stochastic=True)
    assert random - largest == pytest.approx(gap + elements * 3.125 / 4.5, abs=2)
    # They cost more than in 8 bits, which Blackwell needs once, unless launches are all they cost.
    for scaling in ("delayed", "current"):
        assert plain > kernels.cast_ps(elements, scaling) or elements < 2**26


def test_a_product_and_its_casts_on_a_b200():
    # NVIDIA/TransformerEngine, issue 1747: 2377.1 TFLOP/s for a layer with 8192 of everything.
    kernels = Kernels("b200", "fp8")
    casts = 2 * kernels.cast_ps(8192**2, "delayed")  # the input and the weights
    lasts = kernels.product_ps(8192, 8192, 8192) + casts
    assert 2 * 8192**3 / lasts == pytest.approx(2377.1, rel=0.03)


def test_casts_move_the_bytes_of_their_layouts():
    elements = 2**30
    for name, layouts in (("h100", 2), ("b200", 1)):
        kernels = Kernels(name, "fp8")
        delayed, current = (kernels.cast_ps(elements, how) for how in ("delayed", "current"))
        assert delayed == kernels.pass_ps((2 + layouts) * elements)
        assert current - delayed == kernels.largest_ps(2 * elements) + kernels.pass_ps(4)


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
    flash = Kernels("h100", "bf16", attention="flash2")
    measured = ((128, 512, 163), (128, 4096, 294), (64, 2048, 232), (64, 16384, 284))
    for head, tokens, rate in measured:
        # Forward is two products and backward five, so the rate of both is 7 FLOP / their time.
        both = flash.attention_ps(2 * 10**15, tokens, head)
        both += flash.attention_ps(5 * 10**15, tokens, head, backward=True)
        assert 7 * 10**15 / both == pytest.approx(rate, rel=1e-3)
    # It is what the A100 has without a choice.
    default, named = (Kernels("a100", "bf16", attention=one) for one in (None, "flash2"))
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
    kernels, tokens = Kernels("h100", "fp8"), current.tokens
    parts = [matrix.part(4) for matrix in network_matrices(4096, 14336, gated=True)]
    sides = [side for part in parts for side in (part.rows, part.columns)]
    largest = sum(kernels.largest_ps(2 * tokens * side) for side in sides)
    assert more == largest + len(sides) * kernels.pass_ps(4)
    assert current.output == delayed.output


def test_blocks_of_32_are_cast_along_both_sides_by_one_kernel():
    """Each cast writes one byte of each element more, and all weights are cast after the update."""
    delayed, mx = (blackwell(precision="fp8", fp8_scaling=how) for how in ("delayed", "mx"))
    kernels, tokens = Kernels("gb200", "fp8"), mx.tokens
    parts = [matrix.part(4) for matrix in network_matrices(4096, 14336, gated=True)]
    sides = [tokens * side for part in parts for side in (part.rows, part.columns)]
    more = sum(kernels.pass_ps(4 * each) - kernels.pass_ps(3 * each) for each in sides)
    assert sum(mx.network) - sum(delayed.network) == more
    assert mx.update(1000, 8000) - delayed.update(1000, 8000) == kernels.pass_ps(4 * 8000)


def test_what_an_activation_function_keeps_in_8_bits_is_cast_in_both_phases():
    wide, narrow = (
        operators(precision="fp8", kept_activation=kept) for kept in ("16 bits", "8 bits")
    )
    cast = Kernels("h100", "fp8").pass_ps(3 * narrow.tokens * 2 * 14336 // 4)
    more = [after - before for before, after in zip(wide.network, narrow.network, strict=True)]
    assert more == [cast, cast, 0]
    # Both factors are kept with one byte instead of two.
    kept, less = (block_activations(one.workload, Kind.DENSE) for one in (wide, narrow))
    assert kept - less == narrow.tokens * 2 * 14336 // 4


def blackwell(**workload):
    compute = {"kernels": "shapes", "accelerator": "gb200"} | workload.pop("compute", {})
    return operators(compute=compute, **workload)


def test_each_matrix_casts_its_input_and_the_gradient_of_its_output_to_4_bits():
    how = {"hadamard": False, "stochastic_rounding": True}
    eight, four = (blackwell(precision=one, nvfp4=how) for one in ("fp8", "fp4"))
    kernels, tokens = Kernels("gb200", "fp4"), four.tokens
    parts = [matrix.part(4) for matrix in network_matrices(4096, 14336, gated=True)]
    products = sum(kernels.product_ps(tokens, one.rows, one.columns) for one in parts)
    casts = sum(kernels.nvfp4_cast_ps(tokens * one.rows) for one in parts)
    back = sum(kernels.product_ps(tokens, one.columns, one.rows) for one in parts)
    gradients = sum(kernels.nvfp4_cast_ps(tokens * one.columns, stochastic=True) for one in parts)
    # The rest is memory-bound, as in 8 bits.
    eight_bits = Kernels("gb200", "fp8")
    for phase, product, cast, sides in (
        (0, products, casts, [(one.rows, one.columns) for one in parts]),
        (1, back, gradients, [(one.columns, one.rows) for one in parts]),
    ):
        in_eight = sum(
            eight_bits.product_ps(tokens, *side) + eight_bits.cast_ps(tokens * side[0], "delayed")
            for side in sides
        )
        assert four.network[phase] - product - cast == eight.network[phase] - in_eight
    assert four.output == eight.output
    # All weights are cast after an update.
    assert four.update(100, 10**9) - eight.update(100, 10**9) == kernels.nvfp4_cast_ps(10**9)


def test_what_the_recipe_of_4_bits_adds_takes_time():
    def network(**how):
        return blackwell(precision="fp4", nvfp4=how).network

    plain = network(hadamard=False, stochastic_rounding=False)
    transformed = network(stochastic_rounding=False)
    random = network(hadamard=False)
    assert transformed.forward > plain.forward
    assert transformed.input_gradient > plain.input_gradient
    assert random.forward == plain.forward
    assert random.input_gradient > plain.input_gradient
    assert plain.weight_gradient == transformed.weight_gradient == random.weight_gradient
    # Frozen weights have no gradient, so nothing is transformed for it.
    frozen = [
        blackwell(precision="fp4", nvfp4={"hadamard": one}, lora={"rank": 8}).network
        for one in (False, True)
    ]
    assert frozen[0] == frozen[1]


def test_attention_in_8_bits_has_the_measured_rates_and_casts():
    sixteen, eight = (
        blackwell(precision="fp8", fp8_scaling="current", compute={"attention": one})
        for one in ("cudnn", "cudnn_fp8")
    )
    assert eight.network == sixteen.network
    kernels = Kernels("gb200", "fp8", attention="cudnn_fp8")
    # 8 of 32 query heads and 2 of 8 heads of keys and values on a rank of tp.
    inputs, results = eight.tokens * (8 + 2 * 2) * 128, eight.tokens * 8 * 128
    flop = 2 * 8 * 8192 * 8192 * 128
    assert eight.scores.forward == pytest.approx(
        flop / 1894 + 900_000 + kernels.cast_ps(inputs, "current", for_gradient=False), rel=1e-6
    )
    assert eight.scores.input_gradient == pytest.approx(
        2.5 * flop / 1263 + 900_000 + kernels.cast_ps(results, "current", for_gradient=False),
        rel=1e-6,
    )


def test_few_tiles_with_long_sums_are_cut():
    # 8 tiles for 132 SMs: the sums of 2^16 elements are cut, and one wave of a part is shorter.
    lasts = H100.product_ps(512, 2**16, 256)
    tile = 2 * 128 * 128 * 2**16 * 132 / 900e12 * 1e12
    assert lasts < tile / 2


@pytest.mark.parametrize("kernels", ["roofline", "shapes"])
@pytest.mark.parametrize("accelerator", ["h100", "a100"])
def test_four_bits_need_an_accelerator_that_has_them(kernels, accelerator):
    compute = {"kernels": kernels, "accelerator": accelerator}
    only = "only b200, b300, gb200, gb300 compute in 4"
    with pytest.raises(ScenarioError, match=rf"workload\.precision: .*because {only}"):
        operators(precision="fp4", compute=compute)


@pytest.mark.parametrize(("name", "ratio"), [("b200", 2), ("b300", 3), ("gb200", 2), ("gb300", 3)])
def test_four_bits_have_the_peak_of_their_own(name, ratio):
    compute = {"accelerator": name, "kernels": "roofline"}
    four, eight = (
        operators(precision=one, compute=compute, layout={"tp": 1}) for one in ("fp4", "fp8")
    )
    # Matrices of a whole model are large enough for the memory not to bound them.
    assert four.network.weight_gradient * ratio == pytest.approx(eight.network.weight_gradient)


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
        ({"accelerator": "h100", "attention": "cudnn_fp8"}, "attention"),
    ],
)
def test_shapes_need_an_accelerator_as_it_was_measured(compute, key):
    with pytest.raises(ScenarioError, match=rf"workload\.compute\.{key}: .*expected"):
        scenario(**compute)

"""`workload: {kind: llm}`: a transformer from its card, and the layout of its training."""

from itertools import permutations
from math import isfinite
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from frontend.collectives.algorithm_options import AlgorithmOptions
from frontend.collectives.choices import AnyAlgorithm
from frontend.errors import one_of
from frontend.formats.training.parts import read_parts
from frontend.kernels import CHIPS
from frontend.models.cards import Card
from frontend.schema.base import (
    Accesses,
    Count,
    Iterations,
    Model,
    Whole,
    Width,
    cross_check_error,
    listed,
)
from frontend.schema.compute import ACCELERATORS, Compute, Precision
from frontend.schema.files import read_json
from frontend.schema.quantities import (
    ByteRate,
    ComputeRate,
    ElementSize,
    PositiveSize,
    PositiveTime,
    Time,
)

DIMENSIONS = ("tp", "cp", "ep", "dp", "pp")

ORDERS = tuple("-".join(order) for order in permutations(DIMENSIONS))


def _order(value: Any) -> Any:
    if value not in ORDERS:
        raise ValueError("expected tp, cp, ep, dp and pp in some order, such as tp-cp-ep-dp-pp")
    return value


def _accelerator(value: Any) -> Any:
    if not isinstance(value, str) or value not in ACCELERATORS:
        raise ValueError(one_of(value, ACCELERATORS))
    return value


Order = Annotated[
    str,
    BeforeValidator(_order),
    WithJsonSchema({"type": "string", "pattern": "^(tp|cp|ep|dp|pp)(-(tp|cp|ep|dp|pp)){4}$"}),
]

AcceleratorName = Annotated[
    str,
    BeforeValidator(_accelerator),
    WithJsonSchema({"enum": list(ACCELERATORS), "type": "string"}),
]


def _read_layers(value: Any) -> Any:
    if isinstance(value, str):
        return read_parts(value).layers
    if value is not None and not isinstance(value, list | tuple):
        raise ValueError(
            "expected a list of whole numbers, one for each chunk, or a text such as Ett|(tt|)*6tL"
        )
    return value if value is None else tuple(value)


ChunkLayers = Annotated[
    tuple[Whole, ...] | None,
    BeforeValidator(_read_layers),
    PlainSerializer(lambda layers: layers and list(layers)),
    WithJsonSchema(
        {
            "anyOf": [
                {"items": {"minimum": 0, "type": "integer"}, "type": "array"},
                {"pattern": "^E[EtmL|()*,0-9]*L$", "type": "string"},
                {"type": "null"},
            ]
        }
    ),
]


class Layout(Model):
    """How ranks share the work: the product of tp, cp, dp and pp is the number of ranks."""

    tp: Count = 1
    """Tensor parallelism: ranks that share each matrix of a layer."""
    sequence_parallel: bool = True
    """Whether the ranks of tp also share the tokens between matrices. Then they gather and scatter
    them (all-gather and reduce-scatter); otherwise they all-reduce them."""
    cp: Count = 1
    """Context parallelism: ranks that share the tokens of a sequence."""
    cp_exchange: Literal["all_gather", "ring", "all_to_all"] = "all_gather"
    """How ranks of cp exchange keys and values. all_gather: all of them before the attention, and
    reduce-scatter of their gradients after it. ring: each rank passes on those of one rank while it
    computes with those of another one (ring attention). all_to_all: each rank gets all tokens of
    some heads, and returns their results (Ulysses)."""
    pp: Count = 1
    """Pipeline stages."""
    chunks: Count = 1
    """Parts of the layers on each stage. 1: one forward, one backward (1F1B); more: interleaved."""
    layers: ChunkLayers = None
    """Layers of each chunk in the model's order, pp · chunks numbers, such as [1, 2, 2, 1]. A chunk
    with the embedding or the output layer may have 0; modules for further tokens are on the last
    one. Or Megatron-LM's text for it, such as `Et*4|(t*4|)*14tmL`. null: as many on each; what is
    left goes to those in the middle."""
    schedule: Literal["1f1b", "zero_bubble", "dual_pipe"] = "1f1b"
    """Order of the micro-batches. 1f1b: one forward, one backward. zero_bubble: the gradients of
    weights are computed later, while a stage would wait for others (ZB-H1). dual_pipe: a stage has
    two chunks, on the way there and back, and one computes forward while the other one computes
    backward (DualPipeV)."""
    ep: Count = 1
    """Expert parallelism: ranks of dp that share the experts of a layer."""
    dp: Count | None = None
    """Data parallelism; null: the ranks that tp, cp and pp leave."""
    zero: Annotated[int, Field(ge=0, le=3)] = 0
    """What ranks of dp share: 0: nothing; they all-reduce gradients. 1: the optimizer's state: they
    reduce-scatter gradients and all-gather weights. 2: gradients as well: they reduce-scatter them
    after every micro-batch. 3: weights as well (FSDP): they all-gather them before use."""
    order: Order = "tp-cp-ep-dp-pp"
    """Order of the ranks. Ranks of the first dimension have consecutive numbers, so that they share
    a super-node; the default is Megatron's."""
    scatter_gather: bool = False
    """Without `sequence_parallel`, all ranks of tp have the same activations. Whether each of them
    sends a part of these to the next stage, whose ranks gather them; otherwise each sends all."""


class Overlap(Model):
    """What runs at the same time as computation."""

    tp: bool = False
    """Whether collectives of tp run beside their products, as if both were cut into small parts: an
    all-gather beside the product with what it gathers, and a reduce-scatter or all-reduce beside
    the one whose parts it adds up."""
    ep: bool = False
    """The same for the all-to-alls of ep."""
    pp: bool = True
    """Whether a stage computes while its messages travel to other stages; otherwise it goes on when
    they have arrived."""
    dp: bool = True
    """Whether gradients are reduced in buckets during the backward phase; otherwise after it."""
    dp_slowdown: Annotated[float, Field(ge=1, le=10)] | None = None
    """How many times as long kernels take beside a collective of dp, which needs the same
    multiprocessors and memory. null: 1.73, as measured, on accelerators for which `kernels: shapes`
    has measurements, and 1 on others."""
    gather: bool = False
    """zero 1, 2: whether weights are gathered part by part during the forward phase of the next
    iteration; otherwise all of them after the update. An iteration begins with its gathers."""
    prefetch: Whole = 1
    """zero 3: layers whose weights are gathered ahead."""


_LOADS = (
    "expected a number for each expert, or rows of such numbers for each rank of ep, or "
    "{file: loads.json}"
)


def _read_loads(value: Any, info: ValidationInfo) -> Any:
    if value is None:
        return None
    if isinstance(value, dict) and set(value) == {"file"}:
        value = read_json(str(value["file"]), info)
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(_LOADS)
    rows = value if all(isinstance(row, list | tuple) for row in value) else [value]
    for number, row in enumerate(rows):
        for load in row:
            if isinstance(load, bool) or not isinstance(load, int | float):
                raise ValueError(f"row {number} has {load!r}: {_LOADS}")
            if not isfinite(load) or not 0 <= load <= 1e18:
                raise ValueError(f"row {number} has {load!r}: expected numbers from 0 to 1e18")
        if len(row) != len(rows[0]) or not sum(row):
            raise ValueError(
                f"row {number} has {len(row)} numbers with the sum {sum(row)}: expected rows of "
                "equal length, and a sum above 0"
            )
    return tuple(tuple(map(float, row)) for row in rows)


ExpertLoads = Annotated[
    tuple[tuple[float, ...], ...] | None,
    BeforeValidator(_read_loads),
    PlainSerializer(lambda rows: rows and [list(row) for row in rows]),
]


class Routing(Model):
    """How tokens choose experts. All layers and micro-batches route alike."""

    skew: Annotated[float, Field(ge=0, le=10)] = 0.0
    """Popularity of experts by Zipf's law: the k-th most popular one gets tokens in proportion to k
    to the power -skew. 0: all get as many. The ranks of ep have popular experts in turn."""
    loads: ExpertLoads = None
    """Relative numbers of tokens instead: one for each expert, in the order of the ranks, or a row
    of them for each rank of ep, or `{file: …}` with such numbers as JSON."""
    super_nodes: Count | None = None
    """Super-nodes at most to which a token goes (node-limited routing). Then it goes once to each
    of them, and there on to the ranks of its experts, at the same time; results are summed on the
    way back. null: a message to each expert."""


class DimensionAlgorithms(AlgorithmOptions):
    """The collective algorithm of each parallel dimension."""

    tp: AnyAlgorithm = "auto"
    """all_gather and reduce_scatter of activations, or all_reduce without sequence_parallel."""
    cp: AnyAlgorithm = "auto"
    """all_gather of keys and values, reduce_scatter of their gradients; or all_to_all of heads."""
    ep: AnyAlgorithm = "auto"
    """all_to_all of tokens."""
    dp: AnyAlgorithm = "auto"
    """all_reduce, or reduce_scatter and all_gather, of gradients and weights."""


Targets = Annotated[
    tuple[Literal["qkv", "proj", "fc1", "fc2"], ...],
    BeforeValidator(listed),
    Field(min_length=1),
    PlainSerializer(list, return_type=list[str]),
]


class Lora(Model):
    """Fine-tuning with low-rank adapters: only they are trained, and the model's weights are
    frozen."""

    rank: Width = 16
    """Elements between the two matrices of an adapter."""
    targets: Targets = ("qkv", "proj", "fc1", "fc2")
    """Matrices of a layer that have an adapter, by Megatron-LM's names: the projection to queries,
    keys and values, that of the attention's result, and the first (with `gated`, both) and the last
    one of the feed-forward network."""
    dropout: bool = False
    """Whether a dropout comes before each adapter; it takes time with `kernels: shapes`."""

    @model_validator(mode="after")
    def _once(self) -> Self:
        if len(set(self.targets)) < len(self.targets):
            raise cross_check_error("workload.lora.targets", "expected each name once")
        return self


class Host(Model):
    """What a host takes to launch operators one after another, as programs without CUDA graphs do.
    docs/llm.md has published values."""

    linear: PositiveTime
    """A linear layer with its normalisation and casts, in one phase."""
    operator: PositiveTime
    """Any other operator, collective or message, in one phase."""
    expert: Time = Time.parse("0us")
    """What each expert of a rank adds to the two linear layers of all of them, in one phase."""


class LlmCompute(Model):
    """How fast an accelerator computes."""

    accelerator: AcceleratorName = "h100"
    """The accelerator, whose rates and memory docs/llm.md lists."""
    kernels: Literal["roofline", "shapes"] = "roofline"
    """How long a kernel takes. roofline: max(FLOP / peak, bytes / memory bandwidth) / `efficiency`.
    shapes: as its shape lets expect (tiles, waves, attention's measured rates, launches) /
    `efficiency`; for the accelerators that docs/llm.md lists."""
    peak_flops: ComputeRate | None = None
    """Peak compute rate, if it differs from the accelerator's."""
    memory_bandwidth: ByteRate | None = None
    """Memory bandwidth, if it differs."""
    memory: PositiveSize | None = None
    """Memory of a rank, if it differs."""
    efficiency: Annotated[float, Field(gt=0, le=2)] | None = None
    """roofline: fraction of the peak compute rate and memory bandwidth that operators reach, at
    most 1; null: 0.6, as measured. shapes: speed relative to that of the shapes; null: 1."""
    attention: Literal["cudnn", "cudnn_fp8", "flash2"] | None = None
    """shapes: the library of the attention kernels, of those that were measured on the accelerator:
    cuDNN, cuDNN in 8 bits with casts before it, or FlashAttention-2; null: cuDNN, and
    FlashAttention-2 on the A100."""
    host: Host | None = None
    """What the host takes to launch operators, for which an accelerator may wait; null: an
    accelerator never waits for its host, as with CUDA graphs."""
    loss_accesses: Accesses = 2
    """Accesses of two bytes per logit in the loss, in each phase. 2: a fused kernel. Megatron-LM
    without `--cross-entropy-loss-fusion` has 13: the conversion to 4 bytes, the maximum, the
    exponentials, their sum, the quotient and the gradient are passes of their own."""
    update_accesses: Accesses = 15
    """Accesses of two bytes per weight in the update. Adam reads the gradient, the weight and two
    moments and writes the latter three, all in 4 bytes, and writes the weight in 2 bytes."""

    @model_validator(mode="after")
    def _measured(self) -> Self:
        if self.kernels == "roofline":
            if self.efficiency is not None and self.efficiency > 1:
                problem = "expected at most 1, because workload.compute.kernels is roofline"
                raise cross_check_error("workload.compute.efficiency", problem)
            if self.attention is not None:
                problem = "expected null, because workload.compute.kernels is roofline"
                raise cross_check_error("workload.compute.attention", problem)
            return self
        if self.accelerator not in CHIPS:
            problem = f"expected roofline, because shapes needs one of {', '.join(CHIPS)}"
            raise cross_check_error("workload.compute.kernels", problem)
        measured = CHIPS[self.accelerator].attention
        if self.attention is not None and self.attention not in measured:
            problem = f"expected null or {' or '.join(measured)}, as measured on {self.accelerator}"
            raise cross_check_error("workload.compute.attention", problem)
        for key in ("peak_flops", "memory_bandwidth"):
            if getattr(self, key) is not None:
                problem = "expected null, because workload.compute.kernels is shapes"
                raise cross_check_error(f"workload.compute.{key}", problem)
        return self

    def roofline(self, precision: Precision) -> Compute:
        """Return the roofline of a rank at a precision; in 16 bits if it lacks that of 8 bits."""
        known = ACCELERATORS[self.accelerator]
        tflops = known.peak_tflops(precision) or known.bf16_tflops
        return Compute(
            peak_flops=self.peak_flops or ComputeRate(round(tflops * 10**12)),
            memory_bandwidth=self.memory_bandwidth or ByteRate(known.memory_gb_s * 10**9),
            efficiency=1.0 if self.kernels == "shapes" else self.efficiency or 0.6,
        )

    @property
    def memory_bytes(self) -> int:
        """Memory of a rank in bytes."""
        return int(self.memory or ACCELERATORS[self.accelerator].memory_gb * 10**9)


class Failures(Model):
    """Failures of ranks, each of which stops the whole job, and its checkpoints. They change no
    time of the run; the result has the goodput of a long one."""

    per_rank_year: Annotated[float, Field(gt=0, le=1e6)]
    """Failures of a rank in a year of 365 days, with its part of the server and the network."""
    restart: PositiveTime
    """From a failure until the job trains again: to notice it, replace the server, start, load."""
    interval: PositiveTime | None = None
    """Training between two checkpoints; null: as long as is best."""
    write_rate: ByteRate
    """Rate at which a rank writes its part of a checkpoint: its weights and the optimizer's
    state."""
    stall: Time | None = None
    """null: the job stops until the checkpoint is written. A time: it stops for this time, such as
    for the copy to the host, and the checkpoint is written while it trains."""


class Nvfp4(Model):
    """How values are rounded to 4 bits, by the names of Transformer Engine's recipe. It takes time
    with `kernels: shapes`."""

    hadamard: bool = True
    """Whether inputs and gradients pass through a random Hadamard transform for the product of the
    weights' gradient. A kernel of its own then writes them for this product."""
    stochastic_rounding: bool = True
    """Whether gradients are rounded up or down at random."""


class LlmWorkload(Model):
    """Training iterations of a decoder-only transformer. A rank is one accelerator."""

    kind: Literal["llm"]
    """A transformer from its card: tensor, context, expert, data and pipeline parallelism."""
    model: Card
    """The name of a card (`cosim list`), a mapping with the keys of a card, or `{card: NAME, …}`
    with some keys changed."""
    lora: Lora | None = None
    """Low-rank adapters (LoRA) that are trained instead of the model's weights; null: none."""
    layout: Layout = Layout()
    """How ranks share the work."""
    global_batch: Count
    """Sequences of an iteration."""
    micro_batch: Width = 1
    """Sequences that a rank computes together. Gradients accumulate over the micro-batches."""
    iterations: Iterations = 1
    """Number of training iterations."""
    precision: Precision = "bf16"
    """Precision of matrix products, and of their inputs that ranks of tp gather; fp4: NVFP4, on
    accelerators that have it. Other activations, and weights, have 2 bytes in all cases."""
    fp8_scaling: Literal["delayed", "current", "blocks", "mx"] = "delayed"
    """How the factor of a tensor in 8 bits is found; only `kernels: shapes` knows the time of
    casts. delayed: from earlier steps. current: from its largest element, for which a kernel reads
    it once more, and ranks of tp that gather it have an all-reduce. blocks: each 128 elements have
    a factor of their own (DeepSeek-V3), so a kernel casts along rows, and another one along columns
    for the gradient of weights. mx: each 32 elements have a factor of their own (MXFP8, on
    Blackwell), and one kernel casts along both."""
    nvfp4: Nvfp4 = Nvfp4()
    """How values are rounded to 4 bits, with `precision: fp4`."""
    gradient_element: ElementSize = ElementSize.parse("4B")
    """Size of a gradient element, also in reductions."""
    gather_element: ElementSize = ElementSize.parse("2B")
    """Size of a weight that ranks of dp gather: 1B if they gather weights in 8 bits."""
    dispatch_element: ElementSize = ElementSize.parse("2B")
    """Size of an element of the tokens that go to experts; those that return have 2 bytes."""
    kept_activation: Literal["16 bits", "8 bits"] = "16 bits"
    """How the input of an activation function is kept for the backward phase. 8 bits: a kernel
    casts it in each phase, which only `kernels: shapes` knows."""
    routing: Routing = Routing()
    """How unevenly tokens go to experts."""
    flash_attention: bool = True
    """Whether the scores of attention stay on the chip. Then the backward phase computes them
    again, and half of them are left out, as tokens attend to earlier tokens only. Otherwise all
    scores are computed, and pass through the memory."""
    recompute: Literal["none", "selective", "light", "full"] = "none"
    """What the backward phase computes again instead of keeping it. none: nothing. selective: the
    scores of attention, which FlashAttention never keeps. light: normalisations, activation
    functions and, with latent attention, what it projects up to queries, keys and values
    (DeepSeek-V3). full: whole layers with their collectives."""
    deferred_output: Whole = 0
    """First micro-batches of an iteration for which the last stage leaves the gradient of the
    output layer's weights until its last backward step is done, while other stages still compute.
    Megatron-LM calls it `wgrad_deferral_limit`, whose 0 means all."""
    bucket: PositiveSize = PositiveSize.parse("160MB")
    """Gradient bucket: gradients of consecutive layers are reduced together as soon as they reach
    this size."""
    overlap: Overlap = Overlap()
    """What runs at the same time as computation."""
    algorithms: DimensionAlgorithms = DimensionAlgorithms()
    """The collective algorithm of each parallel dimension."""
    compute: LlmCompute = LlmCompute()
    """How fast a rank computes, and its memory."""
    failures: Failures | None = None
    """Failures and checkpoints, for the goodput in the result; null: none."""
    check_memory: bool = True
    """Whether a layout that needs more memory than a rank has is refused."""

    @field_validator("layout", mode="before")
    @classmethod
    def _text_has_all_modules(cls, value: Any, info: ValidationInfo) -> Any:
        text = value.get("layers") if isinstance(value, dict) else None
        if isinstance(text, str) and "model" in info.data:
            modules = info.data["model"].mtp_layers
            try:
                found = read_parts(text).modules
            except ValueError:
                return value  # an error of the key itself
            if found != modules:
                problem = f"expected m {modules} times, as model.mtp_layers, not {found}"
                raise cross_check_error("workload.layout.layers", problem)
        return value

    @model_validator(mode="after")
    def _four_bits(self) -> Self:
        able = [name for name, known in ACCELERATORS.items() if known.fp4_tflops]
        if self.precision == "fp4" and self.compute.accelerator not in able:
            problem = f"expected bf16 or fp8, because only {', '.join(able)} compute in 4 bits"
            raise cross_check_error("workload.precision", problem)
        return self

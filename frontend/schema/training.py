"""`workload: {kind: training}`: a model's operators, placed on servers by a strategy."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo

from frontend.schema.base import Count, Iterations, Model, Width
from frontend.schema.compute import Compute
from frontend.schema.files import read_json
from frontend.schema.models import ModelChoice
from frontend.schema.quantities import ByteRate, ComputeRate, ElementSize, PositiveSize

_ACCEPTED = "expected data_parallel, hybrid, a strategy by operators, or a file with one"


def _read_strategy(value: Any, info: ValidationInfo) -> Any:
    """Put the strategy of a file in its place, so that a stored scenario needs no file."""
    if not isinstance(value, dict):
        if value not in ("data_parallel", "hybrid"):
            raise ValueError(_ACCEPTED)
        return value
    if set(value) != {"file"}:
        return value
    content = read_json(str(value["file"]), info)
    if not isinstance(content, dict):
        raise ValueError(_ACCEPTED)
    return content


StrategyChoice = Annotated[
    Literal["data_parallel", "hybrid"] | dict[str, Any], BeforeValidator(_read_strategy)
]


class ServerCompute(Compute):
    """The roofline model of a GPU, and the NVLink between the GPUs of a server. The defaults are
    those of an NVIDIA A100."""

    peak_flops: ComputeRate = ComputeRate.parse("156TFLOPS")
    """Peak compute rate of one GPU. The default is TF32 on tensor cores."""
    memory_bandwidth: ByteRate = ByteRate.parse("1555GB/s")
    """Memory bandwidth of one GPU."""
    memory: PositiveSize = PositiveSize.parse("40GB")
    """Memory of one GPU. The search rejects strategies that need more."""
    nvlink: ByteRate = ByteRate.parse("300GB/s")
    """Rate from a GPU to the others of its server, in each direction. Gradients are summed over
    NVLink before they leave the server."""


class Training(Model):
    """A model and how to train it."""

    iterations: Iterations = 1
    """Number of training iterations."""
    model: ModelChoice
    """The model to train."""
    batch_per_gpu: Width
    """Samples per GPU in an iteration."""
    gpus: Annotated[Count, Field(le=1024)] = 4
    """Number of GPUs of a server."""
    element: ElementSize = ElementSize.parse("4B")
    """Size of a weight, activation, gradient or embedding element."""
    gradient_element: ElementSize | None = None
    """Size of a gradient element in all-reduces, if gradients travel with another precision than
    `element`; null: as `element`. A ring sends 2(k-1)/k times its data. With half of `element`, it
    carries as much as if gradients counted once."""
    bucket: PositiveSize = PositiveSize.parse("1B")
    """Gradient bucket: gradients of the same servers are collected and reduced together as soon as
    they reach this size. 1B: every operator's gradients are reduced on their own."""
    rings: Literal["rounds", "flows"] = "rounds"
    """How gradients are reduced. rounds: by the all-reduce of `collective`; in a ring, a member
    sends a part when it has received the one before. flows: in its place, by one message from each
    member to the next in the order of their numbers, with all that a ring sends there, 2(k-1)/k of
    the gradients. No member then waits for another, and circuits that follow the demand see each
    hop's until its last byte."""
    strategy: StrategyChoice = "hybrid"
    """`data_parallel`; `hybrid`: data parallel, but each embedding table is on one server, in turn;
    a mapping with the operators' placements, as `cosim search` writes it; or `{file: …}` with such
    a mapping."""
    compute: ServerCompute = ServerCompute()
    """Compute times."""


class TrainingWorkload(Training):
    """Training iterations of a model. A rank is a server; its GPUs act as one."""

    kind: Literal["training"]
    """The operators of a model, each divided among servers by samples, columns and rows."""

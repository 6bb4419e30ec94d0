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
    """The roofline of a GPU, and what joins the GPUs of a server; by default NVIDIA's A100."""

    peak_flops: ComputeRate = ComputeRate.parse("156TFLOPS")
    """Peak of one GPU; by default in TF32, on its tensor cores."""
    memory_bandwidth: ByteRate = ByteRate.parse("1555GB/s")
    """Memory bandwidth of one GPU."""
    memory: PositiveSize = PositiveSize.parse("40GB")
    """Memory of one GPU: strategies that need more are not searched for."""
    nvlink: ByteRate = ByteRate.parse("300GB/s")
    """Rate of a GPU to the others of its server, each way: gradients are summed there first."""


class Training(Model):
    """A model, and how it is trained."""

    iterations: Iterations = 1
    """Training iterations."""
    model: ModelChoice
    """What is trained."""
    batch_per_gpu: Width
    """Samples of a GPU in an iteration."""
    gpus: Annotated[Count, Field(le=1024)] = 4
    """GPUs of a server."""
    element: ElementSize = ElementSize.parse("4B")
    """Size of a weight, activation, gradient or embedding element."""
    bucket: PositiveSize = PositiveSize.parse("1B")
    """Gradients that the same servers reduce are reduced together as soon as they are so many
    bytes; 1B: those of every operator on their own."""
    strategy: StrategyChoice = "hybrid"
    """`data_parallel`; `hybrid`, which is that but for embedding tables, each on one server in
    turn; the operators' placements as `cosim search` writes them; or `{file: …}` with these."""
    compute: ServerCompute = ServerCompute()
    """Compute times."""


class TrainingWorkload(Training):
    """Training iterations of a model. A rank is a server with some GPUs, which act as one."""

    kind: Literal["training"]
    """A model's operators, each placed on servers: data, model and attribute parallel."""

"""`workload.compute`: how fast a rank computes."""

from typing import Annotated

from pydantic import Field

from frontend.schema.base import Accesses, Model
from frontend.schema.quantities import ByteRate, ComputeRate


class Compute(Model):
    """The roofline model: an operator takes max(FLOP / peak, bytes / memory bandwidth)."""

    peak_flops: ComputeRate = ComputeRate.parse("60TFLOPS")
    """Peak compute rate of one rank."""
    memory_bandwidth: ByteRate = ByteRate.parse("900GB/s")
    """Memory bandwidth of one rank."""
    efficiency: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Fraction of the peak compute rate and memory bandwidth that operators reach."""
    weight_update_accesses: Accesses = 0
    """Memory accesses per weight in the update of an MLP (SGD: 3); 0: updates take no time."""

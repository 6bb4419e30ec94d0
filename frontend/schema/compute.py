"""How fast a rank computes: `workload.compute`, and the accelerators that docs/llm.md lists."""

from typing import Annotated, Literal, NamedTuple

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


Precision = Literal["bf16", "fp8", "fp4"]
"""Operands of matrix products. fp4 is NVFP4: 4 bits, and 8 bits more for each 16 elements."""


class Accelerator(NamedTuple):
    """One accelerator; rates are dense (without sparsity), as its manufacturer states them."""

    bf16_tflops: float
    """Peak of matrix products in bfloat16, 10^12 FLOP/s."""
    fp8_tflops: float | None
    """Peak in 8 bits, 10^12 FLOP/s; None if it has none."""
    memory_gb_s: int
    """Memory bandwidth, 10^9 bytes/s."""
    memory_gb: int
    """Memory, 10^9 bytes."""
    fp4_tflops: float | None = None
    """Peak in 4 bits (NVFP4), 10^12 FLOP/s; None if it has none."""

    def peak_tflops(self, precision: Precision) -> float | None:
        """Return the peak of matrix products at a precision, 10^12 FLOP/s; None if it has none."""
        rates = {"bf16": self.bf16_tflops, "fp8": self.fp8_tflops, "fp4": self.fp4_tflops}
        return rates[precision]


ACCELERATORS = {
    "a100": Accelerator(312, None, 2039, 80),
    "h100": Accelerator(989.4, 1978.9, 3350, 80),
    "h800": Accelerator(989.4, 1978.9, 3350, 80),
    "h200": Accelerator(989.4, 1978.9, 4800, 141),
    "b200": Accelerator(2250, 4500, 8000, 180, 9000),
    "b300": Accelerator(2250, 4500, 8000, 270, 13500),
    "gb200": Accelerator(2500, 5000, 8000, 186, 10000),
    "gb300": Accelerator(2500, 5000, 8000, 288, 15000),
    "mi300x": Accelerator(1307.4, 2614.9, 5300, 192),
    "mi325x": Accelerator(1307.4, 2614.9, 6000, 256),
    "tpu_v5p": Accelerator(459, None, 2765, 95),
    "tpu_v6e": Accelerator(918, None, 1638, 32),
}
"""The known accelerators by name, one chip each."""

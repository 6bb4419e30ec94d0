"""How long a kernel of an accelerator takes, from its shape and from published measurements.

A matrix product is cut into tiles, one on each multiprocessor (SM) at a time. Its SMs compute in
waves of tiles, so the last wave may be partly empty. A tile begins when its first operands have
come from the memory, and ends with the write of its result. Up to Hopper, the write delays the next
tile; Blackwell's tensor memory holds two results, so the write overlaps the next tile.

The rates are not peaks: they are what a measured product reaches, with the losses of this model
taken out again. It is a large product of random numbers after others, so the accelerator has a
clock that it keeps under load.

Kernels that only move bytes have the bandwidth of a copy, but for two that were measured on their
own: normalisations, and the search for the largest element of a tensor.

Sources: NVIDIA, "Matrix multiplication background user's guide" (tiles and waves); docs/llm.md
lists where the measurements are from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from frontend.errors import ScenarioError
from frontend.roofline import LONGEST_PS
from frontend.schema.compute import Precision

LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
"""Tokens of the sequences with which attention was measured."""
BESIDE_NCCL = 1.73
"""How many times as long a kernel takes while a collective of NCCL runs: the median of what was
measured for matrix products on an A100 (1.76) and on H100 (1.35, 1.70 and 2)."""


class Measured(NamedTuple):
    """A measured matrix product: (rows × inner) · (inner × columns)."""

    rows: int
    columns: int
    inner: int
    tflops: float
    """10^12 FLOP/s."""


class Attention(NamedTuple):
    """Measured 10^12 FLOP/s of causal attention by `LENGTHS`; each counts half of the scores."""

    forward: tuple[float, ...]
    backward: tuple[float, ...]


class Chip(NamedTuple):
    """What was measured on an accelerator."""

    sms: int
    """Streaming multiprocessors."""
    bf16: Measured
    fp8: Measured | None
    """None if it has no 8 bits; `fp4` likewise."""
    copy_gb_s: int
    """Measured bandwidth of a copy in the memory, read and written, in 10^9 bytes/s."""
    norm_gb_s: tuple[int, int]
    """Measured bandwidth of a normalisation and of its gradient, in 10^9 bytes/s."""
    largest_gb_s: int
    """Measured bandwidth at which the largest element of a tensor is found."""
    overlaps_writes: bool
    """Whether a tile's result is written while the next one is computed."""
    attention: Mapping[str, Mapping[int, Attention]]
    """By the library, and by the elements of a head. The first one is what programs use unless they
    are told otherwise."""
    fp4: Measured | None = None
    blocks: Measured | None = None
    """A product for the gradient of weights in 8 bits, with a factor for each 128 elements of both
    operands; None: as fast as other products."""
    layouts: int = 2
    """Orders in which a matrix in 8 bits is stored: products of Hopper sum along the last index of
    both operands, so they need its transpose as well (`is_non_tn_fp8_gemm_supported` in
    Transformer Engine)."""


# Backward: measured without a mask (305, 408, 465, 499, 518, 516), times what the mask costs in the
# forward phase (315/497, 410/574, 484/617, 518/609, 529/600, 539/595).
_CUDNN_H100 = Attention((315, 410, 484, 518, 529, 539), (193, 291, 365, 424, 457, 467))
# Forward with 64 elements; backward as much slower than with 128.
_CUDNN_H100_64 = Attention((225, 288, 334, 363, 379, 388), (138, 204, 252, 297, 327, 336))
# Forward and backward were measured together.
_FLASH2_H100 = Attention(*2 * ((163, 221, 265, 294, 308, 328),))
_FLASH2_H100_64 = Attention(*2 * ((141, 192, 232, 257, 273, 284),))
_FLASH2_A100 = Attention(*2 * ((99, 133, 155, 173, 182, 189),))
_FLASH2_A100_64 = Attention(*2 * ((88, 119, 140, 156, 165, 171),))

# cuDNN through its front end, with 128 query heads and 8 heads of keys and values.
_CUDNN_GB200 = Attention((408, 733, 1069, 1386, 1584, 1668), (329, 527, 655, 1054, 1211, 1304))

# The same file, in 8 bits.
_CUDNN_FP8_GB200 = Attention((470, 870, 1324, 1663, 1894, 2033), (301, 547, 671, 1088, 1263, 1373))
# Up to 2048 tokens, the published times of the GB300 are those of launches: the GB200's instead.
_CUDNN_FP8_GB300 = Attention((470, 870, 1324, 1675, 2074, 2267), (301, 547, 671, 1156, 1514, 1746))

# B200, with cuDNN 9.10: from 4096 tokens on. Up to 2048 tokens, the published times are those of
# launches: the GB200's instead, as much slower as with 4096.
_CUDNN_B200 = Attention((293, 527, 768, 996, 1248, 1365), (250, 401, 498, 802, 988, 1137))
_CUDNN_FP8_B200 = Attention((310, 573, 872, 1095, 1370, 1560), (252, 458, 562, 911, 1214, 1435))

_LARGE = 3 * (16384,)
# In 8 bits, the best product of a B200 is slower than that of a GB200.
_B200_TO_GB200 = 3432.5 / 3615.6
# In 16 bits, that of a GB200 and of a B200 relative to that of a B300.
_GB200_TO_B300, _B200_TO_B300 = 1822.0 / 1769.0, 1745.0 / 1769.0
_BF16_B300 = Measured(15872, 16384, 4096, 1529.3)
_NVFP4_B200 = Measured(*3 * (8192,), 5370.0)
_H100 = Chip(
    132,
    Measured(8192, 8192, 8192, 720.0),
    Measured(*_LARGE, 1377.3),
    2900,
    (2804, 2636),
    2900,
    False,
    {
        "cudnn": {64: _CUDNN_H100_64, 128: _CUDNN_H100},
        "flash2": {64: _FLASH2_H100_64, 128: _FLASH2_H100},
    },
    blocks=Measured(7168, 16384, 4096, 642 * 132 / 112),  # on 112 of 132 SMs: 1.499 ms
)
_GB200 = Chip(
    148,
    _BF16_B300._replace(tflops=_BF16_B300.tflops * _GB200_TO_B300),
    Measured(*_LARGE, 2906.9),
    7350,
    (6460, 5534),
    4100,
    True,
    {"cudnn": {128: _CUDNN_GB200}, "cudnn_fp8": {128: _CUDNN_FP8_GB200}},
    fp4=_NVFP4_B200._replace(tflops=_NVFP4_B200.tflops / _B200_TO_GB200),
    layouts=1,
)
_B200 = _GB200._replace(
    bf16=_BF16_B300._replace(tflops=_BF16_B300.tflops * _B200_TO_B300),
    fp8=Measured(*_LARGE, 2906.9 * _B200_TO_GB200),
    fp4=_NVFP4_B200,
    attention={"cudnn": {128: _CUDNN_B200}, "cudnn_fp8": {128: _CUDNN_FP8_B200}},
)
_ATTENTION_GB300 = {"cudnn": {128: _CUDNN_GB200}, "cudnn_fp8": {128: _CUDNN_FP8_GB300}}
CHIPS = {
    "a100": Chip(
        108,
        Measured(*_LARGE, 256.5),
        None,
        1610,
        (1557, 1463),
        1610,
        False,
        {"flash2": {64: _FLASH2_A100_64, 128: _FLASH2_A100}},
    ),
    "h100": _H100,
    "h800": _H100,
    "h200": _H100._replace(
        fp8=Measured(*_LARGE, 1366.3), copy_gb_s=4010, norm_gb_s=(3878, 3645), largest_gb_s=4010
    ),
    "b200": _B200,
    "b300": _B200._replace(bf16=_BF16_B300, attention=_ATTENTION_GB300),
    "gb200": _GB200,
    "gb300": _GB200._replace(attention=_ATTENTION_GB300),
}
"""The accelerators with published measurements, by name."""

_TILES = ((128, 256), (256, 128), (128, 192), (192, 128), (128, 128), (64, 256), (256, 64))
"""Rows and columns of the tiles that a library chooses from."""

_CUTS = (1, 2, 4, 8, 16, 32)
"""Parts of the sums of a product that a library computes on SMs of their own (split-k)."""

_SHORTEST_CUT = 256
"""Elements of a sum below which a library does not cut: a few steps of the loop."""

_FIRST_OPERANDS_PS = 600_000
"""Time until a tile's first operands are there: an estimate of the latency of a load from the
memory with its instructions."""

_GAP_PS = 900_000
"""Time between two kernels of a stream: A. Gray, "Getting started with CUDA graphs", NVIDIA (2019):
3.8 µs for a kernel of 2.9 µs."""


_SHORTEST_PS = 1_900_000
"""Time that a kernel which only moves bytes takes besides, to start and to end: cuDNN's RMSNorm of
4 MB on an H200 takes 2.9 µs (NVIDIA/cudnn-frontend, `benchmark/norms/results`, df73764)."""

ELEMENT_BYTES: Mapping[Precision, float] = {"bf16": 2, "fp8": 1, "fp4": 9 / 16}
"""Bytes of an operand's element; in 4 bits with its part of the factor of 16 elements."""

_NVFP4_GB_S = {(1, False): 7200, (1, True): 7000, (2, False): 6400, (2, True): 4500}
"""Measured bandwidth of a cast to 4 bits, in 10^9 bytes/s, by the layouts that it writes and
whether it rounds at random."""


class _Way(NamedTuple):
    """A way to compute a product."""

    tile: tuple[int, int]
    inner: int
    """Elements of a sum that a tile adds up."""
    waves: int
    cuts: int
    """Sums of each result; 1 if the sums are not cut."""


class Kernels:
    """The kernels of an accelerator.

    Parameters
    ----------
    accelerator : str
        A name in `CHIPS`.
    precision : {"bf16", "fp8", "fp4"}
        Operands of matrix products. They have 16 bits if the accelerator lacks fewer.
    efficiency : float
        Fraction of this speed that kernels reach, for measured machines that are slower.
    attention : str, optional
        Library of the attention, of those of the chip; by default its first one.
    blocks : bool
        Whether products are those for the gradient of weights with factors of blocks.
    """

    def __init__(
        self,
        accelerator: str,
        precision: Precision,
        efficiency: float = 1.0,
        attention: str | None = None,
        blocks: bool = False,
    ) -> None:
        self.efficiency = efficiency
        self.chip = CHIPS[accelerator]
        self._attention = self.chip.attention[attention or next(iter(self.chip.attention))]
        self.bytes_s = self.chip.copy_gb_s * 1e9
        eight = self.chip.fp8 and ((blocks and self.chip.blocks) or self.chip.fp8)
        best = {"fp8": eight, "fp4": self.chip.fp4}.get(precision)
        self.precision: Precision = precision if best else "bf16"
        self.flop_s = self._rate(best or self.chip.bf16)

    def product_ps(
        self,
        rows: int,
        inner: int,
        columns: int,
        result_bytes: int = 2,
        number: int = 1,
        *,
        busy_sms: int = 0,
    ) -> int:
        """Return the time of one kernel with (rows × inner) · (inner × columns).

        Parameters
        ----------
        rows, inner, columns : int
            The shape.
        result_bytes : int
            Bytes of each element of the result, to and from the memory (8 if it is added to 4
            bytes that are there).
        number : int
            Equal products of the kernel (experts).
        busy_sms : int
            SMs that a collective uses meanwhile.

        Returns
        -------
        int
            Picoseconds.
        """
        if not rows or not number:
            return 0
        fastest = min(
            way.waves * (_FIRST_OPERANDS_PS + self._tile_ps(way))
            + self._sums_ps(way, number * rows * columns)
            for way in self._ways(rows, inner, columns, number, self.chip.sms - busy_sms)
        )
        written = self._moved_ps(number * rows * columns * result_bytes)
        if self.chip.overlaps_writes:
            written = 0
        operands = number * inner * (rows + columns) * ELEMENT_BYTES[self.precision]
        moved = self._moved_ps(operands + number * rows * columns * result_bytes)
        return self._lasts(_GAP_PS + max(fastest + written, moved))

    def attention_ps(
        self, flop: int, sequence: int, head: int, *, backward: bool = False, busy_sms: int = 0
    ) -> int:
        """Return the time of causal attention that stays on the chip (FlashAttention, cuDNN).

        Parameters
        ----------
        flop : int
            FLOPs, of which the mask leaves half.
        sequence : int
            Tokens of a sequence.
        head : int
            Elements of a head's query.
        backward : bool
            Whether the gradients are computed, with five products instead of two.
        busy_sms : int
            SMs that a collective uses meanwhile.
        """
        nearest = min(self._attention, key=lambda width: abs(width - head))
        rates = self._attention[nearest]
        tflops = rates.backward if backward else rates.forward
        # The time of a FLOP is almost linear in 1 / tokens: the mask cuts blocks at both ends.
        inverse = [1 / tokens for tokens in reversed(LENGTHS)]
        each = [1 / rate for rate in reversed(tflops)]
        fewer = self.chip.sms / (self.chip.sms - busy_sms)
        ps = float(np.interp(1 / sequence, inverse, each)) * flop * fewer
        return self._lasts(_GAP_PS + ps)

    def pass_ps(self, moved_bytes: int) -> int:
        """Return the time of a kernel that only moves bytes to and from the memory."""
        return self._pass_ps(moved_bytes, self.chip.copy_gb_s) if moved_bytes else 0

    def norm_ps(self, tensor_bytes: int, *, backward: bool = False) -> int:
        """Return the time of a normalisation, or of its gradient.

        A kernel reads and writes the tensor. The gradient reads it with the gradient of the result,
        and writes one.
        """
        accesses = 3 if backward else 2
        return self._pass_ps(accesses * tensor_bytes, self.chip.norm_gb_s[backward])

    def largest_ps(self, moved_bytes: int) -> int:
        """Return the time to find the largest element, with a kernel that sets it to zero first."""
        return self.pass_ps(4) + self._pass_ps(moved_bytes, self.chip.largest_gb_s)

    def cast_ps(
        self,
        elements: int,
        scaling: Literal["delayed", "current", "blocks", "mx"],
        *,
        for_gradient: bool = True,
    ) -> int:
        """Return the time to write 2-byte elements in 8 bits, in all layouts that products need.

        With current scaling, other kernels find their largest element first, and what to multiply
        with. Only products for the gradient of weights (`for_gradient`) need the second layout.
        With blocks, it has other factors, so another kernel writes it; with mx, the same kernel
        writes both.
        """
        if scaling == "blocks":
            return (2 if for_gradient else 1) * self.pass_ps(3 * elements)
        if scaling == "mx":
            return self.pass_ps((4 if for_gradient else 3) * elements)
        cast = self.pass_ps((2 + (self.chip.layouts if for_gradient else 1)) * elements)
        if scaling == "current":
            cast += self.largest_ps(2 * elements) + self.pass_ps(4)
        return cast

    def nvfp4_cast_ps(
        self,
        elements: int,
        *,
        hadamard: bool = False,
        stochastic: bool = False,
        for_gradient: bool = True,
    ) -> int:
        """Return the time to write 2-byte elements in 4 bits, as Transformer Engine does.

        A kernel reads them for their largest element. Another one writes them for both products
        that need them, along different sums; with `hadamard`, each product has its own kernel, and
        the first one transforms them as well.

        Parameters
        ----------
        elements : int
            Number of elements.
        hadamard : bool
            Whether those for the gradient of weights pass through a Hadamard transform.
        stochastic : bool
            Whether they are rounded at random.
        for_gradient : bool
            Whether a product for the gradient of weights needs them.
        """
        layouts = 2 if for_gradient else 1
        passes = layouts if hadamard else 1
        written = layouts // passes
        moved = elements * (2 + written * ELEMENT_BYTES["fp4"])
        each = self._pass_ps(moved, _NVFP4_GB_S[written, stochastic])
        largest = self.pass_ps if hadamard and for_gradient else self.largest_ps
        return largest(2 * elements) + passes * each

    def scores_ps(self, flop: int, moved_bytes: int) -> int:
        """Return the time of attention whose scores pass through the memory."""
        return self._lasts(_GAP_PS + flop / self.flop_s * 1e12 + self._moved_ps(moved_bytes))

    def _pass_ps(self, moved_bytes: float, gb_s: int) -> int:
        return self._lasts(_GAP_PS + _SHORTEST_PS + moved_bytes / gb_s * 1000)

    def _lasts(self, ps: float) -> int:
        lasts = ps / self.efficiency
        if lasts > LONGEST_PS:
            raise ScenarioError(
                f"workload.compute: a kernel would last {lasts / 1e12:.3g} s: expected a model and "
                f"batch that keep it below {LONGEST_PS // 10**12} s"
            )
        return round(lasts)

    def _moved_ps(self, moved_bytes: float) -> float:
        return moved_bytes / self.bytes_s * 1e12

    def _ways(self, rows: int, inner: int, columns: int, number: int, sms: int) -> Iterator[_Way]:
        """Yield the ways to cut products; if one has few tiles with long sums, also along these."""
        for tile in _TILES:
            tiles = -(-rows // tile[0]) * -(-columns // tile[1])
            for cuts in _CUTS:
                if cuts > 1 and (tiles * cuts > sms or inner < cuts * _SHORTEST_CUT):
                    break
                yield _Way(tile, -(-inner // cuts), -(-number * tiles * cuts // sms), cuts)

    def _tile_ps(self, way: _Way) -> float:
        flop = 2 * way.tile[0] * way.tile[1] * way.inner
        return flop * self.chip.sms / self.flop_s * 1e12

    def _sums_ps(self, way: _Way, results: int) -> float:
        """Return the time of a second kernel that adds the sums of the cuts, in 4 bytes."""
        if way.cuts == 1:
            return 0
        return _GAP_PS + self._moved_ps(2 * 4 * way.cuts * results)

    def _rate(self, best: Measured) -> float:
        """Return the FLOP/s at which `product_ps` is as fast as the measured product."""
        rows, columns, inner, tflops = best
        lasts = 2 * rows * columns * inner / tflops  # ps
        if not self.chip.overlaps_writes:
            lasts -= self._moved_ps(2 * rows * columns)
        rates = []
        for way in self._ways(rows, inner, columns, 1, self.chip.sms):
            flop = 2 * way.tile[0] * way.tile[1] * way.inner * self.chip.sms * way.waves
            computes = lasts - _GAP_PS - way.waves * _FIRST_OPERANDS_PS
            computes -= self._sums_ps(way, rows * columns)
            rates.append(flop / computes * 1e12)
        return min(rate for rate in rates if rate > 0)


@lru_cache(maxsize=16)
def kernels(
    accelerator: str,
    precision: Precision,
    efficiency: float = 1.0,
    attention: str | None = None,
    blocks: bool = False,
) -> Kernels:
    """Return the kernels of an accelerator."""
    return Kernels(accelerator, precision, efficiency, attention, blocks)

"""Compute times by the roofline model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.roofline import Cost, duration_ps, matrix_product
from frontend.schema.compute import Compute
from frontend.schema.quantities import ByteRate, ComputeRate

V100 = Compute()  # 60 TFLOPS, 900 GB/s


@pytest.mark.parametrize(
    ("cost", "picoseconds"),
    [
        (Cost(60 * 10**12, 0), 10**12),
        (Cost(0, 900 * 10**9), 10**12),
        (Cost(60 * 10**12, 10**9), 10**12),  # bound by arithmetic
        (Cost(1, 9000), 10_000),  # bound by memory
        (Cost(0, 0), 0),
    ],
)
def test_the_slower_side_counts(cost, picoseconds):
    assert duration_ps(cost, V100) == picoseconds


def test_efficiency_is_the_decimal_that_was_written():
    assert duration_ps(Cost(60 * 10**12, 0), Compute(efficiency=0.1)) == 10 * 10**12


def test_a_matrix_product_moves_each_matrix_once():
    # The forward phase of a top layer: 512 samples, 2048 × 2048 weights of 2 bytes.
    cost = matrix_product(512, 2048, 2048, 2)
    assert cost == Cost(2 * 512 * 2048 * 2048, 2 * (2 * 512 * 2048 + 2048 * 2048))
    # 4.29 GFLOP at 60 TFLOPS; its 12.6 MB would take 14 µs.
    assert duration_ps(cost, V100) == round(4_294_967_296 / 60)


@given(st.integers(0, 2**50), st.integers(0, 2**50), st.integers(1, 10**15), st.integers(1, 10**12))
def test_twice_the_rates_take_half_the_time(flop, memory_bytes, peak, bandwidth):
    def duration(factor):
        compute = Compute(
            peak_flops=ComputeRate.parse(f"{factor * peak}FLOPS"),
            memory_bandwidth=ByteRate.parse(f"{factor * bandwidth}B/s"),
        )
        return duration_ps(Cost(flop, memory_bytes), compute)

    assert abs(duration(1) - 2 * duration(2)) <= 2

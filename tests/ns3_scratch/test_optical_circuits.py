"""The simulator chooses the same circuits as topology_gen, in the same order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge import _core
from frontend.network_api_pb2 import Reconfiguration
from topology_gen.topoopt import GAINS, ocs_reconfig


def random_demand(seed: int, ranks: int, density: float, greatest: int) -> np.ndarray:
    """Draw a demand matrix; a small `greatest` makes many demands equal."""
    generator = np.random.default_rng(seed)
    demand = generator.integers(1, greatest, (ranks, ranks), endpoint=True).astype(float)
    demand[generator.random((ranks, ranks)) >= density] = 0
    np.fill_diagonal(demand, 0)
    return demand


demands = st.builds(
    random_demand,
    st.integers(0, 10**6),
    st.integers(2, 16),
    st.sampled_from([0, 0.05, 0.3, 1]),
    st.sampled_from([1, 10, 10**9]),
)


@settings(max_examples=300, deadline=None)
@given(demands, st.integers(1, 5), st.sampled_from(sorted(GAINS)), st.booleans())
def test_equal(demand: np.ndarray, degree: int, discount: str, forwarding: bool) -> None:
    number = Reconfiguration.Discount.Value(discount.upper())
    pairs = {(int(i), int(j)): float(demand[i, j]) for i, j in np.argwhere(demand > 0)}
    chosen = _core.optical_circuits(len(demand), degree, number, forwarding, pairs)
    expected = ocs_reconfig(demand, degree, discount=discount, forwarding=forwarding)
    assert chosen == expected.edges()


@pytest.mark.parametrize("forwarding", [True, False])
def test_a_rank_that_the_greedy_choice_leaves_out(forwarding: bool) -> None:
    demand = {(0, 1): 9.0, (1, 0): 9.0}
    expected = [(0, 2), (1, 0), (2, 1)] if forwarding else [(0, 1), (1, 0)]
    assert _core.optical_circuits(3, 1, 0, forwarding, demand) == expected

"""Traffic of a job under permutations of its all-reduce (Figs. 1, 8, 9 and 22 to 24)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from bridge.present.quantities import scaled_text
from bridge.studies.framework import Experiment, Finding, Results, Scale, figures
from topology_gen.graphs.totient_perms import ring, totient_perms
from topology_gen.topoopt import all_reduce_matrix, data_parallel, traffic_matrix
from topology_gen.topoopt.trees import permuted_trees

FIG_1, FIG_2, FIG_3, FIG_4, FIG_7, FIG_8, FIG_9, FIG_22, FIG_23, FIG_24, APPENDIX_D = FIGURES = (
    figures("1", "2", "3", "4", "7", "8", "9", "22", "23", "24", "D")
)

SERVERS = 16
#: The DLRM of Section 2.1: all of it, what is not in tables, and the tables' servers.
MODEL_BYTES, DENSE_BYTES, TABLE_SERVERS = 22e9, 2e9, (0, 3, 8, 13)
#: Appendix D: samples of a server, columns of a table, bytes of an element.
_SAMPLES, _COLUMNS, _ELEMENT = 8192, 512, 8
#: The rings of Fig. 7.
STRIDES = (1, 3, 7)

Bytes = NDArray[np.float64]


def _transfers() -> Bytes:
    """Return the model-parallel bytes of the hybrid strategy: activations and their gradients."""
    result = np.zeros((SERVERS, SERVERS))
    size = _SAMPLES * _COLUMNS * _ELEMENT
    for table in TABLE_SERVERS:
        result[table, :] = result[:, table] = size
    np.fill_diagonal(result, 0)
    return result


def _rings(strides: tuple[int, ...]) -> Bytes:
    orders = [ring(range(SERVERS), stride) for stride in strides]
    return all_reduce_matrix(SERVERS, orders, DENSE_BYTES)


def _trees(strides: tuple[int, ...]) -> Bytes:
    """Return the bytes of double binary trees: each edge carries half a vector each way."""
    result = np.zeros((SERVERS, SERVERS))
    for stride in strides:
        for source, target in permuted_trees(range(SERVERS), stride).tolist():
            result[source, target] += DENSE_BYTES / 2 / len(strides)
    return result


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare transfers of strategies and of permutations."""
    moved = _transfers()
    pure = traffic_matrix(data_parallel(SERVERS, MODEL_BYTES))
    single = {stride: _rings((stride,)) + moved for stride in STRIDES}
    hybrid = single[1].max()
    joint = _rings(STRIDES) + moved
    trees = {stride: _trees((stride,)) for stride in STRIDES}
    yield FIG_1.count(
        "DLRM on 16 servers, pure data parallelism: greatest transfer.",
        44e9,
        pure.max(),
        evidence="bytes; 2(n-1)/n times 22 GB, the paper rounds to twice",
    )
    text = "With the tables on four servers: greatest transfer."
    yield FIG_1.count(text, 4e9, hybrid, evidence="bytes")
    text = "Size of a model-parallel transfer."
    yield FIG_1.count(text, 32e6, moved.max(), evidence="bytes", basis="input")
    yield APPENDIX_D.count(
        "Bytes that a server sends to all-reduce 20 GB of tables.",
        37.5e9,
        traffic_matrix(data_parallel(SERVERS, 20e9)).sum(axis=1).max(),
        evidence="bytes; 2(n-1)/n times 20 GB, as above",
        basis="quotient",
    )
    strides = {n: totient_perms(n) for n in (12, SERVERS)}
    yield FIG_7.fact(
        "The rings through 12 servers have the strides 1, 5, 7 and 11; those of the figure, 1, "
        "3 and 7, are among the strides of 16.",
        strides[12] == [1, 5, 7, 11] and set(STRIDES) <= set(strides[SERVERS]),
        evidence="; ".join(f"n = {n}: {', '.join(map(str, one))}" for n, one in strides.items()),
    )
    yield FIG_8.same(
        "Rings of other strides have the same greatest transfer.",
        *(one.max() / hybrid for one in single.values()),
    )
    yield FIG_8.fact(
        "Model-parallel transfers stay in their places when the ring is permuted.",
        all(np.array_equal(one - _rings((s,)), moved) for s, one in single.items()),
        evidence=f"{np.count_nonzero(moved)} pairs with each stride",
        why="the strategy places them, and no ring does",
        basis="input",
    )
    yield FIG_9.order(
        "Three rings together balance the traffic: the greatest transfer is smaller.",
        hybrid / joint.max(),
    )
    yield FIG_22.same(
        "Permuted double binary trees move the same bytes, in total and at the busiest server.",
        *(one.sum() / trees[1].sum() for one in trees.values()),
        *(one.sum(axis=1).max() / trees[1].sum(axis=1).max() for one in trees.values()),
    )
    yield FIG_23.fact(
        "Each permutation links other pairs of servers.",
        len({(one > 0).tobytes() for one in trees.values()}) == len(STRIDES),
    )
    yield FIG_24.order(
        "Three pairs of trees together: the greatest transfer is smaller than with one.",
        trees[1].max() / _trees(STRIDES).max(),
    )
    for figure, text in _MEASURED.items():
        yield figure.untested(text, _PRODUCTION)
    yield FIG_8.listing(
        "Transfers of the DLRM of Section 2.1 on 16 servers",
        "strategy and all-reduce",
        {
            "data parallel": pure,
            **{f"hybrid, ring +{stride}": one for stride, one in single.items()},
            "hybrid, three rings": joint,
            **{f"hybrid, trees +{stride}": one + moved for stride, one in trees.items()},
            "hybrid, three pairs of trees": _trees(STRIDES) + moved,
        },
        _SHOWN,
    )


#: What the table shows of the bytes between servers.
_SHOWN: Mapping[str, Callable[[Bytes], object]] = {
    "greatest transfer": lambda matrix: scaled_text(matrix.max(), "B"),
    "busiest server": lambda matrix: scaled_text(matrix.sum(axis=1).max(), "B"),
    "pairs": np.count_nonzero,
}

_PRODUCTION = "measured in a provider's production clusters; there is no model of their jobs"
_MEASURED = {
    FIG_2: "Most jobs have 32 to 700 workers and last over 10 hours.",
    FIG_3: "Communication takes up to 60 % of an iteration.",
    FIG_4: "Traffic is the same in every iteration, and rings show as diagonals.",
}

NOTES = """\
`cosim topo traffic --demand job.json --degree 3 -o traffic.svg` draws such a matrix for any job,
and `docs/topoopt.md` describes the file. The simulation uses these permutations with
`collective.all_reduce: multi_ring`.
"""

EXPERIMENT = Experiment(
    "Mutable all-reduces (Sections 2 and 4.3, Appendices A and D)", FIGURES, evaluate, notes=NOTES
)

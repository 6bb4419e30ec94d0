"""Traces of a transformer as STAGE (astra-sim/symbolic_tensor_graph) writes them.

STAGE's rules: no version and no durations; `num_ops` and `tensor_size` for compute nodes, without
`is_cpu_op`; numbers as int64 and uint64, and `is_cpu_op`, tags and peers of communication as int32;
the groups in a JSON file beside the traces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.frontend.chakra_files import COLL, COMP, RECV, SEND, Rank

ALL_REDUCE = 0


class Layout(NamedTuple):
    """Ranks are numbered by data parallelism, then pipeline stage, then tensor parallelism."""

    tensor: int = 2
    stages: int = 2
    data: int = 2
    layers: int = 2
    """Layers of a stage."""
    microbatches: int = 2
    activation: int = 1 << 16
    weights: int = 1 << 20
    """Bytes of a layer on one rank."""

    @property
    def ranks(self) -> int:
        return self.tensor * self.stages * self.data

    def rank(self, data: int, stage: int, tensor: int) -> int:
        return (data * self.stages + stage) * self.tensor + tensor

    def groups(self) -> dict[str, list[int]]:
        """Return the groups of tensor and data parallelism; their names are numbers from 1."""
        tensor = [
            [self.rank(d, s, t) for t in range(self.tensor)]
            for d in range(self.data)
            for s in range(self.stages)
        ]
        data = [
            [self.rank(d, s, t) for d in range(self.data)]
            for s in range(self.stages)
            for t in range(self.tensor)
        ]
        return {str(number): ranks for number, ranks in enumerate([*tensor, *data], 1)}

    def payload(self) -> int:
        """Return the bytes that all ranks send, with rings for all-reduces."""
        of_tensor = 4 * self.layers * self.microbatches * self.activation
        of_data = self.layers * self.weights
        rings = of_tensor * 2 * (self.tensor - 1) // self.tensor
        rings += of_data * 2 * (self.data - 1) // self.data
        sends = 2 * (self.stages - 1) * self.microbatches * self.activation
        return self.ranks * rings + self.data * self.tensor * sends


def transformer(layout: Layout) -> list[Rank]:
    """Return the trace of each rank."""
    return [_Builder(layout, rank).build() for rank in range(layout.ranks)]


class _Builder:
    def __init__(self, layout: Layout, rank: int) -> None:
        self.layout = layout
        self.own = rank
        self.tensor = rank % layout.tensor
        self.stage = rank // layout.tensor % layout.stages
        self.data = rank // (layout.tensor * layout.stages)
        self.trace = Rank(version="", is_cpu_op=None)
        names = layout.groups().items()
        sizes = {"tensor": layout.data * layout.stages}
        self.tensor_group = next(n for n, r in names if int(n) <= sizes["tensor"] and rank in r)
        self.data_group = next(n for n, r in names if int(n) > sizes["tensor"] and rank in r)

    def build(self) -> Rank:
        layout, last = self.layout, self.layout.stages - 1
        before: list[int] = []
        for batch in range(layout.microbatches):
            if self.stage > 0:
                before = [self.message(RECV, batch, self.stage - 1, before)]
            for layer in range(layout.layers):
                before = self.layer(f"mb{batch}.transformer.{layer}", 1, before)
            if self.stage < last:
                self.message(SEND, batch, self.stage + 1, before)
        for batch in range(layout.microbatches):
            tag = layout.microbatches + batch
            if self.stage < last:
                before = [self.message(RECV, tag, self.stage + 1, before)]
            for layer in reversed(range(layout.layers)):
                before = self.layer(f"mb{batch}.transformer.{layer}.backward", 2, before)
            if self.stage > 0:
                self.message(SEND, tag, self.stage - 1, before)
        for layer in range(layout.layers):
            self.all_reduce(f"dw.{layer}", self.data_group, layout.weights, before)
        return self.trace

    def layer(self, name: str, factor: int, after: list[int]) -> list[int]:
        for part in ("mha", "ffn"):
            computed = self.compute(f"{name}.{part}", factor, after)
            size = self.layout.activation
            after = [self.all_reduce(f"{name}.{part}", self.tensor_group, size, [computed])]
        return after

    def compute(self, name: str, factor: int, after: list[int]) -> int:
        return self.trace.add(
            COMP,
            after,
            name=f"{name}_COMP",
            num_ops=("int64_val", factor * 10**9),
            tensor_size=("uint64_val", 10**6),
            op_type="M",
        )

    def all_reduce(self, name: str, group: str, size: int, after: list[int]) -> int:
        values: dict[str, Any] = {"comm_size": ("int64_val", size)}
        values |= {"comm_type": ("int64_val", ALL_REDUCE), "pg_name": group}
        return self.trace.add(
            COLL, after, name=f"{name}_X1COMM", **values, is_cpu_op=("int32_val", 0)
        )

    def message(self, kind: int, tag: int, stage: int, after: list[int]) -> int:
        peer = ("int32_val", self.layout.rank(self.data, stage, self.tensor))
        return self.trace.add(
            kind,
            after,
            name=f"mb{tag}.{'send' if kind == SEND else 'recv'}",
            comm_size=("int64_val", self.layout.activation),
            comm_tag=("int32_val", tag),
            is_cpu_op=("int32_val", 0),
            **{"comm_dst" if kind == SEND else "comm_src": peer},
        )

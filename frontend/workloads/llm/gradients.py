"""What ranks of dp exchange: gradients in buckets, and weights that they share.

Sources: S. Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
models", SC 2020; Y. Zhao et al., "PyTorch FSDP", VLDB 2023.
"""

from __future__ import annotations

from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.operators import ELEMENT, Operators
from frontend.workloads.llm.partition import Unit, Weights
from frontend.workloads.llm.stream import Stream, Transfer


class DataParallel:
    """Reduces the gradients of a stage, and gathers its weights.

    All reductions of a rank are one after the other, as in one communication stream.
    """

    def __init__(self, operators: Operators, grid: Grid, stage: int, stream: Stream) -> None:
        self.workload = operators.workload
        self.operators = operators
        self.stream = stream
        self.zero = self.workload.layout.zero
        # Dense weights are on all ranks of dp and cp; those of experts on the ranks with the same.
        self.groups = (grid.groups(stage, "cp", "ep", "dp"), grid.groups(stage, "cp", "dp"))
        self._collected = [0, 0]
        self._held: list[tuple[int, int]] = []  # buckets that wait for the end of backward
        self._last: list[int] = []  # latest reduction
        self._gathered: list[int] = []  # latest gathering of weights

    def collect(self, weights: Weights, after: tuple[int, ...]) -> None:
        """Add gradients to the buckets, and reduce each bucket that is full."""
        for kind, count in enumerate(weights):
            self._collected[kind] += count * self.workload.gradient_element
            if self._collected[kind] >= self.workload.bucket:
                self._reduce(kind, after)

    def flush(self, after: tuple[int, ...]) -> None:
        """Reduce what is left in the buckets."""
        for kind in range(2):
            self._reduce(kind, after)

    def finish(self, after: tuple[int, ...]) -> list[int]:
        """Reduce the buckets that were held back; return the latest reduction."""
        for kind, size in self._held:
            self._issue(kind, size, after)
        self._held = []
        last, self._last = self._last, []
        return last

    def update(self, weights: Weights) -> None:
        """Update the weights of a rank, and gather those of the others."""
        shared = [
            -(-count // groups.size) if self.zero else count
            for count, groups in zip(weights, self.groups, strict=True)
        ]
        self.stream.compute("optimizer", "update", self.operators.update(sum(shared)))
        if self.zero in (1, 2):
            for kind, count in enumerate(weights):
                transfer = Transfer("dp", "all_gather", self.groups[kind], count * ELEMENT)
                self.stream.wait(transfer, "weights.all_gather")

    def gather(self, unit: Unit, after: tuple[int, ...]) -> list[int]:
        """Gather a unit of weights (zero 3) after some nodes; return what to wait for."""
        for kind, count in enumerate(unit.weights):
            transfer = Transfer("dp", "all_gather", self.groups[kind], count * ELEMENT)
            waits = (*after, *self._gathered)
            node = self.stream.issue(transfer, f"{unit.name}.all_gather", waits)
            if node is not None:
                self._gathered = [node]
        return self._gathered

    def _reduce(self, kind: int, after: tuple[int, ...]) -> None:
        size, self._collected[kind] = self._collected[kind], 0
        if not self.workload.overlap.dp:
            self._held.append((kind, size))
        else:
            self._issue(kind, size, after)

    def _issue(self, kind: int, size: int, after: tuple[int, ...]) -> None:
        operation = "reduce_scatter" if self.zero else "all_reduce"
        transfer = Transfer("dp", operation, self.groups[kind], size)
        node = self.stream.issue(transfer, f"gradients.{operation}", (*after, *self._last))
        if node is not None:
            self._last = [node]

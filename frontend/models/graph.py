"""Builds operator graphs layer by layer: what a layer computes, reads, writes and stores.

Costs are of one sample. A layer reads its inputs and writes its outputs once; activation functions
are part of the layer before them. Backward, a layer with weights is computed twice, for the
gradients of its inputs and of its weights; without inputs from other layers once, for the weights.
"""

from collections.abc import Sequence

from frontend.parallelization import Operator
from frontend.roofline import Cost

_NORM_FORWARD = 3  # a batch's values are read for the mean and deviation, read again, and written
_NORM_BACKWARD = 5  # values and gradients are read for two sums, read again; one gradient written


class GraphBuilder:
    """Collects a model's operators; every method returns the index of the one that it adds.

    Parameters
    ----------
    element_bytes : int
        Of a weight, activation or gradient.
    """

    def __init__(self, element_bytes: int) -> None:
        self.element_bytes = element_bytes
        self.operators: list[Operator] = []

    def elements(self, index: int) -> int:
        """Return the elements of one sample's output of an operator."""
        return self.operators[index].output_bytes // self.element_bytes

    def dense(
        self,
        name: str,
        inputs: Sequence[int],
        width: int,
        *,
        columns: int | None = None,
        rows: int = 1,
        norm: bool = False,
        parts: int | None = None,
    ) -> int:
        """Add a fully connected layer with a bias: `rows` vectors of a sample.

        Parameters
        ----------
        name : str
        inputs : sequence of int
            The first is multiplied by the weights; others are added to the product.
        width : int
            Outputs of each vector.
        columns : int, optional
            Inputs of each vector, for a layer that reads the training data.
        rows : int
            Vectors of a sample.
        norm : bool
            A layer normalisation follows, with two parameters an output.
        parts : int, optional
            Into how many the outputs can be split; all of them by default.
        """
        if inputs:
            columns = self.elements(inputs[0]) // rows
        assert columns is not None
        read, written = rows * columns, rows * width
        flop = 2 * read * width
        added = (len(inputs) - 1) * written if inputs else 0
        passes = 2 if inputs else 1
        return self._add(
            name,
            inputs,
            Cost(flop, read + written + added + norm * _NORM_FORWARD * written),
            Cost(
                passes * flop,
                passes * (read + written) + added + norm * _NORM_BACKWARD * written,
            ),
            weights=width * (columns + 1 + 2 * norm),
            output=written,
            parts=width if parts is None else parts,
        )

    def convolution(
        self,
        name: str,
        inputs: Sequence[int],
        channels: tuple[int, int],
        side: int,
        kernel: int,
        *,
        stride: int = 1,
        norm: bool = False,
    ) -> int:
        """Add a convolution that keeps the side, or divides it by the stride.

        Parameters
        ----------
        name : str
        inputs : sequence of int
            The first is convolved; others are added to the output.
        channels : (int, int)
            Of the input and of the output.
        side, kernel, stride : int
            Pixels of the input, of the kernel, and between outputs.
        norm : bool
            Batch normalisation with two parameters a channel, in place of a bias.
        """
        before, after = channels
        out = -(-side // stride)
        read, written = before * side**2, after * out**2
        flop = 2 * before * kernel**2 * written
        added = (len(inputs) - 1) * written if inputs else 0
        passes = 2 if inputs else 1
        return self._add(
            name,
            inputs,
            Cost(flop, read + written + added + norm * _NORM_FORWARD * written),
            Cost(
                passes * flop,
                passes * (read + written) + added + norm * _NORM_BACKWARD * written,
            ),
            weights=after * (before * kernel**2 + (2 if norm else 1)),
            output=written,
            parts=after,
        )

    def pool(self, name: str, source: int, channels: int, out: int, kernel: int) -> int:
        """Add a pooling to `out` × `out` pixels, each of kernel × kernel."""
        read, written = self.elements(source), channels * out**2
        cost = Cost(written * kernel**2, read + written)
        return self._add(name, [source], cost, cost, output=written, parts=channels)

    def table(
        self, name: str, rows: int, dimension: int, *, lookups: int, pooled: bool, accesses: int = 2
    ) -> int:
        """Add an embedding table whose rows are looked up, and summed if they are pooled.

        Backward the looked-up rows are updated, which takes `accesses` an element.
        """
        looked, written = lookups * dimension, dimension * (1 if pooled else lookups)
        return self._add(
            name,
            [],
            Cost(looked if pooled else 0, looked + written),
            Cost(looked, written + accesses * looked),
            weights=rows * dimension,
            output=written,
            parts=dimension,
            table=True,
        )

    def concatenation(self, name: str, inputs: Sequence[int]) -> int:
        """Add the concatenation of some outputs, which are copied; backward, their gradients."""
        written = sum(map(self.elements, inputs))
        cost = Cost(0, 2 * written)
        return self._add(name, inputs, cost, cost, output=written)

    def product(self, name: str, inputs: tuple[int, int]) -> int:
        """Add the product of two outputs, element by element."""
        written = self.elements(inputs[0])
        return self._add(
            name, inputs, Cost(written, 3 * written), Cost(2 * written, 5 * written), output=written
        )

    def sum(self, name: str, inputs: Sequence[int], rows: int) -> int:
        """Add the sum of some outputs and its layer normalisation: `rows` vectors of a sample."""
        written = self.elements(inputs[0])
        count = len(inputs)
        return self._add(
            name,
            inputs,
            Cost(count * written, (count + 1 + _NORM_FORWARD) * written),
            Cost(written, (count + 1 + _NORM_BACKWARD) * written),
            weights=2 * written // rows,
            output=written,
        )

    def first(self, name: str, source: int, count: int) -> int:
        """Add what keeps the first elements of an output."""
        cost = Cost(0, 2 * count)
        return self._add(name, [source], cost, cost, output=count)

    def attention(self, name: str, source: int, tokens: int, heads: int, head_width: int) -> int:
        """Add attention of a sample's tokens to one another, from queries, keys and values."""
        scores, width = heads * tokens**2, heads * head_width
        flop = 2 * 2 * scores * head_width  # the scores, and the weighted sums of values
        # Scores are written, read and written by the softmax, and read.
        moved = 4 * tokens * width + 4 * scores
        return self._add(
            name,
            [source],
            Cost(flop, moved),
            Cost(2 * flop, 2 * moved),
            output=tokens * width,
            parts=heads,
        )

    def _add(
        self,
        name: str,
        inputs: Sequence[int],
        forward: Cost,
        backward: Cost,
        *,
        output: int,
        weights: int = 0,
        parts: int = 1,
        table: bool = False,
    ) -> int:
        """Append an operator whose memory accesses, weights and output are in elements."""
        size = self.element_bytes
        self.operators.append(
            Operator(
                name,
                tuple(inputs),
                Cost(forward.flop, forward.memory_bytes * size),
                Cost(backward.flop, backward.memory_bytes * size),
                weight_bytes=weights * size,
                weight_traffic=0 if table else weights * size,
                output_bytes=output * size,
                parts=parts,
                table=table,
            )
        )
        return len(self.operators) - 1
